package agent

import (
	"bufio"
	"encoding/pem"
	"io"
	"net/http/httptest"
)

func newBuffered(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

func pemOf(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}
