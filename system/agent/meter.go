package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
)

// errTooLarge ends the reading of a message that exceeds the limit.
var errTooLarge = errors.New("the message is larger than allowed")

// meter limits and inspects the messages from an MCP server.
type meter struct {
	most    int64
	read    atomic.Int64 // bytes since begin
	tooMuch atomic.Bool
	sent    atomic.Bool            // a message has been sent over HTTP
	reached atomic.Bool            // an answer to an HTTP request has started
	broken  atomic.Bool            // an answer ended early
	strange atomic.Pointer[string] // excerpt of a line that is not a message
	calling atomic.Bool            // arriving results are those of a tool
	hollow  atomic.Pointer[string] // beginning of a result without a content list
}

// begin resets the meter for a call.
func (m *meter) begin() {
	m.read.Store(0)
	for _, flag := range []*atomic.Bool{&m.tooMuch, &m.sent, &m.reached, &m.broken} {
		flag.Store(false)
	}
	m.hollow.Store(nil)
	m.calling.Store(true)
}

func (m *meter) size() int64 { return m.read.Load() }
func (m *meter) over() bool  { return m.tooMuch.Load() }

// lines limits the lines of a stream.
func (m *meter) lines(r io.ReadCloser) io.ReadCloser {
	return &gauge{ReadCloser: r, meter: m, lines: true}
}

// gauge is a stream whose messages are limited: each line, or the whole stream.
type gauge struct {
	io.ReadCloser
	meter *meter
	held  int64  // bytes of the current message
	line  []byte // beginning of the current line
	lines bool
	// called: the line began during a tool call. A client has its answer before the end of the line
	// has arrived, and may have made the next call by then.
	called bool
	// standing: the stream stays open and ends with the session.
	standing bool
}

func (g *gauge) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	g.inspect(p[:n], err != nil)
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

// inspected is how many bytes of a line are inspected.
const inspected = 1 << 20

// inspect checks the complete lines.
func (g *gauge) inspect(p []byte, ended bool) {
	for {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		if len(g.line) == 0 && len(line) > 0 {
			g.called = g.meter.calling.Load()
		}
		g.line = append(g.line, line[:min(len(line), inspected+1-len(g.line))]...)
		if !whole && !ended {
			if g.called && bytes.HasSuffix(line, []byte("}")) && json.Valid(g.line) {
				g.message(bytes.TrimSpace(g.line))
			}
			if text := bytes.TrimSpace(g.line); g.lines && len(text) > 0 && text[0] != '{' && text[0] != '[' {
				g.message(text) // a client does not wait for the rest
			}
			return
		}
		g.message(bytes.TrimSpace(g.line))
		if g.line, p = g.line[:0], rest; !whole {
			return
		}
	}
}

// message records a line that is not a message, in a stream of lines, and a tool result without
// content, which an MCP client takes for an empty one.
func (g *gauge) message(text []byte) {
	if !g.lines {
		text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("data:")))
	}
	if len(text) == 0 || !g.lines && text[0] != '{' {
		return
	}
	var m struct{ ID, Result json.RawMessage }
	var syntax *json.SyntaxError
	from := 0
	switch err := json.Unmarshal(text, &m); {
	case text[0] != '{' && text[0] != '[':
	case len(text) > inspected:
		return
	case errors.As(err, &syntax):
		from = max(0, int(syntax.Offset)-30)
	default:
		if g.called && m.ID != nil && m.Result != nil && !hasContent(m.Result) {
			g.meter.hollow.CompareAndSwap(nil, glimpse(m.Result, 0))
		}
		return
	}
	if g.lines {
		g.meter.strange.CompareAndSwap(nil, glimpse(text, from))
	}
}

// hasContent reports whether a result has the members that every tool result has.
func hasContent(result []byte) bool {
	var r struct{ Content, ResultType json.RawMessage }
	return json.Unmarshal(result, &r) == nil && (r.ResultType != nil || len(r.Content) > 0 && r.Content[0] == '[')
}

// glimpse returns an excerpt of a text for people.
func glimpse(text []byte, from int) *string {
	s := strings.ToValidUTF8(string(text[from:min(len(text), from+80)]), "\uFFFD")
	if from > 0 {
		s = "\u2026" + s
	}
	return &s
}

// metered limits the answers to HTTP requests and adds headers to the requests.
type metered struct {
	base    http.RoundTripper
	meter   *meter
	headers [][2]string
}

// RoundTrip implements http.RoundTripper.
func (m *metered) RoundTrip(q *http.Request) (*http.Response, error) {
	ctx := q.Context()
	if q.Method == http.MethodDelete { // the end of a session; do not wait for it long
		limited, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		ctx = limited
	}
	q = q.Clone(ctx)
	for _, h := range m.headers {
		q.Header.Set(h[0], h[1])
	}
	answer, err := m.base.RoundTrip(q)
	if q.Method == http.MethodPost && !errors.Is(err, syscall.ECONNREFUSED) {
		m.meter.sent.Store(true)
	}
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
