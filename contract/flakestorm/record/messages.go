package record

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
)

// contentText returns the text of a message's content: the content itself, or the text of its
// parts.
func contentText(content any) string {
	parts, ok := content.([]any)
	if !ok {
		return text(content)
	}
	var b strings.Builder
	for _, p := range parts {
		switch q := p.(type) {
		case string:
			b.WriteString(q)
		case map[string]any:
			if kind := q["type"]; kind == nil || kind == "text" || kind == "input_text" || kind == "output_text" {
				b.WriteString(text(firstValue(q, "text", "content")))
			}
		}
	}
	return b.String()
}

// firstValue returns the value of the first key that has one.
func firstValue(m map[string]any, keys ...string) any {
	for _, k := range keys {
		if v := m[k]; v != nil {
			return v
		}
	}
	return nil
}

// messages returns a list of messages, which may be given as JSON in a string.
func messages(v any) []map[string]any {
	if s, ok := v.(string); ok {
		var decoded any
		if json.Unmarshal([]byte(s), &decoded) != nil {
			return nil
		}
		v = decoded
	}
	list, _ := v.([]any)
	var out []map[string]any
	for _, x := range list {
		pair, _ := x.([]any) // a pair of role and content, which LangChain accepts
		if m, ok := x.(map[string]any); ok {
			out = append(out, m)
		} else if len(pair) == 2 {
			out = append(out, messageOf(pair))
		}
	}
	return out
}

// conversation collects the results of tools from what is said to an LLM, for traces without spans
// of tools. Every call of the LLM repeats what was said before; a result belongs to the call
// whose id it has.
type conversation struct {
	names map[string]string // by call id
	seen  map[string]bool
	tools []config.ToolResponse
}

func (c *conversation) read(x *span) {
	for _, key := range []string{"gen_ai.input.messages", "gen_ai.prompt"} {
		c.messages(messages(get(x.Attributes, key)))
	}
	for _, of := range told {
		c.messages(numbered(x.Attributes, of))
	}
	for _, e := range x.Events {
		switch e.Name {
		case "gen_ai.client.inference.operation.details", "gen_ai.content.prompt":
			c.messages(messages(get(e.Attributes, "gen_ai.input.messages", "gen_ai.prompt")))
		case "gen_ai.assistant.message", "gen_ai.choice":
			c.calls(messages(get(e.Attributes, "tool_calls")))
			if m, ok := decoded(get(e.Attributes, "message")).(map[string]any); ok {
				c.calls(messages(m["tool_calls"]))
			}
		case "gen_ai.tool.message":
			c.result(text(get(e.Attributes, "id")), text(get(e.Attributes, "name")), get(e.Attributes, "content"))
		}
	}
}

// decoded returns the value of JSON in a string, or v itself if it is anything else.
func decoded(v any) any {
	if s, ok := v.(string); ok {
		var x any
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber() // 7.0 is not the same as 7
		if d.Decode(&x) == nil && !d.More() {
			return x
		}
	}
	return v
}

func (c *conversation) messages(list []map[string]any) {
	for _, m := range ofItems(list) {
		m = messageOf(m)
		c.calls(messages(m["tool_calls"]))
		for _, block := range messages(m["content"]) { // the form of Anthropic's API
			switch block["type"] {
			case "tool_use":
				c.calls([]map[string]any{block})
			case "tool_result":
				c.result(text(block["tool_use_id"]), "", spokenOr(block["content"]))
			}
		}
		if parts, ok := m["parts"].([]any); ok {
			for _, p := range messages(parts) {
				switch p["type"] {
				case "tool_call":
					c.calls([]map[string]any{p})
				case "tool_call_response":
					c.result(text(p["id"]), text(p["name"]), firstValue(p, "response", "result", "content"))
				}
			}
			continue
		}
		if m["role"] == "tool" || m["type"] == "tool" {
			c.result(text(firstValue(m, "tool_call_id", "id")), text(m["name"]), spokenOr(m["content"]))
		}
	}
}

// spokenOr returns the text of parts, or the value itself.
func spokenOr(v any) any {
	if _, ok := v.([]any); ok {
		return contentText(v)
	}
	return v
}

// calls notes the names of the tools that an LLM asked for.
func (c *conversation) calls(list []map[string]any) {
	for _, m := range list {
		name := text(m["name"])
		if f, ok := m["function"].(map[string]any); ok && name == "" {
			name = text(f["name"])
		}
		if id := text(m["id"]); id != "" && name != "" {
			if c.names == nil {
				c.names = make(map[string]string)
			}
			c.names[id] = name
		}
	}
}

func (c *conversation) result(id, name string, v any) {
	if name == "" {
		name = c.names[id]
	}
	if name == "" || id != "" && c.seen[id] {
		return
	}
	if c.seen == nil {
		c.seen = make(map[string]bool)
	}
	c.seen[id] = true
	t := config.ToolResponse{Tool: name, Status: 200}
	body(&t, structured(v))
	c.tools = append(c.tools, t)
}

// numbered returns messages whose parts are attributes: gen_ai.prompt.2.role, or
// llm.input_messages.2.message.role in the form of OpenInference.
func numbered(list []attribute, of string) []map[string]any {
	var out []map[string]any
	for i := range 256 {
		key := of + "." + strconv.Itoa(i)
		m, nested := make(map[string]any), make(map[string]map[string]any)
		// within stores a field of one of several numbered parts of a message.
		within := func(name, rest string, v any) {
			n, field, _ := strings.Cut(rest, ".")
			at := nested[name+n]
			if at == nil {
				at = make(map[string]any)
				nested[name+n] = at
				items, _ := m[name].([]any)
				m[name] = append(items, at)
			}
			at[field[strings.LastIndexByte(field, '.')+1:]] = v
		}
		for _, a := range list {
			rest, ok := strings.CutPrefix(a.Key, key+".")
			if !ok {
				continue
			}
			rest = strings.TrimPrefix(rest, "message.")
			if call, ok := strings.CutPrefix(rest, "tool_calls."); ok {
				within("tool_calls", call, a.Value.decoded())
			} else if part, ok := strings.CutPrefix(rest, "contents."); ok {
				within("content", part, a.Value.decoded())
			} else {
				m[rest] = a.Value.decoded()
			}
		}
		if len(m) == 0 {
			break
		}
		out = append(out, m)
	}
	return out
}

// told and spoke list the names of attributes with numbered messages: those to an LLM and its
// answers.
var (
	told  = []string{"gen_ai.prompt", "llm.input_messages"}
	spoke = []string{"gen_ai.completion", "llm.output_messages"}
)

// toolResult returns the result of a tool that its span records: the content of a message, or the
// value next to the arguments of a callback, if it was recorded in one of these ways.
func toolResult(v any) any {
	m, ok := structured(v).(map[string]any)
	if !ok {
		return structured(v)
	}
	if o, ok := m["output"]; ok && len(m) == 2 && m["kwargs"] != nil {
		if m, ok = o.(map[string]any); !ok {
			return structured(o)
		}
	}
	if k := messageOf(m); k["type"] == "tool" || k["tool_call_id"] != nil {
		return structured(spokenOr(k["content"]))
	}
	return m
}
