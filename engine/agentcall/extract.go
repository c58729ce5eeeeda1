package agentcall

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// answerKeys are the members that may hold an answer, the likeliest first.
var answerKeys = [...]string{"output", "response", "result", "data", "content", "text", "message", "answer", "reply", "queries", "query", "results"}

// ParseReply parses a reply as JSON, as leniently as Python does.
func ParseReply(text []byte) (*jsontree.Node, error) {
	doc, err := jsontree.Parse(text, jsontree.Python())
	if err != nil {
		return nil, err
	}
	return &doc.Root, nil
}

// Complaint returns the error that a reply reports; "": none. That is its member
// error (or Error) unless that is null, false, 0 or empty, and its message if success
// is false.
func Complaint(root *jsontree.Node) string {
	if root.Kind != jsontree.Object {
		return ""
	}
	for _, key := range []string{"error", "Error"} {
		if e := root.Get(key); e != nil && !falsy(e) {
			return "Agent error: " + cmp.Or(worded(e), worded(root.Get("message")), "Unknown error")
		}
	}
	if s := root.Get("success"); s != nil && s.Kind == jsontree.Bool && !s.Bool {
		return "Agent returned failure: " + cmp.Or(worded(root.Get("message")), "Request failed")
	}
	return ""
}

// worded returns the text of a value for people; "" if it only says that there is an
// error.
func worded(n *jsontree.Node) string {
	switch {
	case n == nil || falsy(n) || n.Kind == jsontree.Bool:
		return ""
	case n.Kind == jsontree.Object:
		if m := worded(n.Get("message")); m != "" {
			return m
		}
	}
	return Text(n)
}

// falsy reports whether a value is false in Python.
func falsy(n *jsontree.Node) bool {
	switch n.Kind {
	case jsontree.Null:
		return true
	case jsontree.Bool:
		return !n.Bool
	case jsontree.Int, jsontree.Float:
		f, _ := n.Float()
		return f == 0
	case jsontree.String:
		return n.Text == ""
	case jsontree.Array:
		return len(n.Items) == 0
	}
	return len(n.Members) == 0
}

// Extract returns the answer in a reply: the value at the path or, if there is none,
// what looks most like an answer. That is the first of the members output, response,
// result, data, content, text, message, answer, reply, queries, query, results that
// exists and is not null (as written, then in any case), the text of a chat
// completion, the only member of an object, the only item of an array, the answer in
// the first object of an array, or else the whole reply as JSON.
func Extract(root *jsontree.Node, p Path) string {
	if !p.Empty() {
		if found := p.In(root); found != nil && found.Kind != jsontree.Null {
			return Text(found)
		}
	}
	return Text(detect(root))
}

func detect(n *jsontree.Node) *jsontree.Node {
	for {
		switch n.Kind {
		case jsontree.Object:
			return detectMember(n)
		case jsontree.Array:
			switch {
			case len(n.Items) == 1:
				return &n.Items[0]
			case len(n.Items) > 1 && n.Items[0].Kind == jsontree.Object && !scalars(n.Items):
				n = &n.Items[0]
				continue
			}
		}
		return n
	}
}

func detectMember(n *jsontree.Node) *jsontree.Node {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, key := range answerKeys {
			for i := range n.Members {
				if m := &n.Members[i]; same(m.Key, key) && m.Value.Kind != jsontree.Null {
					return &m.Value
				}
			}
		}
	}
	if text, ok := ChatText(n); ok {
		return &jsontree.Node{Kind: jsontree.String, Text: text}
	}
	if len(n.Members) == 1 {
		return &n.Members[0].Value
	}
	return n
}

func scalars(items []jsontree.Node) bool {
	for i := range items {
		if items[i].Kind == jsontree.Object || items[i].Kind == jsontree.Array {
			return false
		}
	}
	return true
}

// ChatText returns the text of the first choice of a chat completion; ok is false for
// any other reply.
func ChatText(n *jsontree.Node) (string, bool) {
	message := firstChoice(n, "message")
	if message == nil {
		return "", false
	}
	return contentText(message.Get("content")), true
}

func firstChoice(n *jsontree.Node, member string) *jsontree.Node {
	choices := n.Get("choices")
	if choices == nil || choices.Kind != jsontree.Array || len(choices.Items) == 0 {
		return nil
	}
	if m := choices.Items[0].Get(member); m != nil && m.Kind == jsontree.Object {
		return m
	}
	return nil
}

// contentText returns a message's content: a text, or the texts of its parts.
func contentText(c *jsontree.Node) string {
	if c == nil {
		return ""
	}
	if c.Kind != jsontree.Array {
		return Text(c)
	}
	var b strings.Builder
	for i := range c.Items {
		if t := c.Items[i].Get("text"); t != nil && t.Kind == jsontree.String {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// Text returns a value as answer text: a string itself, null nothing, other scalars
// as Python writes them (True, 1.5), objects and arrays as JSON in the order of the
// reply, with a space after commas and colons.
func Text(n *jsontree.Node) string {
	switch n.Kind {
	case jsontree.String:
		return strings.ToValidUTF8(n.Text, "�")
	case jsontree.Null:
		return ""
	case jsontree.Bool:
		if n.Bool {
			return "True"
		}
		return "False"
	}
	return style.Format(n)
}

// style writes trees with their members in order.
var style = jsontree.Style{Spaced: true, Kept: true}

// JSON returns a tree as text, its members in order; nil if it has numbers that JSON
// cannot express (NaN, Infinity).
func JSON(n *jsontree.Node) json.RawMessage {
	text := style.Append(nil, n)
	if !json.Valid(text) {
		return nil
	}
	return text
}
