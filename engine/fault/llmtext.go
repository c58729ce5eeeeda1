package fault

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// texts returns the places with the LLM's text in an answer, or in one event of
// it.
func (s Shape) texts(root *jsontree.Node) []*jsontree.Node {
	var found []*jsontree.Node
	add := func(n *jsontree.Node) {
		if n != nil && n.Kind == jsontree.String {
			found = append(found, n)
		}
	}
	parts := func(content *jsontree.Node, kind string) {
		if content == nil {
			return
		}
		add(content)
		for i := range content.Items {
			if t, _ := content.Items[i].Get("type").Str(); t == kind {
				add(content.Items[i].Get("text"))
			}
		}
	}
	switch s {
	case OpenAIChat, OpenAICompletions:
		choices := root.Get("choices")
		if choices == nil {
			break
		}
		for i := range choices.Items {
			c := &choices.Items[i]
			add(c.Get("text"))
			parts(c.Get("message").Get("content"), "text")
			add(c.Get("delta").Get("content"))
		}
	case OpenAIResponses:
		if t, _ := root.Get("type").Str(); t == "response.output_text.delta" {
			add(root.Get("delta"))
		}
		if output := root.Get("output"); output != nil {
			for i := range output.Items {
				parts(output.Items[i].Get("content"), "output_text")
			}
		}
	case AnthropicMessages:
		parts(root.Get("content"), "text")
		if t, _ := root.Get("delta").Get("type").Str(); t == "text_delta" {
			add(root.Get("delta").Get("text"))
		}
	case OllamaChat:
		add(root.Get("message").Get("content"))
	case OllamaGenerate:
		add(root.Get("response"))
	}
	return found
}

// endings are how providers say that a text is complete, as key and value, and
// what they say instead if it had to end for its length.
var endings = map[string]string{
	"finish_reason stop":      "length",
	"done_reason stop":        "length",
	"stop_reason end_turn":    "max_tokens",
	"status completed":        "incomplete",
	"type response.completed": "response.incomplete",
}

// Altered is the result of one strike on an answer: the change, or why there was
// none.
type Altered struct{ Change, Why string }

// Alter applies text faults to an answer, in order, and returns the new body with
// the effect of each. Everything else in the body stays as it is, including the
// number of events of a stream.
func (r *Request) Alter(contentType string, body []byte, strikes []*Strike) ([]byte, []Altered) {
	list := frames(contentType, body)
	results := make([]Altered, len(strikes))
	places := make([][]*jsontree.Node, len(list))
	var old strings.Builder
	count := 0
	for i := range list {
		if list[i].root == nil {
			continue
		}
		places[i] = r.Shape.texts(list[i].root)
		for _, n := range places[i] {
			old.WriteString(n.Text)
			count++
		}
	}
	text := old.String()
	changed, ended := false, false
	for i, s := range strikes {
		if strings.TrimSpace(text) == "" {
			results[i].Why = "the answer contains no text"
			continue
		}
		var why string
		was := text
		if text, why = s.Text(text); why != "" {
			results[i].Why = why
			continue
		}
		changed = true
		ended = ended || s.Rule.Mode == Truncated
		results[i].Change = describe(s, was, text)
	}
	if !changed {
		return body, results
	}
	var out []byte
	whole := text
	for i := range list {
		f := &list[i]
		var edits []splice
		for _, n := range places[i] {
			count--
			share := prefix(text, utf8.RuneCountInString(n.Text))
			if count == 0 {
				share = text
			}
			text = text[len(share):]
			edits = append(edits, replaced(n, share))
		}
		if f.root != nil {
			edits = append(edits, otherEdits(f.root, places[i], old.String(), whole, ended)...)
		}
		if len(edits) == 0 {
			out = append(out, f.raw...)
			continue
		}
		slices.SortFunc(edits, func(a, b splice) int { return a.from - b.from })
		piece := f.with(spliced(f.data, edits))
		if ended && f.sse {
			piece = bytes.Replace(piece, []byte("event: response.completed"), []byte("event: response.incomplete"), 1)
		}
		out = append(out, piece...)
	}
	return out, results
}

// otherEdits returns the edits of an event besides its texts: copies of the whole
// text in closing events, and the reason for the end.
func otherEdits(root *jsontree.Node, places []*jsontree.Node, old, text string, ended bool) []splice {
	var edits []splice
	var visit func(key string, n *jsontree.Node)
	visit = func(key string, n *jsontree.Node) {
		for i := range n.Items {
			visit("", &n.Items[i])
		}
		for i := range n.Members {
			visit(n.Members[i].Key, &n.Members[i].Value)
		}
		if slices.Contains(places, n) {
			return
		}
		if n.Kind == jsontree.String && n.Text == old {
			edits = append(edits, replaced(n, text))
			return
		}
		if to := endings[key+" "+n.Text]; ended && to != "" && n.Kind == jsontree.String {
			edits = append(edits, replaced(n, to))
		}
		status, _ := n.Get("status").Str()
		if d := n.Get("incomplete_details"); ended && status == "completed" && d != nil && d.Kind == jsontree.Null {
			edits = append(edits, splice{d.Offset, d.End, []byte(`{"reason":"max_output_tokens"}`)})
		}
	}
	visit("", root)
	return edits
}

func prefix(s string, runes int) string {
	for i := range s {
		if runes == 0 {
			return s[:i]
		}
		runes--
	}
	return s
}

func describe(s *Strike, was, now string) string {
	switch s.Rule.Mode {
	case Truncated:
		return fmt.Sprintf("the text ends after %d of %d words", s.Rule.MaxTokens, len(strings.Fields(was)))
	case Drift:
		return fmt.Sprintf("%s: %q became %q", s.Rule.DriftType, Short(was), Short(now))
	}
	return fmt.Sprintf("%s in place of the text", s.Rule.Mode)
}

// Short returns the beginning of a text, for descriptions.
func Short(s string) string {
	return diag.Runes(s, 60)
}
