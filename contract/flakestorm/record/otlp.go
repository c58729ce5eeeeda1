package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/seq"
)

// span holds the parts of an OTLP span in JSON that are read.
type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId"`
	Name       string      `json:"name"`
	Start      json.Number `json:"startTimeUnixNano"`
	End        json.Number `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Events     []event     `json:"events"`
	Status     struct {
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
	} `json:"status"`
}

type resourceSpans struct {
	Scopes []struct {
		Spans []span `json:"spans"`
	} `json:"scopeSpans"`
}

type event struct {
	Name       string      `json:"name"`
	Attributes []attribute `json:"attributes"`
}

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

type value struct {
	String *string      `json:"stringValue"`
	Int    *json.Number `json:"intValue"`
	Double *json.Number `json:"doubleValue"`
	Bool   *bool        `json:"boolValue"`
	Array  *struct {
		Values []value `json:"values"`
	} `json:"arrayValue"`
	Map *struct {
		Values []attribute `json:"values"`
	} `json:"kvlistValue"`
}

// decoded returns a value as encoding/json would have decoded it.
func (v value) decoded() any {
	switch {
	case v.String != nil:
		return *v.String
	case v.Int != nil:
		return *v.Int
	case v.Double != nil:
		return *v.Double
	case v.Bool != nil:
		return *v.Bool
	case v.Array != nil:
		return seq.Map(v.Array.Values, func(x value) any { return x.decoded() })
	case v.Map != nil:
		m := make(map[string]any)
		for _, a := range v.Map.Values {
			m[a.Key] = a.Value.decoded()
		}
		return m
	}
	return nil
}

func get(list []attribute, keys ...string) any {
	for _, k := range keys {
		for _, a := range list {
			if a.Key == k {
				return a.Value.decoded()
			}
		}
	}
	return nil
}

// traces reads one session from each trace: the first prompt of a user in it, and the results of
// the tools that were executed, either as their spans record them or as the LLM was told about
// them. Logs count as events of the spans that they name: instrumentations record what was said
// either as logs or as events.
func traces(data []byte) ([]config.Session, error) {
	by := make(map[string][]span)
	var order []string
	at := func(id string) {
		if by[id] == nil {
			order = append(order, id)
		}
	}
	var logs []logRecord
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var doc struct {
			Resources []resourceSpans `json:"resourceSpans"`
			Batches   []resourceSpans `json:"batches"` // Tempo's name for them
			Logs      []struct {
				Scopes []struct {
					Records []logRecord `json:"logRecords"`
				} `json:"scopeLogs"`
			} `json:"resourceLogs"`
		}
		if err := d.Decode(&doc); err != nil {
			return nil, fmt.Errorf("reading OTLP traces: %w", err)
		}
		for _, r := range append(doc.Resources, doc.Batches...) {
			for _, sc := range r.Scopes {
				for _, s := range sc.Spans {
					at(s.TraceID)
					by[s.TraceID] = append(by[s.TraceID], s)
				}
			}
		}
		for _, r := range doc.Logs {
			for _, sc := range r.Scopes {
				logs = append(logs, sc.Records...)
			}
		}
	}
	sort.SliceStable(logs, func(i, j int) bool { return nanos(logs[i].timestamp()) < nanos(logs[j].timestamp()) })
	for i := range logs {
		at(logs[i].TraceID)
		by[logs[i].TraceID] = logs[i].join(by[logs[i].TraceID])
	}
	var out []config.Session
	for _, id := range order {
		spans := by[id]
		sort.SliceStable(spans, func(i, j int) bool { return nanos(spans[i].Start) < nanos(spans[j].Start) })
		s := config.Session{ID: id, Source: "otlp", Contract: "default"}
		var said conversation
		whole := false // a span without a parent had the reply: those inside it know no better
		for i := range spans {
			read(&s, &spans[i])
			said.read(&spans[i])
			if r, root := replyOf(&spans[i]), spans[i].Parent == ""; r != "" && (root || !whole) && toolName(&spans[i]) == "" {
				s.Reply, whole = r, root
			}
		}
		if len(s.Tools) == 0 {
			s.Tools = said.tools
		}
		if s.Input != "" {
			out = append(out, s)
		}
	}
	return out, nil
}

// read adds what one span records.
func read(s *config.Session, x *span) {
	if s.Name == "" {
		s.Name = x.Name
		s.CapturedAt = time.Unix(0, nanos(x.Start)).UTC().Format(time.RFC3339)
	}
	if failed(x) && s.Expected == "" {
		s.Expected = x.Status.Message
		if s.Expected == "" {
			s.Expected = x.Name + " failed"
		}
	}
	if tool := toolName(x); tool != "" {
		t := config.ToolResponse{Tool: tool, Status: 200, Latency: time.Duration(max(0, nanos(x.End)-nanos(x.Start))).Truncate(time.Millisecond)}
		v := get(x.Attributes, "gen_ai.tool.call.result", "gen_ai.tool.message", "output.value", "traceloop.entity.output")
		if s, ok := v.(string); ok && get(x.Attributes, "traceloop.entity.output") == v {
			v = decoded(s) // it is JSON, whatever type the tool returned
		}
		if failed(x) {
			t.Status = 500
			if v == nil {
				v = x.Status.Message
			}
		}
		body(&t, toolResult(v))
		s.Tools = append(s.Tools, t)
		return
	}
	if s.Input == "" {
		s.Input = promptOf(x)
	}
}

func toolName(x *span) string {
	if op := get(x.Attributes, "gen_ai.operation.name"); op == "execute_tool" {
		if n, ok := get(x.Attributes, "gen_ai.tool.name").(string); ok {
			return n
		}
		return strings.TrimPrefix(x.Name, "execute_tool ")
	}
	if n, ok := get(x.Attributes, "gen_ai.tool.name").(string); ok {
		return n
	}
	if n, ok := get(x.Attributes, "tool.name").(string); ok && get(x.Attributes, "openinference.span.kind") == "TOOL" {
		return n
	}
	if get(x.Attributes, "openinference.span.kind") == "TOOL" || get(x.Attributes, "traceloop.span.kind") == "tool" {
		return strings.TrimSuffix(x.Name, ".tool")
	}
	return ""
}

func failed(x *span) bool {
	code := strings.Trim(string(x.Status.Code), `"`)
	return code == "2" || code == "STATUS_CODE_ERROR"
}

// promptOf returns the last thing that a user said in a span: as message attributes, as numbered
// attributes, or as events.
func promptOf(x *span) string {
	if s := lastOf("user", get(x.Attributes, "gen_ai.input.messages", "gen_ai.prompt")); s != "" {
		return s
	}
	for _, of := range told {
		for list := numbered(x.Attributes, of); len(list) > 0; list = list[:len(list)-1] {
			if m := list[len(list)-1]; m["role"] == "user" && m["content"] != nil {
				return contentText(decodedList(m["content"]))
			}
		}
	}
	for i := len(x.Events) - 1; i >= 0; i-- {
		e := x.Events[i]
		switch e.Name {
		case "gen_ai.user.message":
			return contentText(decodedList(get(e.Attributes, "content", "gen_ai.prompt")))
		case "gen_ai.content.prompt", "gen_ai.client.inference.operation.details":
			if s := lastOf("user", get(e.Attributes, "gen_ai.prompt", "gen_ai.input.messages")); s != "" {
				return s
			}
		}
	}
	whole := get(x.Attributes, "input.value", "traceloop.entity.input")
	m, ok := decoded(whole).(map[string]any)
	if !ok {
		return text(whole)
	}
	if in, ok := m["inputs"].(map[string]any); ok {
		m = in
	} else if args, ok := m["args"].([]any); ok && len(args) > 0 { // the first argument of a function
		return text(args[0])
	}
	return inputOf(m)
}

// decodedList returns the list that is given as JSON in a string, or v itself if it is anything
// else.
func decodedList(v any) any {
	if list, ok := decoded(v).([]any); ok {
		return list
	}
	return v
}

// lastOf returns the last message of a role in a list of messages, which may be given as JSON in a
// string. Text that is not a list counts as one message.
func lastOf(role string, v any) string {
	v = decodedList(v)
	if s, ok := v.(string); ok {
		return s
	}
	list := messages(v)
	for i := len(list) - 1; i >= 0; i-- {
		if m := list[i]; m["role"] == role {
			if s := contentText(firstValue(m, "parts", "content")); s != "" {
				return s
			}
		}
	}
	return ""
}

func nanos(n json.Number) int64 {
	v, err := n.Int64()
	if err != nil {
		return 0
	}
	return v
}

// logRecord holds the parts of an OTLP log in JSON that are read. The conventions record what was
// said to an LLM, and by it, as events, and events are logs.
type logRecord struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Time       json.Number `json:"timeUnixNano"`
	Observed   json.Number `json:"observedTimeUnixNano"`
	Event      string      `json:"eventName"`
	Body       value       `json:"body"`
	Attributes []attribute `json:"attributes"`
}

func (l *logRecord) timestamp() json.Number {
	if nanos(l.Time) == 0 {
		return l.Observed
	}
	return l.Time
}

// join adds a log as an event to its span, or to a new span if its span is missing.
func (l *logRecord) join(spans []span) []span {
	e := event{Name: l.Event, Attributes: slices.Clone(l.Attributes)}
	if name, ok := get(l.Attributes, "event.name").(string); ok && e.Name == "" {
		e.Name = name
	}
	if l.Body.Map != nil {
		e.Attributes = append(e.Attributes, l.Body.Map.Values...)
	}
	i := slices.IndexFunc(spans, func(s span) bool { return s.SpanID == l.SpanID })
	if i < 0 {
		i = len(spans)
		spans = append(spans, span{TraceID: l.TraceID, SpanID: l.SpanID, Name: "chat", Start: l.timestamp(), End: l.timestamp()})
	}
	spans[i].Events = append(spans[i].Events, e)
	return spans
}
