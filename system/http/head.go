package http

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"regexp"
)

// headConn records the head of the answer as received: net/http rewrites header names, Etag for
// ETag, and a document quotes the server's spelling.
type headConn struct {
	net.Conn
	head  []byte
	whole bool
}

// dial connects to a server without TLS.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &headConn{Conn: c}, nil
}

// dialTLS connects to a server by TLS. It does not offer HTTP/2, whose header names are all lower
// case; servers write them the way people know them.
func dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&tls.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &headConn{Conn: c}, nil
}

// Read implements io.Reader.
func (c *headConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.whole {
		c.head = append(c.head, p[:n]...)
		c.whole = c.ended() || len(c.head) > maxHeaders
	}
	return n, err
}

var (
	blankLine = regexp.MustCompile(`\n\r?\n`)
	interim   = regexp.MustCompile(`^HTTP/1\.\d 1\d\d`)
)

// ended reports whether the head is complete, and cuts off what does not belong to it: interim
// answers and the body.
func (c *headConn) ended() bool {
	for {
		end := blankLine.FindIndex(c.head)
		if end == nil {
			return false
		}
		if !interim.Match(c.head) {
			c.head = c.head[:end[0]]
			return true
		}
		c.head = c.head[end[1]:]
	}
}

// names maps net/http's header names to those received.
func (c *headConn) names() map[string]string {
	found := make(map[string]string)
	for line := range bytes.Lines(c.head) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && len(name) > 0 {
			found[http.CanonicalHeaderKey(string(name))] = string(name)
		}
	}
	return found
}
