package fault

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/engine/agentcall"
)

// pass forwards a tunnel whose protocol this proxy does not speak, such as gRPC, which needs
// HTTP/2. It connects to the real server and injects no faults.
func (d *agentPort) pass(r *http.Request, agent *peekedConn, raw net.Conn, token, what string) {
	note := fmt.Sprintf("faults do not reach into the connection to %s, which is %s", r.Host, what)
	if c := d.attribute(token, r.Header, r.Host); c != nil {
		c.ledger.Note(note)
	} else {
		d.proxy.note(note)
	}
	raw.SetDeadline(time.Time{})
	defer raw.Close()
	var dialer net.Dialer
	server, err := dialer.DialContext(r.Context(), "tcp", r.Host)
	if err != nil {
		return // the agent sees a connection that ends
	}
	defer server.Close()
	defer context.AfterFunc(r.Context(), func() { raw.Close(); server.Close() })()
	var both sync.WaitGroup
	move := func(to, from net.Conn) {
		both.Go(func() {
			io.Copy(to, from)
			raw.Close()
			server.Close()
		})
	}
	move(server, agent)
	move(raw, server)
	both.Wait()
}

// foreignProtocol returns the protocol of a connection if its first bytes, which remain unread,
// show one other than HTTP/1.1; otherwise "".
func foreignProtocol(first byte, p *peekedConn) string {
	switch first {
	default:
		return ""
	case preface[0]:
		if start, _ := p.reader.Peek(len(preface)); string(start) == preface { // a connection that ends early is not HTTP/2
			return "HTTP/2 alone"
		}
		return ""
	case handshakeRecord:
	}
	head, err := p.reader.Peek(5) // a TLS record's type, version and length
	if err != nil {
		return ""
	}
	record, err := p.reader.Peek(min(5+int(head[3])<<8+int(head[4]), p.reader.Size()))
	if err != nil {
		return ""
	}
	list := protocols(record)
	switch {
	case len(list) == 0 || slices.Contains(list, "http/1.1"):
		return ""
	case slices.Contains(list, "h2"):
		return "HTTP/2 alone"
	}
	return "no HTTP but " + list[0]
}

const (
	handshakeRecord = 0x16
	preface         = "PRI" // starts HTTP/2 without TLS, but no HTTP/1.1 request
)

// protocols returns the protocols that a TLS client hello offers.
func protocols(hello []byte) []string {
	var list []string
	enough := errors.New("the hello is read")
	// The server side of a handshake parses the hello and is then stopped.
	c := tls.Server(&recordedHello{hello: bytes.NewReader(hello)}, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		list = h.SupportedProtos
		return nil, enough
	}})
	_ = c.Handshake() // fails with enough, or because this is no client hello
	return list
}

// recordedHello is a connection that yields a few recorded bytes and discards what is written.
type recordedHello struct {
	net.Conn
	hello *bytes.Reader
}

func (o *recordedHello) Read(b []byte) (int, error)  { return o.hello.Read(b) }
func (o *recordedHello) Write(b []byte) (int, error) { return len(b), nil }
func (o *recordedHello) Close() error                { return nil }

// keyOf returns the header by which a server recognizes a repeated request.
func keyOf(h http.Header) string {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", "X-Request-Id", "Request-Id"} {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// declared returns the content type by which the answer can be read, whatever a fault tells the agent.
func (x *exchange) declared() string { return cmp.Or(x.ownType, x.record.ContentType) }

// learnWanted records the tools that the model asked for, if a fault or a recorded answer may name
// them.
func (x *exchange) learnWanted() {
	if !x.ledger.Plan().NamesTools() {
		return
	}
	var tools []string
	for _, c := range agentcall.AskedFor(x.declared(), x.response.kept) {
		tools = append(tools, c.Tool)
	}
	x.ledger.Wants(tools)
}

// isListening reports whether an MCP client opens its stream for unsolicited server messages. It
// keeps that stream from case to case; a client that loses it may exit.
func isListening(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Mcp-Session-Id") != "" && strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}
