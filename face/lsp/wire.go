package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"sync"
)

// maxMessage is the largest size of a message, in bytes.
const maxMessage = 64 << 20

// message is a request, a notification or a response of JSON-RPC 2.0.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *failure        `json:"error"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return f.Message }

// Error codes of JSON-RPC and of the protocol.
const (
	parseError     = -32700
	invalidRequest = -32600
	unknownMethod  = -32601
	invalidParams  = -32602
	requestFailed  = -32803
	notInitialized = -32002
)

// wire reads and writes messages with their headers.
type wire struct {
	in  *textproto.Reader
	mu  sync.Mutex
	out io.Writer
	id  int // of the server's last request
}

func newWire(in io.Reader, out io.Writer) *wire {
	return &wire{in: textproto.NewReader(bufio.NewReaderSize(in, 64<<10)), out: out}
}

// read returns the next message. The error is [io.EOF] at the end of the input, or a *failure for
// an invalid message.
func (w *wire) read() (*message, error) {
	head, err := w.in.ReadMIMEHeader()
	if err != nil {
		if errors.Is(err, io.EOF) && len(head) == 0 {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("reading the header of a message: %w", err)
	}
	n, err := strconv.Atoi(head.Get("Content-Length"))
	if err != nil || n < 0 || n > maxMessage {
		return nil, fmt.Errorf("Content-Length must be from 0 to %d, got %q", maxMessage, head.Get("Content-Length"))
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(w.in.R, body); err != nil {
		return nil, fmt.Errorf("reading a message of %d bytes: %w", n, err)
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, &failure{parseError, err.Error()}
	}
	return &m, nil
}

func (w *wire) write(m message) {
	body := []byte(`{"jsonrpc":"2.0"`)
	add := func(key string, v []byte) { // v is JSON and may be long, so it is not parsed again
		if v != nil {
			body = append(append(body, `,"`+key+`":`...), v...)
		}
	}
	add("id", m.ID)
	if m.Method != "" {
		add("method", encode(m.Method))
	}
	add("params", m.Params)
	add("result", m.Result)
	if m.Error != nil {
		add("error", encode(m.Error))
	}
	body = append(body, '}')
	w.mu.Lock()
	defer w.mu.Unlock()
	// The reading side notices when the client is gone.
	_, _ = fmt.Fprintf(w.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}

func (w *wire) notify(method string, params any) {
	w.write(message{Method: method, Params: encode(params)})
}

// request sends the client a request and ignores its answer.
func (w *wire) request(method string, params any) {
	w.mu.Lock()
	w.id++
	id := encode(fmt.Sprintf("thresh-%d", w.id))
	w.mu.Unlock()
	w.write(message{ID: id, Method: method, Params: encode(params)})
}
