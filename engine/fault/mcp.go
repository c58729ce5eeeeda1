package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Message is a message of MCP, which is JSON-RPC 2.0.
type Message struct {
	Method    string // "" for answers
	ID        string // JSON of the identifier, "" for notifications
	Tool      string // of tools/call
	Arguments string // JSON, of tools/call
	Cancels   string // JSON of the identifier of a request that is cancelled
	Answer    bool   // has a result or an error
	body      []byte
	root      *jsontree.Node
}

// ParseMCP parses a message; nil if it is none. Batches are none, since the protocol
// has dropped them.
func ParseMCP(body []byte) *Message {
	if !bytes.Contains(body, []byte(`"jsonrpc"`)) {
		return nil
	}
	root := parsed(body)
	if v, _ := root.Get("jsonrpc").Str(); v != "2.0" {
		return nil
	}
	m := &Message{body: body, root: root}
	m.Method, _ = root.Get("method").Str()
	if id := root.Get("id"); id != nil && id.Kind != jsontree.Null {
		m.ID = string(body[id.Offset:id.End])
	}
	m.Answer = m.Method == "" && m.ID != "" && (root.Get("result") != nil || root.Get("error") != nil)
	if m.Method == "notifications/cancelled" {
		if id := root.Get("params").Get("requestId"); id != nil {
			m.Cancels = string(body[id.Offset:id.End])
		}
	}
	if m.Method == "tools/call" && m.ID != "" {
		m.Tool, _ = root.Get("params").Get("name").Str()
		if a := root.Get("params").Get("arguments"); a != nil {
			m.Arguments = string(body[a.Offset:a.End])
		}
	}
	return m
}

// Call returns the message as faults see it. server is the name of the MCP server.
func (m *Message) Call(server, url string) Call {
	if m.Tool == "" {
		return Call{Kind: OtherCall, Names: []string{m.Method, server}, URL: url}
	}
	names := []string{m.Tool}
	if server != "" {
		names = append(names, server+"."+m.Tool, server)
	}
	return Call{Kind: MCPCall, Names: names, URL: url}
}

// Result answers the call like a tool: with a text, as an error or not.
func (m *Message) Result(text string, failed bool) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}],"isError":%t}}`, m.ID, quoted(text), failed)
}

// Failure answers the call with a protocol error.
func (m *Message) Failure(code int, message string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, m.ID, code, quoted(message))
}

// RequestTimeout is the code that MCP's libraries use for requests without an answer.
const RequestTimeout = -32001

// Struck returns the answer to a call that a final fault has struck. Timeout and
// Reset have none.
func (m *Message) Struck(s *Strike) ([]byte, bool) {
	reply, ok := s.Answer()
	if !ok {
		return nil, false
	}
	if s.Rule.Mode == Error {
		return m.Result(fmt.Sprintf("%d %s", s.Rule.Status, s.Rule.Message), true), true
	}
	return m.Result(string(reply.Body), false), true
}

// Recorded returns the recorded answer to a call. A recorded object with a content
// list is the result as it was.
func (m *Message) Recorded(r *Recorded) []byte {
	if root := parsed(r.Response); root != nil && root.Kind == jsontree.Object && root.Get("content") != nil && root.Get("content").Kind == jsontree.Array {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, bytes.TrimSpace(r.Response))
	}
	reply := r.Reply()
	return m.Result(string(reply.Body), reply.Status >= 400)
}

// MCPResult returns the result in an answer of an MCP server, or the message of its
// error. An answer over HTTP may be an event stream.
func MCPResult(contentType string, body []byte) (result json.RawMessage, failure string) {
	for _, f := range frames(contentType, body) {
		m := ParseMCP(f.data)
		if m == nil || !m.Answer {
			continue
		}
		if n := m.root.Get("error"); n != nil {
			failure, _ = n.Get("message").Str()
			return nil, failure
		}
		return m.ResultJSON(), ""
	}
	return nil, ""
}

// Ended reports whether a stream whose last piece has just arrived has everything
// that its reader waits for, so that the reader may leave before the stream ends: the
// answer to a request of MCP (nil: it was none), or the last event of a model's API.
func Ended(contentType string, body, piece []byte, request *Message) bool {
	whole := bytes.HasSuffix(piece, []byte("\n\n")) || bytes.HasSuffix(piece, []byte("\r\n\r\n"))
	if mediaType(contentType) != typeSSE || !whole {
		return false
	}
	if request == nil {
		return slices.ContainsFunc(streamEnds, func(end []byte) bool { return bytes.Contains(piece, end) })
	}
	return slices.ContainsFunc(frames(contentType, body), func(f frame) bool {
		m := ParseMCP(f.data)
		return m != nil && m.Answer && m.ID == request.ID
	})
}

// streamEnds are the last events of the APIs of models.
var streamEnds = [][]byte{[]byte("data: [DONE]"), []byte("event: message_stop"), []byte("event: response.completed")}

// As returns an answer with another identifier.
func (m *Message) As(id string) []byte {
	n := m.root.Get("id")
	if n == nil {
		return m.body
	}
	return spliced(m.body, []splice{{n.Offset, n.End, []byte(id)}})
}

// ResultJSON returns the result of an answer; nil if it has none.
func (m *Message) ResultJSON() json.RawMessage {
	n := m.root.Get("result")
	if n == nil {
		return nil
	}
	return json.RawMessage(m.body[n.Offset:n.End])
}

// InjectMCP puts the attacks on a tool's result into an answer, in the texts of its
// content and in its structured form, and records the effect of each.
func (l *Ledger) InjectMCP(d *Decision, m *Message) *Message {
	for _, s := range d.At(AtToolResult) {
		result := m.root.Get("result")
		var edits []splice
		for i, c := range items(result.Get("content")) {
			if t, _ := c.Get("type").Str(); t == "text" && c.Get("text") != nil {
				text := result.Get("content").Items[i].Get("text")
				if joined, why := InjectInto("", []byte(text.Text), s.wrapped(), s.Rule.Strategy); why == "" {
					edits = append(edits, splice{text.Offset, text.End, quoted(string(joined))})
				}
				break
			}
		}
		if n := result.Get("structuredContent"); n != nil && (n.Kind == jsontree.Object || n.Kind == jsontree.Array) {
			inner := bytes.Clone(m.body[n.Offset:n.End])
			if root := parsed(inner); root != nil {
				edits = append(edits, splice{n.Offset, n.End, injectJSON(inner, root, s.wrapped(), s.Rule.Strategy)})
			}
		}
		if len(edits) == 2 && edits[0].from > edits[1].from {
			edits[0], edits[1] = edits[1], edits[0]
		}
		again := ParseMCP(spliced(m.body, edits))
		if len(edits) == 0 || again == nil {
			l.Missed(d, s, "the tool's result contains no text")
			continue
		}
		m = again
		l.Fired(d, s, s.injected("the tool's result"))
	}
	return m
}

// Bytes returns the message as on the wire, without a line end.
func (m *Message) Bytes() []byte { return m.body }

// eachAnswer rebuilds the body of an answer over HTTP, which may be an event stream,
// and replaces the answers to the message.
func (m *Message) eachAnswer(contentType string, body []byte, make func(*Message) *Message) []byte {
	var out []byte
	for _, f := range frames(contentType, body) {
		if a := ParseMCP(f.data); a != nil && a.Answer && (a.ID == m.ID || m.ID == "") {
			if b := make(a); b != a {
				out = append(out, f.with(b.body)...)
				continue
			}
		}
		out = append(out, f.raw...)
	}
	return out
}

// InjectAnswer is [Ledger.InjectMCP] for the body of an answer over HTTP.
func (l *Ledger) InjectAnswer(d *Decision, m *Message, contentType string, body []byte) []byte {
	found := false
	body = m.eachAnswer(contentType, body, func(a *Message) *Message {
		found = true
		return l.InjectMCP(d, a)
	})
	if !found {
		for _, s := range d.At(AtToolResult) {
			l.Missed(d, s, "the tool gave no answer")
		}
	}
	return body
}

// Readdressed returns the body of an earlier answer over HTTP as an answer to this
// message.
func (m *Message) Readdressed(contentType string, body []byte) []byte {
	all := Message{}
	return all.eachAnswer(contentType, body, func(a *Message) *Message {
		if b := ParseMCP(a.As(m.ID)); b != nil {
			return b
		}
		return a
	})
}
