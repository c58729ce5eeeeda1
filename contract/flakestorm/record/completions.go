package record

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
)

// stored is a completion that OpenAI has stored, with the messages that it
// answers; exports have one a line. The API lists the messages of each by
// themselves: one such has a role.
type stored struct {
	ID       string  `json:"id"`
	Role     string  `json:"role"`
	Messages []any   `json:"messages"`
	Input    []any   `json:"input"`
	Created  float64 `json:"created"`
	Choices  []struct {
		Message map[string]any `json:"message"`
	} `json:"choices"`
	Request *struct {
		Messages []any `json:"messages"`
	} `json:"request"`
}

// allMessages are the messages, the answer included.
func (c *stored) allMessages() []map[string]any {
	list := c.Messages
	if list == nil {
		list = c.Input
	}
	if list == nil && c.Request != nil {
		list = c.Request.Messages
	}
	out := messages(list)
	if len(c.Choices) > 0 && c.Choices[0].Message != nil {
		out = append(out, c.Choices[0].Message)
	}
	return out
}

// completions reads stored completions. An agent that calls tools has one for
// each step, with all messages before: those that another one goes on from are
// the same session.
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
	for _, raw := range list {
		var c stored
		if err := exact(raw, &c); err != nil {
			return nil, fmt.Errorf("reading stored completions: %w", err)
		}
		if c.Role != "" {
			var m map[string]any
			_ = exact(raw, &m) // was read above
			if m["content"] == nil {
				m["content"] = m["content_parts"]
			}
			of := at(c.ID[:max(0, strings.LastIndexByte(c.ID, '-'))]) // COMPLETION-0, COMPLETION-1, ...
			of.Messages = append(of.Messages, m)
			continue
		}
		into := at(c.ID)
		if c.Messages == nil {
			c.Messages = into.Messages // listed before it
		}
		*into = c
	}
	var all [][]map[string]any
	for i := range from {
		said := from[i].allMessages()
		if len(said) == 1 && len(from[i].Choices) > 0 {
			return nil, fmt.Errorf("reading stored completions: %s has an answer without the messages that it answers: add to the file what the API lists at /chat/completions/%s/messages", from[i].ID, from[i].ID)
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

// sameMessages compares messages by what they say: the keys that are empty differ
// between requests and answers.
func sameMessages(a, b []map[string]any) bool {
	return slices.EqualFunc(a, b, func(x, y map[string]any) bool {
		return x["role"] == y["role"] && contentText(x["content"]) == contentText(y["content"]) && reflect.DeepEqual(messages(x["tool_calls"]), messages(y["tool_calls"]))
	})
}

// spokenSession is what a user said last with what followed; what was said before
// is its context.
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
