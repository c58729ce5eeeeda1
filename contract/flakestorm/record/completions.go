package record

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
)

// stored is a completion or a response that OpenAI has stored, with the messages that it answers.
// Exports have one per line. The API lists each one's messages separately: the messages of a
// completion have a role, the input items of a response have a type.
type stored struct {
	ID       string `json:"id"`
	Role     string `json:"role"`
	Type     string `json:"type"`
	Messages any    `json:"messages"`
	Input    any    `json:"input"`
	Output   any    `json:"output"`
	Previous string `json:"previous_response_id"`
	Choices  []struct {
		Message map[string]any `json:"message"`
	} `json:"choices"`
	Request *struct {
		Messages []any `json:"messages"`
	} `json:"request"`
}

// listed returns a list, including one that the API returns inside an object, as its data.
func listed(v any) []any {
	if m, ok := v.(map[string]any); ok {
		v = m["data"]
	}
	list, _ := v.([]any)
	return list
}

// allMessages returns the messages, including the answer.
func (c *stored) allMessages() []map[string]any {
	list := listed(c.Messages)
	if list == nil {
		list = inOrder(listed(c.Input))
	}
	if s, ok := c.Input.(string); ok {
		list = []any{map[string]any{"role": "user", "content": s}}
	}
	if list == nil && c.Request != nil {
		list = c.Request.Messages
	}
	output, _ := c.Output.([]any)
	out := ofItems(messages(append(slices.Clip(list), output...)))
	if len(c.Choices) > 0 && c.Choices[0].Message != nil {
		out = append(out, c.Choices[0].Message)
	}
	return out
}

// ofItems converts the items of a response to messages of a completion, without the model's
// reasoning.
func ofItems(list []map[string]any) (out []map[string]any) {
	for _, m := range list {
		switch m["type"] {
		default:
			if firstValue(m, "role", "content", "kwargs", "data") != nil { // also in LangChain's form
				out = append(out, m)
			}
		case "reasoning":
		case "function_call":
			f := map[string]any{"name": m["name"], "arguments": m["arguments"]}
			out = append(out, map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": m["call_id"], "function": f}}})
		case "function_call_output":
			out = append(out, map[string]any{"role": "tool", "tool_call_id": m["call_id"], "content": m["output"]})
		}
	}
	return out
}

// inOrder returns listed items from first to last. The API lists the last one first.
func inOrder(items []any) []any {
	called := make(map[any]bool)
	for _, m := range messages(items) {
		called[m["call_id"]] = called[m["call_id"]] || m["type"] == "function_call"
		answered := m["type"] == "function_call_output" && !called[m["call_id"]]
		if says := m["type"] == "message"; answered || says && m["role"] == "assistant" {
			slices.Reverse(items)
			break
		} else if says && m["role"] == "user" {
			break
		}
	}
	return items
}

// completions reads stored completions. An agent that calls tools has one completion for each step,
// with all messages before it. A completion that another one continues belongs to the same session.
func completions(data []byte) ([]config.Session, error) {
	list, err := documents(data, "data")
	if err != nil {
		return nil, fmt.Errorf("reading stored completions: %w", err)
	}
	var from []stored
	at := func(id string) *stored {
		i := slices.IndexFunc(from, func(c stored) bool { return c.ID == id && id != "" })
		if i < 0 {
			i, from = len(from), append(from, stored{ID: id})
		}
		return &from[i]
	}
	var items []any // of a response that has not been read yet
	open := ""      // the previous response, if it has no input yet
	hand := func(id string) {
		if i := slices.IndexFunc(from, func(c stored) bool { return c.ID == id }); i >= 0 && len(items) > 0 {
			from[i].Input, items = items, nil
		}
	}
	for _, raw := range list {
		var c stored
		var m map[string]any
		if err := errors.Join(exact(raw, &c), exact(raw, &m)); err != nil {
			return nil, fmt.Errorf("reading stored completions: %w", err)
		}
		if c.Type != "" {
			items = append(items, m)
			continue
		}
		if c.Role != "" {
			if m["content"] == nil {
				m["content"] = m["content_parts"]
			}
			of := at(c.ID[:max(0, strings.LastIndexByte(c.ID, '-'))]) // ids are COMPLETION-0, COMPLETION-1, ...
			of.Messages = append(listed(of.Messages), m)
			continue
		}
		into := at(c.ID)
		if c.Messages == nil {
			c.Messages = into.Messages // they were listed before the completion
		}
		*into = c
		if c.Output != nil {
			if hand(open); c.Input == nil {
				open = c.ID
			}
			if len(items) > 0 {
				hand(c.ID)
				open = ""
			}
		}
	}
	if hand(open); len(items) > 0 {
		from = append(from, stored{Input: items})
	}
	var all [][]map[string]any
	for i := range from {
		said := from[i].allMessages()
		switch id := from[i].ID; {
		case len(said) == 1 && len(from[i].Choices) > 0:
			return nil, fmt.Errorf("reading stored completions: %s has an answer without the messages that it answers: add to the file what the API lists at /chat/completions/%s/messages", id, id)
		case from[i].Output != nil && from[i].Input == nil:
			return nil, fmt.Errorf("reading stored responses: %s has an answer without its input: add to the file what the API lists at /responses/%s/input_items", id, id)
		}
		before := slices.IndexFunc(from[:i], func(c stored) bool { return c.ID == from[i].Previous && c.ID != "" })
		if before >= 0 && !sameMessages(said[:min(1, len(said))], all[before][:min(1, len(all[before]))]) {
			said = append(slices.Clip(all[before]), said...)
		}
		all = append(all, said)
	}
	var out []config.Session
	for i, said := range all {
		begins := func(longer []map[string]any) bool {
			return len(longer) > len(said) && sameMessages(longer[:len(said)], said)
		}
		again := slices.ContainsFunc(all[:i], func(k []map[string]any) bool { return sameMessages(k, said) })
		if again || slices.ContainsFunc(all, begins) {
			continue
		}
		if s, ok := spokenSession(said); ok {
			s.ID = from[i].ID
			if s.ID == "" {
				s.ID = fmt.Sprintf("completion-%d", i+1)
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// sameMessages compares what messages say. It ignores empty keys, which differ between requests and
// answers.
func sameMessages(a, b []map[string]any) bool {
	return slices.EqualFunc(a, b, func(x, y map[string]any) bool {
		return x["role"] == y["role"] && contentText(x["content"]) == contentText(y["content"]) && reflect.DeepEqual(messages(x["tool_calls"]), messages(y["tool_calls"]))
	})
}

// spokenSession returns a session whose input is what a user said last, with what followed.
// Everything said before is its context.
func spokenSession(list []map[string]any) (s config.Session, ok bool) {
	last := -1
	for i, m := range list {
		if m["role"] == "user" {
			last = i
		}
	}
	if last < 0 {
		return s, false
	}
	s = config.Session{Source: "openai", Contract: "default", Input: contentText(list[last]["content"])}
	for _, m := range list[:last] {
		role := text(m["role"])
		if content := contentText(m["content"]); content != "" && (role == "user" || role == "assistant") {
			s.Context = append(s.Context, config.Message{Role: role, Content: content})
		}
	}
	var c conversation
	c.messages(list[last:])
	s.Tools = c.tools
	if end := list[len(list)-1]; end["role"] == "assistant" {
		s.Reply = contentText(end["content"])
	}
	return s, s.Input != ""
}
