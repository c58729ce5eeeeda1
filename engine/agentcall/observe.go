package agentcall

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Observe finds what a reply contains besides its answer: the tools that were called and the tokens
// that the model used. It looks for tools where chat interfaces put them: tool_calls of the reply,
// of its message or of its first choice, tool_use parts of its content, function_call items of its
// output; for tokens in usage (in the form of OpenAI or Anthropic) and in Ollama's counts.
func Observe(root *jsontree.Node) ([]ToolCall, Tokens) {
	if root.Kind != jsontree.Object {
		return nil, Tokens{}
	}
	var list *jsontree.Node
	switch message := firstChoice(root, "message"); {
	case root.Get("tool_calls") != nil:
		list = root.Get("tool_calls")
	case message != nil:
		list = message.Get("tool_calls")
	case root.Get("message") != nil && root.Get("message").Kind == jsontree.Object:
		list = root.Get("message").Get("tool_calls")
	default:
		list = root.Get("content")
		if out := root.Get("output"); out != nil && slices.ContainsFunc(out.Items, func(n jsontree.Node) bool { return member(&n, "type") == functionCall }) {
			list = out // from OpenAI's responses
		}
	}
	return toolCalls(list), tokens(root)
}

// functionCall is the type of a call in OpenAI's responses.
const functionCall = "function_call"

// AskedFor returns the calls that an answer of a model requests, whole or streamed.
func AskedFor(contentType string, body []byte) []ToolCall {
	framing := Lines
	switch {
	case strings.Contains(contentType, "event-stream"):
		framing = Events
	case !strings.Contains(contentType, "ndjson"):
		root, err := ParseReply(body)
		if err != nil {
			return nil
		}
		calls, _ := Observe(root)
		return calls
	}
	s := NewStream(framing, Path{})
	_, _ = s.Write(body) // never fails
	s.Close()
	return s.Tools()
}

// toolCalls reads a list of calls of any known form and skips all other items.
func toolCalls(list *jsontree.Node) []ToolCall {
	if list == nil || list.Kind != jsontree.Array {
		return nil
	}
	var calls []ToolCall
	for i := range list.Items {
		item := &list.Items[i]
		if kind := item.Get("type"); kind != nil && kind.Text != "function" && kind.Text != "tool_use" && kind.Text != "tool_call" && kind.Text != functionCall {
			continue
		}
		if f := item.Get("function"); f != nil && f.Kind == jsontree.Object {
			item = f
		}
		call := ToolCall{Tool: member(item, "name", "tool", "tool_name", "function"), Args: arguments(item)}
		if call.Tool == "" {
			continue
		}
		if r := item.Get("result"); r != nil {
			call.Result = JSON(r)
		}
		call.Error = member(item, "error")
		calls = append(calls, call)
	}
	return calls
}

// member returns the first of some members that is a text.
func member(n *jsontree.Node, keys ...string) string {
	for _, k := range keys {
		if v := n.Get(k); v != nil && v.Kind == jsontree.String {
			return v.Text
		}
	}
	return ""
}

// arguments returns the arguments of a call, from JSON or from a string that contains JSON.
func arguments(n *jsontree.Node) json.RawMessage {
	for _, k := range []string{"arguments", "args", "input", "parameters"} {
		v := n.Get(k)
		if v == nil {
			continue
		}
		if text, ok := v.Str(); ok && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
		return JSON(v)
	}
	return nil
}

func tokens(root *jsontree.Node) Tokens {
	use, names := root.Get("usage"), [][2]string{{"prompt_tokens", "completion_tokens"}, {"input_tokens", "output_tokens"}}
	if use == nil || use.Kind != jsontree.Object {
		use, names = root, [][2]string{{"prompt_eval_count", "eval_count"}}
	}
	for _, n := range names {
		in, inOK := count(use.Get(n[0]))
		out, outOK := count(use.Get(n[1]))
		if inOK || outOK {
			return Tokens{Prompt: in, Completion: out, Known: true}
		}
	}
	return Tokens{}
}

// count returns a plausible number of tokens.
func count(n *jsontree.Node) (int64, bool) {
	if n == nil || n.Kind != jsontree.Int {
		return 0, false
	}
	i := n.Int()
	if !i.IsInt64() || i.Int64() < 0 {
		return 0, false
	}
	return i.Int64(), true
}

// Unwrapped returns what a tool returned. SDKs that make tools from functions send a number, a text
// or a list as {"result": ...}, since structured content must be an object, and the bare value as
// text; a tool whose own answer has that form sends all of it as text.
func Unwrapped(structured json.RawMessage, text []byte) json.RawMessage {
	var whole, said map[string]json.RawMessage
	if json.Unmarshal(structured, &whole) != nil || len(whole) != 1 || whole["result"] == nil {
		return structured
	}
	if json.Unmarshal(text, &said) == nil && said["result"] != nil {
		return structured
	}
	return whole["result"]
}
