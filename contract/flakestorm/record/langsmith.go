package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/seq"
)

// run holds the parts of a LangSmith run that are read, in the form of its API and its exports.
type run struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Type     string  `json:"run_type"`
	Inputs   fields  `json:"inputs"`
	Outputs  fields  `json:"outputs"`
	Error    *string `json:"error"`
	Start    string  `json:"start_time"`
	End      string  `json:"end_time"`
	Parent   string  `json:"parent_run_id"`
	Trace    string  `json:"trace_id"`
	Children []run   `json:"child_runs"`
}

// fields are the inputs or outputs of a run. Bulk exports have them as JSON in a string.
type fields map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (f *fields) UnmarshalJSON(data []byte) error {
	var v any
	if err := exact(data, &v); err != nil {
		return err
	}
	switch x := decoded(v).(type) {
	case map[string]any:
		*f = x
	case nil:
	default:
		*f = fields{"output": x}
	}
	return nil
}

// langsmith reads an export: one run, a list of runs, an object with a list under runs, or lines of
// runs. Children may be nested in their parent or name it.
func langsmith(data []byte) ([]config.Session, error) {
	list, err := documents(data, "runs")
	runs := make([]run, len(list))
	for i := 0; i < len(list) && err == nil; i++ {
		err = exact(list[i], &runs[i])
	}
	if err != nil {
		return nil, fmt.Errorf("reading a LangSmith export: %w", err)
	}
	children := make(map[string][]run)
	for _, r := range runs {
		if r.Parent != "" {
			children[r.Parent] = append(children[r.Parent], r)
		}
	}
	var out []config.Session
	for _, r := range roots(runs) {
		input := inputOf(r.Inputs)
		if input == "" {
			continue
		}
		s := config.Session{ID: r.ID, Name: r.Name, Source: "langsmith", CapturedAt: r.Start, Input: input, Reply: outputOf(r.Outputs), Contract: "default"}
		if r.Error != nil {
			s.Expected = *r.Error
		}
		var said conversation
		if s.Tools = tools(r, children, &said, 0); len(s.Tools) == 0 {
			s.Tools = said.tools
		}
		out = append(out, s)
	}
	return out, nil
}

// roots returns the runs that have no parent. In an export of a part of a trace, it returns the
// runs whose parents are missing.
func roots(runs []run) []run {
	var whole, within []run
	known := seq.SetOf(runs, func(r run) string { return r.ID })
	for _, r := range runs {
		switch {
		case r.Parent == "":
			whole = append(whole, r)
		case !known[r.Parent] && r.Type != "tool":
			within = append(within, r)
		}
	}
	if len(whole) == 0 {
		return within
	}
	return whole
}

// exact decodes JSON and keeps numbers as they are written: 7.0 is not the same as 7.
func exact(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(to)
}

// inputOf finds the prompt among a run's inputs: by the names that agents use, the last message of
// a user, the first argument of a function, the only text, or all of it.
func inputOf(in map[string]any) string {
	for _, key := range []string{"input", "question", "query", "prompt", "text", "message"} {
		if s, ok := in[key].(string); ok && s != "" {
			return s
		}
	}
	if s := promptAmong(inputMessages(in)); s != "" {
		return s
	}
	args, _ := in["args"].([]any)
	if s, ok := first(args).(string); ok {
		return s
	}
	if kw, ok := in["kwargs"].(map[string]any); ok && len(kw) > 0 {
		return inputOf(kw)
	}
	if v, ok := in["input"]; ok {
		return text(v)
	}
	for _, v := range in {
		if s, ok := v.(string); ok && len(in) == 1 {
			return s
		}
	}
	if len(in) > 0 {
		return text(in)
	}
	return ""
}

// inputMessages returns the messages among a model's inputs: the inputs themselves, or those under
// the names that requests use for messages.
func inputMessages(v any) []map[string]any {
	v = decoded(v)
	if in, ok := v.(map[string]any); ok {
		v = firstValue(in, "messages", "input")
	}
	if list, ok := v.([]any); ok && len(list) == 1 {
		if nested, ok := list[0].([]any); ok && messages(nested) != nil { // a batch of one
			v = nested
		}
	}
	return messages(v)
}

// promptAmong returns what a user said last. It skips results of tools, which Anthropic's API puts
// into messages of the user.
func promptAmong(list []map[string]any) string {
	for i := len(list) - 1; i >= 0; i-- {
		m := messageOf(list[i])
		role := text(m["role"]) + text(m["type"])
		if s := contentText(firstValue(m, "parts", "content")); s != "" && (strings.Contains(role, "user") || strings.Contains(role, "human")) {
			return s
		}
	}
	return ""
}

// messageOf returns a message in any of the forms that runs have: an object, an object serialized
// by LangChain, or a pair of role and content.
func messageOf(v any) map[string]any {
	if pair, ok := v.([]any); ok && len(pair) == 2 {
		return map[string]any{"role": pair[0], "content": pair[1]}
	}
	m, _ := v.(map[string]any)
	if data, ok := m["data"].(map[string]any); ok && data["type"] == nil && m["type"] != nil {
		data["type"] = m["type"]
		return data
	} else if ok && data["type"] == m["type"] {
		return data
	}
	kw, ok := m["kwargs"].(map[string]any)
	if !ok {
		return m
	}
	if _, typed := kw["type"]; typed {
		return kw
	}
	// The message's class is the last word of its id: HumanMessage, ToolMessage.
	out := map[string]any{"type": ""}
	maps.Copy(out, kw)
	if id, ok := m["id"].([]any); ok && len(id) > 0 {
		out["type"] = strings.ToLower(strings.TrimSuffix(text(id[len(id)-1]), "Message"))
	}
	return out
}

// resultOf returns what a tool run returned: the content, if it is in a message.
func resultOf(outputs map[string]any) any {
	var v any = outputs
	if o, ok := outputs["output"]; ok && len(outputs) == 1 {
		v = o
	}
	if m := messageOf(v); m["type"] == "tool" || m["tool_call_id"] != nil {
		if c, ok := m["content"]; ok {
			return spokenOr(c)
		}
	}
	return v
}

func first(list []any) any {
	if len(list) > 0 {
		return list[0]
	}
	return nil
}

// tools returns the tool runs below a run, in the order in which they started. said collects the
// results among the inputs of models, for traces without tool runs.
func tools(r run, by map[string][]run, said *conversation, depth int) []config.ToolResponse {
	if depth > 50 {
		return nil
	}
	if r.Type == "llm" {
		said.messages(inputMessages(map[string]any(r.Inputs)))
	}
	below := slices.Clone(r.Children)
	for _, k := range by[r.ID] { // an export may contain it twice
		if !slices.ContainsFunc(r.Children, func(c run) bool { return c.ID == k.ID }) {
			below = append(below, k)
		}
	}
	sort.SliceStable(below, func(i, j int) bool { return below[i].Start < below[j].Start })
	var out []config.ToolResponse
	for _, k := range below {
		if k.Type == "tool" {
			t := config.ToolResponse{Tool: k.Name, Status: 200, Latency: between(k.Start, k.End)}
			v := resultOf(k.Outputs)
			if k.Error != nil {
				t.Status, v = 500, *k.Error
			}
			body(&t, v)
			out = append(out, t)
		}
		out = append(out, tools(k, by, said, depth+1)...)
	}
	return out
}

func between(start, end string) time.Duration {
	a, err1 := parseTime(start)
	b, err2 := parseTime(end)
	if err1 != nil || err2 != nil || b.Before(a) {
		return 0
	}
	return b.Sub(a).Truncate(time.Millisecond)
}

func parseTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	return time.Parse("2006-01-02T15:04:05.999999999", strings.ReplaceAll(s, " ", "T")) // the format of exported tables
}
