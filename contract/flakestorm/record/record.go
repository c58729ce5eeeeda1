package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// Read reads the sessions of one file. Its diagnostics have positions if the file is of a type that
// people write.
func Read(file string, data []byte, o config.Options) ([]config.Session, diag.List) {
	text := bytes.TrimSpace(data)
	if list := rows(text); list != nil {
		text = list
	}
	read := reader(text)
	if read == nil {
		s, diags := config.DecodeSession(file, data, o)
		return []config.Session{s}, diags
	}
	list, err := read(text)
	if err != nil {
		return nil, refused(file, "%v", err)
	}
	if len(list) == 0 {
		return nil, refused(file, "the export has no session: nothing in it has an input")
	}
	return list, nil
}

// reader returns the function that reads an export, chosen by the keys of the objects in it; what a
// tool or a model said may have any keys. It returns nil for a replay file.
func reader(data []byte) func([]byte) ([]config.Session, error) {
	list, _ := documents(data, "data", "traces", "runs") // the readable part of a broken file may be enough
	for _, raw := range list {
		var keys map[string]json.RawMessage
		_ = json.Unmarshal(raw, &keys) // anything but an object has no keys
		any := func(names ...string) bool {
			return slices.ContainsFunc(names, func(k string) bool { return keys[k] != nil })
		}
		switch {
		case any("tool_responses"):
			return nil
		case any("resourceSpans", "resourceLogs", "batches"):
			return traces
		case any("run_type", "child_runs", "inputs"):
			return langsmith
		case any("observations", "traceId", "trace_id", "parentObservationId") || any("timestamp") && any("input"):
			return langfuse
		case any("messages", "choices", "role", "call_id"), any("object") && any("output"):
			return completions
		}
	}
	return nil
}

func refused(file, format string, args ...any) diag.List {
	return diag.List{{Code: "flakestorm.session", Pos: diag.Pos{File: file, Line: 1, Col: 1}, Message: fmt.Sprintf(format, args...)}}
}

// written is a session in the form of a replay file.
type written struct {
	ID       string     `yaml:"id" json:"id"`
	Name     string     `yaml:"name,omitempty" json:"name,omitempty"`
	Source   string     `yaml:"source" json:"source"`
	Captured string     `yaml:"captured_at,omitempty" json:"captured_at,omitempty"`
	Input    string     `yaml:"input" json:"input"`
	Context  []message  `yaml:"context,omitempty" json:"context,omitempty"`
	Tools    []response `yaml:"tool_responses" json:"tool_responses"`
	Model    string     `yaml:"model,omitempty" json:"model,omitempty"`
	Models   []reply    `yaml:"model_responses,omitempty" json:"model_responses,omitempty"`
	Trace    []string   `yaml:"trace,omitempty" json:"trace,omitempty"`
	Reply    string     `yaml:"reply,omitempty" json:"reply,omitempty"`
	Expected string     `yaml:"expected_failure,omitempty" json:"expected_failure,omitempty"`
	Contract string     `yaml:"contract" json:"contract"`
}

type message struct {
	Role    string `yaml:"role" json:"role"`
	Content string `yaml:"content" json:"content"`
}

type response struct {
	Tool   string `yaml:"tool" json:"tool"`
	answer `yaml:",inline"`
}

type reply struct {
	Model  string `yaml:"model,omitempty" json:"model,omitempty"`
	Asked  string `yaml:"asked,omitempty" json:"asked,omitempty"`
	answer `yaml:",inline"`
}

type answer struct {
	Response  any    `yaml:"response" json:"response"`
	Status    int    `yaml:"status,omitempty" json:"status,omitempty"`
	Type      string `yaml:"content_type,omitempty" json:"content_type,omitempty"`
	Raises    string `yaml:"raises,omitempty" json:"raises,omitempty"`
	Ended     string `yaml:"connection,omitempty" json:"connection,omitempty"`
	LatencyMS int64  `yaml:"latency_ms,omitempty" json:"latency_ms,omitempty"`
}

func answerOf(t *config.ToolResponse) answer {
	a := answer{Response: t.Body, Status: t.Status, Type: t.ContentType, Raises: t.Raises, Ended: t.Connection, LatencyMS: t.Latency.Milliseconds()}
	switch {
	case !t.Text && t.Body == "":
		a.Response = nil
	case !t.Text:
		a.Response = asYAML(t.Body)
	}
	return a
}

// Format returns a session as a replay file.
func Format(s config.Session) []byte {
	w := written{
		ID: s.ID, Name: s.Name, Source: s.Source, Captured: s.CapturedAt, Input: s.Input, Reply: s.Reply, Expected: s.Expected, Contract: s.Contract, Tools: []response{},
		Model: s.Model, Trace: s.Trace,
	}
	for _, m := range s.Context {
		w.Context = append(w.Context, message(m))
	}
	for i := range s.Tools {
		w.Tools = append(w.Tools, response{s.Tools[i].Tool, answerOf(&s.Tools[i])})
	}
	for i := range s.Models {
		w.Models = append(w.Models, reply{s.Models[i].Tool, s.Models[i].Asked, answerOf(&s.Models[i])})
	}
	var b bytes.Buffer
	for _, what := range s.LeftOut {
		fmt.Fprintf(&b, "# left out: %s\n", strings.Join(strings.Fields(what), " "))
	}
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	_ = e.Encode(w) // plain values cannot fail
	return b.Bytes()
}

// FileName returns a name for a session's file: the letters of its id that file systems accept, at
// most 64.
func FileName(id string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, id)
	name = strings.TrimLeft(name, ".")
	return "replay-" + name[:min(len(name), 64)] + ".yaml"
}

// text returns a value as a prompt or a reply: a string as it is, anything else as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if v == nil {
		return ""
	}
	b, _ := json.Marshal(v) // it was decoded from JSON
	return string(b)
}

// body stores a tool's result in a recorded response. A string stays a string, whatever it
// contains.
func body(r *config.ToolResponse, v any) {
	switch x := v.(type) {
	case nil:
	case string:
		r.Body, r.Text = x, true
	default:
		r.Body = text(v)
	}
}

// structured decodes an object or a list that was written as JSON text because its place takes only
// text. It returns other text as it is.
func structured(v any) any {
	if s, ok := v.(string); ok {
		if t := strings.TrimSpace(s); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			return decoded(t)
		}
	}
	return v
}

// asYAML converts JSON to YAML that is read as the same value: integers stay integers, and numbers
// with a fraction of zero keep it. Text that is not JSON becomes a string.
func asYAML(text string) *yaml.Node {
	d, err := jsontree.Parse([]byte(text), jsontree.Options{LoneSurrogates: true})
	if err != nil {
		return quoted(text)
	}
	return node(&d.Root)
}

func node(n *jsontree.Node) *yaml.Node {
	scalar := func(tag, text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text} }
	switch n.Kind {
	case jsontree.Null:
		return scalar("!!null", "null")
	case jsontree.Bool:
		if n.Bool {
			return scalar("!!bool", "true")
		}
		return scalar("!!bool", "false")
	case jsontree.Int:
		return scalar("!!int", n.Text)
	case jsontree.Float:
		text := n.Text
		if mantissa, exponent, ok := strings.Cut(text, "e"); ok && !strings.Contains(mantissa, ".") {
			text = mantissa + ".0e" + exponent // YAML 1.1 requires the point in such a number
		}
		return scalar("!!float", text)
	case jsontree.Array:
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if len(n.Items) == 0 {
			list.Style = yaml.FlowStyle
		}
		for i := range n.Items {
			list.Content = append(list.Content, node(&n.Items[i]))
		}
		return list
	case jsontree.Object:
		m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if len(n.Members) == 0 {
			m.Style = yaml.FlowStyle
		}
		for i := range n.Members {
			m.Content = append(m.Content, quoted(n.Members[i].Key), node(&n.Members[i].Value))
		}
		return m
	}
	return quoted(n.Text)
}

// plainText matches text that every version of YAML takes for a string without quotes, except for
// the words for true, false and null.
var (
	plainText = lazy.Pattern(`^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)
	otherWord = lazy.Pattern(`^(?i:y|n|yes|no|on|off|true|false|null)$`)
)

func quoted(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text) // in block style, if it has several lines
	if n.Style == 0 && n.Tag == "!!str" && (!plainText().MatchString(text) || otherWord().MatchString(text)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
