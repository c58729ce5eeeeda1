package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// errTooLarge ends the reading of a message that is over the limit.
var errTooLarge = errors.New("the message is larger than allowed")

// meter bounds the messages that come from an MCP server.
type meter struct {
	most    int64
	read    atomic.Int64 // bytes since begin
	tooMuch atomic.Bool
	reached atomic.Bool            // an answer to an HTTP request has begun
	broken  atomic.Bool            // and ended before it was whole
	strange atomic.Pointer[string] // how a line begins that is no message
}

// begin starts to count for a call.
func (m *meter) begin() {
	m.read.Store(0)
	for _, flag := range []*atomic.Bool{&m.tooMuch, &m.reached, &m.broken} {
		flag.Store(false)
	}
}

func (m *meter) size() int64 { return m.read.Load() }
func (m *meter) over() bool  { return m.tooMuch.Load() }

// lines bounds the lines of a stream.
func (m *meter) lines(r io.ReadCloser) io.ReadCloser {
	return &gauge{ReadCloser: r, meter: m, lines: true}
}

// gauge is a stream whose messages are bounded: its lines, or all of it.
type gauge struct {
	io.ReadCloser
	meter *meter
	held  int64 // bytes of the message so far
	lines bool
	// The stream is open all the time, and ends when the session does.
	standing bool
}

func (g *gauge) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	if g.lines {
		g.inspectFirstLine(p[:n])
	}
	g.meter.read.Add(int64(n))
	g.held += int64(n)
	if i := bytes.LastIndexByte(p[:n], '\n'); g.lines && i >= 0 {
		g.held = int64(n - i - 1)
	}
	if g.held > g.meter.most {
		g.meter.tooMuch.Store(true)
		return n, errTooLarge
	}
	if err != nil && err != io.EOF && !errors.Is(err, context.Canceled) && !g.standing {
		g.meter.broken.Store(true)
	}
	return n, err
}

// inspectFirstLine notes the first line that is no JSON object.
func (g *gauge) inspectFirstLine(p []byte) {
	for begins := g.held == 0; len(p) > 0; begins = true {
		line, rest, _ := bytes.Cut(p, []byte("\n"))
		if text := bytes.TrimSpace(line); begins && len(text) > 0 && text[0] != '{' && text[0] != '[' {
			start := strings.ToValidUTF8(string(text[:min(len(text), 80)]), "\uFFFD")
			g.meter.strange.CompareAndSwap(nil, &start)
		}
		p = rest
	}
}

// metered bounds the answers to HTTP requests and adds headers to them.
type metered struct {
	base    http.RoundTripper
	meter   *meter
	headers [][2]string
}

// RoundTrip implements http.RoundTripper.
func (m *metered) RoundTrip(q *http.Request) (*http.Response, error) {
	ctx := q.Context()
	if q.Method == http.MethodDelete { // the goodbye of a session; nobody waits for it long
		limited, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		ctx = limited
	}
	q = q.Clone(ctx)
	for _, h := range m.headers {
		q.Header.Set(h[0], h[1])
	}
	answer, err := m.base.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	if q.Method == http.MethodDelete {
		answer.Body.Close()
		answer.Body = http.NoBody
		return answer, nil
	}
	m.meter.reached.Store(true)
	answer.Body = &gauge{ReadCloser: answer.Body, meter: m.meter, standing: q.Method == http.MethodGet}
	return answer, nil
}
