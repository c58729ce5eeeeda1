package fault

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// ToolCalls are the calls of tools that the conversation holds since the user
// spoke last: those that the LLM asked for and got an answer to. The same call
// has the same ID in every later request.
func (r *Request) ToolCalls() []SeenCall {
	turns := r.root.Get("messages")
	if r.Shape == OpenAIResponses {
		turns = r.root.Get("input")
	}
	if turns == nil {
		return nil
	}
	var calls []SeenCall
	add := func(place int, id, name, args *jsontree.Node) {
		c := SeenCall{Source: SeenInChat, Arguments: r.arguments(args)}
		c.Tool, _ = name.Str()
		if c.Tool == "" {
			return
		}
		if c.ID, _ = id.Str(); c.ID == "" {
			c.ID = fmt.Sprintf("%d %d %s %s", place, len(calls), c.Tool, c.Arguments)
		}
		calls = append(calls, c)
	}
	for i := range turns.Items {
		turn := &turns.Items[i]
		if spokenByUser(turn) {
			calls = nil
		}
		if t, _ := turn.Get("type").Str(); t == "function_call" {
			add(i, turn.Get("call_id"), turn.Get("name"), turn.Get("arguments"))
		}
		for _, c := range items(turn.Get("tool_calls")) {
			add(i, c.Get("id"), c.Get("function").Get("name"), c.Get("function").Get("arguments"))
		}
		for _, c := range items(turn.Get("content")) {
			if t, _ := c.Get("type").Str(); t == "tool_use" {
				add(i, c.Get("id"), c.Get("name"), c.Get("input"))
			}
		}
	}
	return calls
}

// Result is what the conversation holds as the result of a call, "" if nothing.
func (r *Request) Result(id string) string {
	turns := r.root.Get("messages")
	if r.Shape == OpenAIResponses {
		turns = r.root.Get("input")
	}
	text := func(n *jsontree.Node) string {
		if n == nil {
			return ""
		}
		if s, ok := n.Str(); ok {
			return s
		}
		return string(r.body[n.Offset:n.End])
	}
	for _, turn := range items(turns) {
		for key, value := range map[string]string{"tool_call_id": "content", "call_id": "output"} {
			if s, _ := turn.Get(key).Str(); s == id && turn.Get(value) != nil {
				return text(turn.Get(value))
			}
		}
		for _, part := range items(turn.Get("content")) {
			if s, _ := part.Get("tool_use_id").Str(); s == id {
				return text(part.Get("content"))
			}
		}
	}
	return ""
}

// Offer is a tool that a request offers to the LLM, with the JSON Schema of its
// arguments, "" if there is none.
type Offer struct{ Name, Schema string }

// Offered are the tools that the request offers.
func (r *Request) Offered() []Offer {
	var list []Offer
	for _, n := range items(r.root.Get("tools")) {
		f := &n
		if inner := n.Get("function"); inner != nil {
			f = inner
		}
		o := Offer{}
		if o.Name, _ = f.Get("name").Str(); o.Name == "" {
			continue
		}
		for _, key := range []string{"parameters", "input_schema"} {
			if s := f.Get(key); s != nil {
				o.Schema = string(r.body[s.Offset:s.End])
			}
		}
		list = append(list, o)
	}
	return list
}

// spokenByUser tells what a user said from tool results, which Anthropic's
// conversations hold in turns of the user.
func spokenByUser(turn *jsontree.Node) bool {
	if role, _ := turn.Get("role").Str(); role != "user" {
		return false
	}
	for _, part := range items(turn.Get("content")) {
		if t, _ := part.Get("type").Str(); t == "tool_result" {
			return false
		}
	}
	return true
}

func items(n *jsontree.Node) []jsontree.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// arguments are JSON text, whether the shape holds them as text or as a value.
func (r *Request) arguments(n *jsontree.Node) string {
	if n == nil {
		return ""
	}
	if s, ok := n.Str(); ok {
		return s
	}
	return string(r.body[n.Offset:n.End])
}

// Usage is how many tokens an answer says were read and written.
func (r *Request) Usage(contentType string, body []byte) (input, output int64) {
	take := func(v *int64, n *jsontree.Node) {
		if f, ok := n.Float(); ok {
			*v = max(*v, int64(min(f, 1e15)))
		}
	}
	for _, f := range frames(contentType, body) {
		if f.root == nil {
			continue
		}
		take(&input, f.root.Get("prompt_eval_count"))
		take(&output, f.root.Get("eval_count"))
		for _, holder := range []*jsontree.Node{f.root, f.root.Get("message"), f.root.Get("response")} {
			u := holder.Get("usage")
			take(&input, u.Get("prompt_tokens"))
			take(&input, u.Get("input_tokens"))
			take(&output, u.Get("completion_tokens"))
			take(&output, u.Get("output_tokens"))
		}
	}
	return input, output
}

// Inject puts a payload into the conversation: as a turn of the user before
// the last one (append), before the first one (prepend), or in place of what
// the user said last (replace). A request that is one text gets it there.
func (r *Request) Inject(payload string, how Strategy) ([]byte, bool) {
	for _, key := range []string{"prompt", "input"} {
		if n := r.root.Get(key); n != nil && n.Kind == jsontree.String {
			return spliced(r.body, []splice{replaced(n, how.Join(n.Text, payload))}), true
		}
	}
	turns := r.root.Get("messages")
	if turns == nil {
		turns = r.root.Get("input")
	}
	first, last := -1, -1
	for i := range items(turns) {
		if spokenByUser(&turns.Items[i]) {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	if last < 0 {
		return r.body, false
	}
	at := &turns.Items[last]
	if how == Swap {
		content := at.Get("content")
		if content == nil {
			return r.body, false
		}
		return spliced(r.body, []splice{replaced(content, payload)}), true
	}
	if how == Prepend {
		at = &turns.Items[first]
	}
	turn := fmt.Sprintf(`{"role":"user","content":%s},`, quoted(payload))
	return spliced(r.body, []splice{{at.Offset, at.Offset, []byte(turn)}}), true
}

// Join puts a payload to a text.
func (how Strategy) Join(text, payload string) string {
	switch how {
	case Prepend:
		return payload + "\n\n" + text
	case Swap:
		return payload
	}
	if strings.TrimSpace(text) == "" {
		return payload
	}
	return text + "\n\n" + payload
}
