package fault

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// tunnelled is a connection from a CONNECT tunnel: decrypted TLS, or plain.
type tunnelled struct {
	net.Conn
	scheme, host string // the server that the agent believes it talks to
	token        string
	raw          net.Conn
}

// peekedConn is a connection from which some bytes have already been read.
type peekedConn struct {
	net.Conn
	reader *bufio.Reader
}

func (p *peekedConn) Read(b []byte) (int, error) { return p.reader.Read(b) }

// handshakeLimit is how long an agent may take to start talking in a tunnel.
const handshakeLimit = 30 * time.Second

// tunnel answers CONNECT: it decrypts the content and hands it to the server as a separate
// connection.
func (d *agentPort) tunnel(w http.ResponseWriter, r *http.Request, token string) {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		http.Error(w, "CONNECT needs host:port", http.StatusBadRequest)
		return
	}
	raw, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	raw.SetDeadline(time.Now().Add(handshakeLimit))
	stop := context.AfterFunc(r.Context(), func() { raw.Close() })
	if _, err := raw.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		raw.Close()
		return
	}
	p := &peekedConn{raw, buffered.Reader}
	first, err := p.reader.Peek(1)
	if err != nil {
		raw.Close()
		return
	}
	if what := foreignProtocol(first[0], p); what != "" {
		d.pass(r, p, raw, token, what)
		stop()
		return
	}
	t := &tunnelled{Conn: p, scheme: "http", host: r.Host, token: token, raw: raw}
	if port == "80" {
		t.host = host
	}
	if first[0] == handshakeRecord {
		t.scheme = "https"
		if port == "443" {
			t.host = host
		}
		opened := tls.Server(p, &tls.Config{
			NextProtos: []string{"http/1.1"},
			GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
				if hello.ServerName != "" {
					return d.proxy.authority.leaf(hello.ServerName)
				}
				return d.proxy.authority.leaf(host)
			},
		})
		if err := opened.HandshakeContext(r.Context()); err != nil {
			d.refused(r.Context(), token, r.Header, t.host, err)
			raw.Close()
			return
		}
		t.Conn = opened
	}
	if !stop() {
		return
	}
	raw.SetDeadline(time.Time{})
	if !d.inner.give(t) {
		t.Close()
	}
}

// refused reports that an agent did not trust the proxy: its calls then fail for a reason that no
// rule requested.
func (d *agentPort) refused(ctx context.Context, token string, h http.Header, host string, err error) {
	if ctx.Err() != nil {
		return
	}
	text := fmt.Sprintf("the agent did not accept the proxy's certificate for %s (%v): it must trust the file that SSL_CERT_FILE, REQUESTS_CA_BUNDLE or NODE_EXTRA_CA_CERTS name", host, err)
	if c := d.attribute(token, h, host); c != nil {
		c.ledger.Note(text)
		return
	}
	d.proxy.note(text)
}

// handoff is a listener that returns connections accepted elsewhere.
type handoff struct {
	address net.Addr
	queue   chan net.Conn
	done    chan struct{}
	once    sync.Once
}

func newHandoff(a net.Addr) *handoff {
	return &handoff{address: a, queue: make(chan net.Conn), done: make(chan struct{})}
}

func (h *handoff) give(c net.Conn) bool {
	select {
	case h.queue <- c:
		return true
	case <-h.done:
		return false
	}
}

// Accept implements net.Listener.
func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.queue:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (h *handoff) Addr() net.Addr { return h.address }

// Close implements net.Listener.
func (h *handoff) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

// rawOf returns the connection below TLS, because TLS's close message could block on the agent.
func rawOf(c net.Conn) net.Conn {
	switch c := c.(type) {
	case *tunnelled:
		return c.raw
	case *undecided:
		return c.Conn
	}
	return c
}

var errReset = errors.New("connection reset by a fault")

// abort ends the connection of a request. With reset, the agent sees a reset; otherwise, a close.
func abort(w http.ResponseWriter, reset bool) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the server closes the connection without logging
	}
	raw := rawOf(c)
	if tcp, ok := raw.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
	raw.Close()
}
