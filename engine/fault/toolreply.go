package fault

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// brokenJSON is an answer of a server that stopped in the middle.
const brokenJSON = `{"status": "ok", "results": [{"id": 1, "name": "first", "value`

// Answer returns the answer of an HTTP tool to a call that a final fault has struck.
// Timeout and Reset have none.
func (s *Strike) Answer() (Reply, bool) {
	switch s.Rule.Mode {
	case Error:
		return Reply{Status: s.Rule.Status, ContentType: typeOf([]byte(s.Rule.Message)), Body: []byte(s.Rule.Message)}, true
	case Malformed:
		return Reply{Status: 200, ContentType: typeJSON, Body: []byte(brokenJSON)}, true
	case Malicious:
		return Reply{Status: 200, ContentType: typeOf([]byte(s.Rule.Payload)), Body: []byte(s.Rule.Payload)}, true
	}
	return Reply{}, false
}

// ModelAnswer returns the answer of an LLM to a call that a final fault has struck,
// in the provider's format.
func (s *Strike) ModelAnswer(r *Request, number int, now time.Time) (Reply, bool) {
	reply := func(text string) Reply { return r.Answer(text, number, now) }
	switch s.Rule.Mode {
	case RateLimit:
		return r.Failure(429, "Rate limit reached for "+cmp.Or(r.Model, "the model")+". Please try again later.", s.Rule.RetryAfter), true
	case Error:
		return r.Failure(s.Rule.Status, s.Rule.Message, 0), true
	case Malformed:
		whole := reply("This answer breaks off.")
		whole.Body = brokenOff(whole.Body)
		return whole, true
	case Malicious:
		return reply(s.Rule.Payload), true
	case Refuses:
		return reply(s.Rule.Message), true
	case TooLong:
		out := r.Failure(400, s.Rule.Message, 0)
		out.Body = bytes.Replace(out.Body, []byte(`"code":null`), []byte(`"code":"context_length_exceeded"`), 1)
		return out, true
	case BrokenCall, UnknownCall, CutCall:
		return r.toolCall(s, number, now), true
	}
	return Reply{}, false
}

// brokenOff returns the first half of an answer. A stream breaks off inside an event
// that ends as if it were complete, since clients ignore an event that does not end.
func brokenOff(body []byte) []byte {
	half := len(body) / 2
	data := []byte("data: {")
	at := bytes.LastIndex(body[:half], data)
	if at < 0 || !bytes.HasPrefix(body, []byte("data:")) && !bytes.HasPrefix(body, []byte("event:")) {
		return body[:half]
	}
	length := bytes.IndexByte(body[at:], '\n')
	return append(bytes.Clone(body[:at+max(len(data)+1, length/2)]), "\n\n"...)
}

// Change says what the agent sees of a fault that changes no text.
func (s *Strike) Change() string {
	r := &s.Rule
	switch r.Mode {
	case Timeout:
		return fmt.Sprintf("no answer for %s, then the connection closed", r.Delay)
	case Slow:
		return fmt.Sprintf("the answer came %s later", r.Delay)
	case Error:
		return fmt.Sprintf("%d %s in place of the answer", r.Status, Short(r.Message))
	case Malformed:
		return "JSON that breaks off in place of the answer"
	case Malicious:
		return fmt.Sprintf("%q in place of the answer", Short(r.Payload))
	case Reset:
		return "the connection was reset before an answer"
	case Partial:
		return "half of the body, then the connection closed"
	case Bandwidth:
		return fmt.Sprintf("the answer at %d bytes a second", r.Rate)
	case WrongType:
		return "the answer declared as " + WrongContentType
	case Stale:
		return "the first answer of this tool again"
	case Duplicate:
		return "the answer twice"
	case ReplyLost:
		return "the server acted, and its answer was lost: " + s.lostText()
	case Twice:
		return "the server got the call twice"
	case Late:
		return fmt.Sprintf("the server acted, and its answer came %s later", r.Delay)
	case PartialWrite:
		return "half of the request reached the server, then the connection was reset"
	case BrokenCall:
		return "a call of a tool with arguments that are not JSON, in place of the answer"
	case UnknownCall:
		return "a call of " + missingTool + ", which does not exist, in place of the answer"
	case CutCall:
		return "a call of a tool that breaks off within its arguments, in place of the answer"
	case Refuses:
		return fmt.Sprintf("the refusal %q in place of the answer", Short(r.Message))
	case TooLong:
		return "400: the conversation is too long for the model"
	case RateLimit:
		return fmt.Sprintf("429 with Retry-After %s", r.RetryAfter)
	}
	return string(r.Mode)
}

// lostText says what an agent sees of an answer that was lost.
func (s *Strike) lostText() string {
	switch r := &s.Rule; {
	case r.Status > 0:
		return fmt.Sprintf("%d %s", r.Status, Short(r.Message))
	case r.Delay > 0:
		return fmt.Sprintf("nothing for %s, then the connection closed", r.Delay)
	}
	return "the connection was reset"
}

// WrongContentType is the declared type of answers that have another one.
const WrongContentType = "text/html; charset=utf-8"

// Reply returns the recorded response as an answer of an HTTP server.
func (r *Recorded) Reply() Reply {
	out := Reply{Status: r.Status, ContentType: typeJSON, Body: r.Response}
	out.Status = cmp.Or(out.Status, 200)
	if out.Status == 200 && r.Raises != "" {
		out.Status = 500
	}
	var text string
	switch {
	case r.Bytes != nil:
		out.Body, out.ContentType = r.Bytes, "application/octet-stream"
	case json.Unmarshal(r.Response, &text) == nil:
		out.Body = []byte(text)
		out.ContentType = typeOf(out.Body)
	}
	if r.ContentType != "" {
		out.ContentType = r.ContentType
	}
	return out
}

func typeOf(body []byte) string {
	if parsed(body) != nil {
		return typeJSON
	}
	return "text/plain; charset=utf-8"
}

// Refusal returns the answer to a call that no recording answers.
func Refusal(tool string) Reply {
	return Reply{Status: 502, ContentType: "text/plain; charset=utf-8",
		Body: fmt.Appendf(nil, "the replayed recording has no response of %s left", tool)}
}

// InjectInto puts a payload into the answer of a tool: into the longest text of a
// JSON answer, or else where the strategy says. An answer that is not text is
// unchanged, with the reason.
func InjectInto(contentType string, body []byte, payload string, how Strategy) (out []byte, why string) {
	media := mediaType(contentType)
	for _, kind := range []string{"image/", "audio/", "video/", "font/", "application/octet-stream", "application/zip", "application/pdf", "application/gzip"} {
		if strings.HasPrefix(media, kind) {
			return body, "the answer is not text: " + media
		}
	}
	if IsStream(contentType) {
		return injectStream(contentType, body, payload, how)
	}
	if bytes.IndexByte(body, 0) >= 0 {
		return body, "the answer is not text"
	}
	if root := parsed(body); root != nil {
		return injectJSON(body, root, payload, how), ""
	}
	return []byte(how.Join(string(body), payload)), ""
}

// injectStream puts the payload into the last event that has a place for it.
func injectStream(contentType string, body []byte, payload string, how Strategy) (out []byte, why string) {
	list := frames(contentType, body)
	for i := len(list) - 1; i >= 0; i-- {
		f := &list[i]
		if f.root == nil {
			continue
		}
		for j := range list {
			if j == i {
				out = append(out, f.with(injectJSON(f.data, f.root, payload, how))...)
			} else {
				out = append(out, list[j].raw...)
			}
		}
		return out, ""
	}
	return body, "the stream contains no JSON"
}

func injectJSON(body []byte, root *jsontree.Node, payload string, how Strategy) []byte {
	var longest *jsontree.Node
	var visit func(n *jsontree.Node)
	visit = func(n *jsontree.Node) {
		if n.Kind == jsontree.String && (longest == nil || len(n.Text) > len(longest.Text)) {
			longest = n
		}
		for i := range n.Items {
			visit(&n.Items[i])
		}
		for i := range n.Members {
			visit(&n.Members[i].Value)
		}
	}
	visit(root)
	if longest != nil {
		return spliced(body, []splice{replaced(longest, how.Join(longest.Text, payload))})
	}
	piece := quoted(payload)
	if root.Kind == jsontree.Object {
		piece = append([]byte(`"_injected":`), piece...)
	}
	if len(root.Items)+len(root.Members) > 0 {
		piece = append([]byte{','}, piece...)
	}
	return spliced(body, []splice{{root.End - 1, root.End - 1, piece}})
}
