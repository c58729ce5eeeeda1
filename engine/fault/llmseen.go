package fault

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// ToolCalls returns the calls of tools in the conversation since the user last spoke:
// those that the LLM requested and that have an answer. The same call has the same ID in
// every later request, and no other call of a cell has it.
func (r *Request) ToolCalls() []SeenCall {
	turns := r.turns()
	var calls []SeenCall
	question := ""
	add := func(place int, id, name, args *jsontree.Node) {
		c := SeenCall{Source: SeenInChat, Arguments: r.arguments(args)}
		c.Tool, _ = name.Str()
		if c.Tool == "" {
			return
		}
		c.ID, _ = id.Str()
		results := r.resultsOf(c.ID)
		earlier := 0 // simple models give all calls the same number
		for _, x := range calls {
			if x.given == c.ID {
				earlier++
			}
		}
		if earlier < len(results) {
			c.Result = results[earlier]
		}
		if c.given = c.ID; c.ID == "" || earlier > 0 {
			c.ID = fmt.Sprintf("%d %d %s %s", place, len(calls), c.Tool, c.Arguments)
		}
		c.ID = question + c.ID
		calls = append(calls, c)
	}
	for i := range turns {
		turn := &turns[i]
		if spokenByUser(turn) {
			calls = nil
			question = fmt.Sprintf("%d %s ", i, r.body[turn.Offset:turn.End])
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

// resultsOf returns the results of calls with an ID since the user last spoke, in order.
func (r *Request) resultsOf(id string) (list []string) {
	for _, x := range r.Results() {
		if x.ID == id {
			list = append(list, x.Text)
		}
	}
	return list
}

// Said is a text of a conversation: a message with its role, or the result of a call with
// its ID.
type Said struct{ Role, ID, Text string }

// turns returns the messages of the conversation.
func (r *Request) turns() []jsontree.Node {
	if r.Shape == OpenAIResponses {
		return items(r.root.Get("input"))
	}
	return items(r.root.Get("messages"))
}

// Results returns the results of calls since the user last spoke.
func (r *Request) Results() (list []Said) {
	add := func(id, text *jsontree.Node) {
		if s, ok := id.Str(); ok && text != nil {
			list = append(list, Said{ID: s, Text: r.arguments(text)})
		}
	}
	none := &jsontree.Node{Kind: jsontree.String} // Ollama's have no ID, and are in the order of the calls
	for _, turn := range r.turns() {
		if spokenByUser(&turn) {
			list = nil
		}
		if role, _ := turn.Get("role").Str(); role == "tool" {
			add(cmp.Or(turn.Get("tool_call_id"), none), turn.Get("content"))
		}
		add(turn.Get("call_id"), turn.Get("output"))
		for _, part := range items(turn.Get("content")) {
			add(part.Get("tool_use_id"), part.Get("content"))
		}
	}
	return list
}

// Talk returns what user and model have said to each other, without calls and their
// results.
func (r *Request) Talk() (list []Said) {
	for _, key := range []string{"prompt", "input"} {
		if s, ok := r.root.Get(key).Str(); ok {
			return []Said{{Role: "user", Text: s}}
		}
	}
	for _, turn := range r.turns() {
		text, _ := turn.Get("content").Str()
		for _, part := range items(turn.Get("content")) {
			s, _ := part.Get("text").Str()
			text += s
		}
		if role, _ := turn.Get("role").Str(); text != "" && (role == "user" || role == "assistant") {
			list = append(list, Said{Role: role, Text: text})
		}
	}
	return list
}

// Asked identifies what the model is asked now: a digest of the last message, without
// what differs from run to run.
func (r *Request) Asked() string {
	last := string(r.body)
	if turns := r.turns(); len(turns) > 0 {
		n := &turns[len(turns)-1]
		last = string(r.body[n.Offset:n.End])
	}
	sum := sha256.Sum256([]byte(Unvaried(last)))
	return hex.EncodeToString(sum[:6])
}

// varied matches what is random or comes from a clock: identifiers, times, long numbers.
var varied = lazy.Pattern(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b[0-9a-f]{16,}\b|\b\d{10,}(?:\.\d+)?\b`)

// Unvaried returns a text in which one mark replaces everything that is expected to vary.
func Unvaried(s string) string { return varied().ReplaceAllString(s, "*") }

// Answered returns the text in an answer to the request.
func (r *Request) Answered(contentType string, body []byte) string {
	var b strings.Builder
	for _, f := range frames(contentType, body) {
		if f.root != nil {
			for _, n := range r.Shape.texts(f.root) {
				b.WriteString(n.Text)
			}
		}
	}
	return b.String()
}

// Offer is a tool that a request offers to the LLM, with the JSON Schema of its
// arguments; "": none.
type Offer struct{ Name, Schema string }

// Offered returns the tools that the request offers.
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

// spokenByUser distinguishes what a user said from tool results, which Anthropic's
// conversations have in turns of the user.
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

// arguments returns JSON text, whether the format has arguments as text or as a value.
func (r *Request) arguments(n *jsontree.Node) string {
	if n == nil {
		return ""
	}
	if s, ok := n.Str(); ok {
		return s
	}
	return string(r.body[n.Offset:n.End])
}

// Usage returns how many tokens were read and written, according to an answer.
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

// Inject puts a payload into the conversation: as a turn of the user before the last one
// (append), before the first one (prepend), or instead of what the user said last
// (replace). If the request is one text, the payload is added to it.
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

// Join adds a payload to a text.
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
