package record_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
)

func read(t *testing.T, text string) []config.Session {
	t.Helper()
	list, diags := record.Read("f", []byte(text), config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return list
}

func TestReplayFiles(t *testing.T) {
	s := read(t, "id: a\ninput: hello\nreply: hi\ntool_responses:\n  - {tool: search, response: {n: 1}, status: 200, latency_ms: 12}\n  - {tool: book, response: \"full\"}\n")[0]
	if s.ID != "a" || s.Reply != "hi" || s.Contract != "default" || len(s.Tools) != 2 || s.Tools[0].Body != `{"n":1}` || s.Tools[0].Latency != 12*time.Millisecond || !s.Tools[1].Text {
		t.Errorf("%+v", s)
	}
	again := read(t, string(record.Format(s)))[0]
	again.At = s.At
	if !reflect.DeepEqual(s, again) {
		t.Errorf("%+v became %+v", s, again)
	}
	if s := read(t, `{"id": "j", "input": "x", "contract": "c"}`)[0]; s.ID != "j" || s.Contract != "c" {
		t.Errorf("%+v", s)
	}
}

// What a tool gave has the same type, the same number and the same order when
// it is read again.
func TestValuesAreReadAsTheyWere(t *testing.T) {
	for _, body := range []string{`null`, `true`, `7`, `7.0`, `12345678901234567890`, `1e-07`, `1e+22`, `"x"`, `[]`, `{}`, `[1,"2",[3.5],{"b":1,"a":null}]`, `{"half a pair":"\ud800"}`,
		`{"z":"yes","a":"no","010":"010","1:30":"1:30","d":"2026-01-01","e":"","n":"null","f":"1e5","m":" a\n  b ","t":"~","k":"key: # value","<<":"="}`} {
		s := config.Session{ID: "a", Source: "recorded", Input: "x", Contract: "c", Tools: []config.ToolResponse{{Tool: "t", Body: body}}}
		if body == `null` {
			s.Tools[0].Body = ""
		}
		var text string
		if json.Unmarshal([]byte(body), &text) == nil && body != `null` {
			s.Tools[0].Body, s.Tools[0].Text = text, true
		}
		file := string(record.Format(s))
		if again := read(t, file)[0]; !reflect.DeepEqual(again.Tools, s.Tools) {
			t.Errorf("%s became %+v by way of\n%s", body, again.Tools, file)
		}
	}
	s := config.Session{ID: "a", Source: "recorded", Input: "x", Contract: "c", LeftOut: []string{"call 3"}, Tools: []config.ToolResponse{
		{Tool: "t", Body: "gone", Text: true, Raises: "KeyError"}, {Tool: "t", Body: "<p>\xff", Text: true, Status: 200, ContentType: "text/html"},
		{Tool: "t", Connection: "reset"}, {Tool: "t", Body: "{", Text: true, Connection: "closed"}}}
	again := read(t, string(record.Format(s)))[0]
	if !reflect.DeepEqual(again.Tools, s.Tools) || !strings.HasPrefix(string(record.Format(s)), "# left out: call 3\n") {
		t.Errorf("%+v", again)
	}
}

func TestLangSmith(t *testing.T) {
	for name, text := range map[string]string{
		"nested": `{"id":"r1","name":"agent","run_type":"chain","inputs":{"input":"Where is it?"},"error":"boom","start_time":"2026-01-01T00:00:00",
			"child_runs":[{"id":"t1","name":"search","run_type":"tool","inputs":{"q":"x"},"outputs":{"output":"found"},"start_time":"2026-01-01T00:00:01","end_time":"2026-01-01T00:00:01.250"}]}`,
		"flat": `[{"id":"r1","name":"agent","run_type":"chain","inputs":{"messages":[[{"type":"human","content":"Where is it?"}]]},"error":"boom","start_time":"2026-01-01T00:00:00"},
			{"id":"c1","parent_run_id":"r1","name":"llm","run_type":"llm","start_time":"2026-01-01T00:00:00.5"},
			{"id":"t1","parent_run_id":"c1","name":"search","run_type":"tool","outputs":{"output":"found"},"start_time":"2026-01-01T00:00:01Z","end_time":"2026-01-01T00:00:01.250Z"}]`,
		"within a trace, and told twice": `[{"id":"r1","parent_run_id":"left out","name":"agent","run_type":"chain","inputs":{"input":"Where is it?"},"error":"boom",
			"child_runs":[{"id":"t1","name":"search","run_type":"tool","outputs":{"output":"found"},"start_time":"2026-01-01T00:00:01Z","end_time":"2026-01-01T00:00:01.250Z"}]},
			{"id":"t1","parent_run_id":"r1","name":"search","run_type":"tool","outputs":{"output":"found"},"start_time":"2026-01-01T00:00:01Z","end_time":"2026-01-01T00:00:01.250Z"}]`,
		"in bulk": `{"id":"r1","name":"agent","run_type":"chain","inputs":"{\"input\":\"Where is it?\"}","outputs":null,"error":"boom"}
			{"id":"t1","parent_run_id":"r1","name":"search","run_type":"tool","inputs":"x","outputs":"{\"output\":\"found\"}","start_time":"2026-01-01T00:00:01Z","end_time":"2026-01-01T00:00:01.250Z"}`,
		"lines": `{"id":"r1","name":"agent","run_type":"chain","inputs":{"question":"Where is it?"},"error":"boom"}
			{"id":"t1","parent_run_id":"r1","name":"search","run_type":"tool","outputs":{"output":"found"},"start_time":"2026-01-01T00:00:01Z","end_time":"2026-01-01T00:00:01.250Z"}`,
	} {
		list := read(t, text)
		if len(list) != 1 || list[0].Input != "Where is it?" || list[0].Expected != "boom" || len(list[0].Tools) != 1 {
			t.Errorf("%s: %+v", name, list)
			continue
		}
		if x := list[0].Tools[0]; x.Tool != "search" || x.Body != "found" || !x.Text || x.Status != 200 || x.Latency != 250*time.Millisecond {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

func TestOTLP(t *testing.T) {
	list := read(t, `{"resourceSpans":[{"scopeSpans":[{"spans":[
		{"traceId":"t1","spanId":"a","name":"invoke_agent","startTimeUnixNano":"1000000000","endTimeUnixNano":"3000000000","status":{"code":2,"message":"gave up"},"attributes":[
			{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},
			{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Where is it?\"}]}]"}}]},
		{"traceId":"t1","spanId":"b","parentSpanId":"a","name":"execute_tool search","startTimeUnixNano":"1500000000","endTimeUnixNano":"1750000000","attributes":[
			{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"search"}},
			{"key":"gen_ai.tool.call.result","value":{"stringValue":"{\"n\":1}"}}]}]}]}]}`)
	if len(list) != 1 || list[0].ID != "t1" || list[0].Input != "Where is it?" || list[0].Expected != "gave up" || len(list[0].Tools) != 1 {
		t.Fatalf("%+v", list)
	}
	if x := list[0].Tools[0]; x.Tool != "search" || x.Text || x.Body != `{"n":1}` || x.Latency != 250*time.Millisecond {
		t.Errorf("%+v", x)
	}
}

// Traces without spans of tools have the results in the messages to the LLM, in each of the forms
// that instrumentations write.
func TestToolsInMessages(t *testing.T) {
	attributes := func(list ...string) string {
		var b strings.Builder
		for i := 0; i < len(list); i += 2 {
			value, err := json.Marshal(list[i+1])
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, `,{"key":%q,"value":{"stringValue":%s}}`, list[i], value)
		}
		return "[" + strings.TrimPrefix(b.String(), ",") + "]"
	}
	span := func(attributes, events string) string {
		return `{"traceId":"t","name":"chat","attributes":` + attributes + `,"events":[` + events + `]}`
	}
	event := func(name string, list ...string) string {
		return fmt.Sprintf(`{"name":%q,"attributes":%s}`, name, attributes(list...))
	}
	for name, spans := range map[string]string{
		"attributes": span(attributes("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"Weather"},{"type":"text","content":"?"}]}]`), "") + "," +
			span(attributes("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"Weather?"}]},
				{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"weather","arguments":{"in":"Paris"}}]},
				{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"rainy"}]}]`), ""),
		"numbered": span(attributes("gen_ai.prompt.0.role", "user", "gen_ai.prompt.0.content", `[{"type":"text","text":"Weather?"}]`,
			"gen_ai.prompt.1.role", "assistant", "gen_ai.prompt.1.tool_calls.0.id", "c1", "gen_ai.prompt.1.tool_calls.0.name", "weather",
			"gen_ai.prompt.2.role", "tool", "gen_ai.prompt.2.tool_call_id", "c1", "gen_ai.prompt.2.content", "rainy"), ""),
		"events": span("[]", event("gen_ai.user.message", "content", "Weather?")+","+
			event("gen_ai.assistant.message", "tool_calls", `[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{}"}}]`)+","+
			event("gen_ai.tool.message", "id", "c1", "content", "rainy")),
	} {
		list := read(t, `{"resourceSpans":[{"scopeSpans":[{"spans":[`+spans+`]}]}]}`)
		if len(list) != 1 || list[0].Input != "Weather?" || len(list[0].Tools) != 1 {
			t.Errorf("%s: %+v", name, list)
			continue
		}
		if x := list[0].Tools[0]; x.Tool != "weather" || x.Body != "rainy" || !x.Text {
			t.Errorf("%s: %+v", name, x)
		}
	}
	for name, spans := range map[string]string{
		"OpenInference, of a model": span(attributes("llm.input_messages.0.message.role", "user", "llm.input_messages.0.message.contents.0.message_content.type", "text",
			"llm.input_messages.0.message.contents.0.message_content.text", "Weather?",
			"llm.input_messages.1.message.role", "assistant", "llm.input_messages.1.message.tool_calls.0.tool_call.id", "c1",
			"llm.input_messages.1.message.tool_calls.0.tool_call.function.name", "weather",
			"llm.input_messages.2.message.role", "tool", "llm.input_messages.2.message.tool_call_id", "c1", "llm.input_messages.2.message.content", `{"t": 7.0}`,
			"llm.output_messages.0.message.role", "assistant", "llm.output_messages.0.message.content", "Rainy."), ""),
		"OpenInference, of a graph": span(attributes("openinference.span.kind", "CHAIN", "input.value", `{"messages": [{"role": "user", "content": "Weather?"}]}`,
			"output.value", `{"messages": [{"type": "human", "data": {"content": "Weather?", "type": "human"}}, {"type": "ai", "data": {"content": "Rainy.", "type": "ai"}}]}`), "") + "," +
			span(attributes("openinference.span.kind", "TOOL", "tool.name", "weather", "input.value", "Oslo",
				"output.value", `{"type": "tool", "data": {"content": "{\"t\": 7.0}", "tool_call_id": "c1", "type": "tool"}}`), ""),
		"OpenLLMetry, of a graph": span(attributes("traceloop.span.kind", "workflow", "traceloop.entity.input", `{"inputs": {"messages": [{"role": "user", "content": "Weather?"}]}, "tags": []}`,
			"traceloop.entity.output", `{"outputs": {"messages": [{"lc": 1, "id": ["AIMessage"], "kwargs": {"content": "Rainy.", "type": "ai"}}]}, "kwargs": {}}`), "") + "," +
			span(attributes("gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", "weather",
				"gen_ai.tool.call.result", `{"output": {"lc": 1, "id": ["ToolMessage"], "kwargs": {"content": "{\"t\": 7.0}", "tool_call_id": "c1"}}, "kwargs": {}}`), ""),
		"OpenLLMetry, of functions": span(attributes("traceloop.span.kind", "workflow", "traceloop.entity.input", `{"args": ["Weather?"], "kwargs": {}}`, "traceloop.entity.output", `"Rainy."`), "") + "," +
			span(attributes("traceloop.span.kind", "tool", "traceloop.entity.name", "weather", "traceloop.entity.output", `{"t": 7.0}`), ""),
	} {
		list := read(t, `{"resourceSpans":[{"scopeSpans":[{"spans":[`+strings.ReplaceAll(spans, `"name":"chat"`, `"name":"weather.tool"`)+`]}]}]}`)
		if len(list) != 1 || list[0].Input != "Weather?" || list[0].Reply != "Rainy." || len(list[0].Tools) != 1 {
			t.Errorf("%s: %+v", name, list)
			continue
		}
		if x := list[0].Tools[0]; x.Tool != "weather" || x.Body != `{"t":7.0}` || x.Text {
			t.Errorf("%s: %+v", name, x)
		}
	}
	list := read(t, `{"id":"r","name":"agent","run_type":"chain","inputs":{"messages":[["user","Weather?"],["ai","?"]]},"child_runs":[
		{"name":"a","run_type":"tool","outputs":{"output":{"type":"tool","content":"rainy","tool_call_id":"c"}}},
		{"name":"b","run_type":"tool","outputs":{"output":{"lc":1,"type":"constructor","id":["langchain","schema","ToolMessage"],"kwargs":{"content":[{"type":"text","text":"rainy"}]}}}}]}`)
	if len(list) != 1 || list[0].Input != "Weather?" || len(list[0].Tools) != 2 || list[0].Tools[0].Body != "rainy" || list[0].Tools[1].Body != "rainy" {
		t.Errorf("%+v", list)
	}
}

// What was said may stand in logs, beside the spans or without them.
func TestLogsOfTraces(t *testing.T) {
	body := func(members string) string { return `"body":{"kvlistValue":{"values":[` + members + `]}}` }
	text := func(key, value string) string {
		return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, key, value)
	}
	logs := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[
		{"traceId":"t","spanId":"b","timeUnixNano":"3","eventName":"gen_ai.choice",` + body(`{"key":"message","value":{"kvlistValue":{"values":[`+text("content", "Rainy.")+`]}}}`) + `},
		{"traceId":"t","spanId":"a","observedTimeUnixNano":"1","eventName":"gen_ai.user.message",` + body(text("content", "Weather?")) + `},
		{"traceId":"t","spanId":"a","timeUnixNano":"2","attributes":[` + text("event.name", "gen_ai.choice") + `],` + body(`{"key":"message","value":{"kvlistValue":{"values":[{"key":"tool_calls","value":
			{"arrayValue":{"values":[{"kvlistValue":{"values":[`+text("id", "c1")+`,{"key":"function","value":{"kvlistValue":{"values":[`+text("name", "weather")+`]}}}]}}]}}}]}}}`) + `},
		{"traceId":"t","spanId":"b","timeUnixNano":"2","eventName":"gen_ai.tool.message",` + body(text("id", "c1")+","+text("content", "rainy")) + `}]}]}]}`
	spans := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"a","name":"chat"},{"traceId":"t","spanId":"b","name":"chat","startTimeUnixNano":"2"}]}]}]}`
	for _, data := range []string{logs, spans + "\n" + logs, logs + "\n" + strings.Replace(spans, "resourceSpans", "batches", 1)} {
		list := read(t, data)
		if len(list) != 1 || list[0].Input != "Weather?" || list[0].Reply != "Rainy." || len(list[0].Tools) != 1 || list[0].Tools[0].Tool != "weather" || list[0].Tools[0].Body != "rainy" {
			t.Errorf("%+v", list)
		}
	}
}

// What the agent had answered is kept, in each of the forms that recordings
// have; what a tool gave, or a span within, does not count.
func TestReplies(t *testing.T) {
	said := func(attributes string) string {
		return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","name":"chat","attributes":[
			{"key":"gen_ai.prompt","value":{"stringValue":"Weather?"}}` + attributes + `}]}]}]}`
	}
	attribute := func(key, value string) string {
		return fmt.Sprintf(`,{"key":%q,"value":{"stringValue":%q}}`, key, value)
	}
	for name, text := range map[string]string{
		"a name":        `{"run_type":"chain","inputs":{"input":"Weather?"},"outputs":{"steps":[],"output":"Rainy."}}`,
		"the only text": `{"run_type":"chain","inputs":{"input":"Weather?"},"outputs":{"verdict":"Rainy."}}`,
		"a message":     `{"run_type":"chain","inputs":{"input":"Weather?"},"outputs":{"output":{"type":"ai","content":[{"type":"text","text":"Rainy."}]}}}`,
		"messages":      `{"run_type":"chain","inputs":{"input":"Weather?"},"outputs":{"messages":[["user","Weather?"],["ai","Rainy."],["tool","x"]]}}`,
		"serialised":    `{"run_type":"chain","inputs":{"input":"Weather?"},"outputs":{"messages":[{"lc":1,"id":["langchain","AIMessage"],"kwargs":{"content":"Rainy."}}]}}`,
		"attributes":    said(attribute("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"reasoning","content":"so"},{"type":"text","content":"Rainy."}]}]`) + "]"),
		"numbered":      said(attribute("gen_ai.completion.0.role", "assistant") + attribute("gen_ai.completion.0.content", "Rainy.") + "]"),
		"an event":      said(`],"events":[{"name":"gen_ai.choice","attributes":[` + attribute("message", `{"role":"assistant","content":"Rainy."}`)[1:] + "]}]"),
		"a value":       said(attribute("output.value", `{"answer":"Rainy."}`) + "]"),
		"the whole": said(attribute("output.value", "Rainy.") + `]},{"traceId":"t","parentSpanId":"a","name":"within","startTimeUnixNano":"9","attributes":[` +
			attribute("gen_ai.completion", "Let me see.")[1:] + `]},{"traceId":"t","name":"execute_tool search","startTimeUnixNano":"10","attributes":[` +
			attribute("gen_ai.tool.name", "search")[1:] + attribute("output.value", "found") + "]"),
	} {
		if list := read(t, text); len(list) != 1 || list[0].Reply != "Rainy." {
			t.Errorf("%s: %+v", name, list)
		}
	}
	for name, text := range map[string]string{
		"no outputs":    `{"run_type":"chain","inputs":{"input":"Weather?"},"outputs":null}`,
		"other outputs": `{"run_type":"chain","inputs":{"input":"Weather?"},"outputs":{"cost":1,"steps":[]}}`,
		"a call alone":  said(attribute("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"x"}]}]`) + "]"),
	} {
		if list := read(t, text); len(list) != 1 || list[0].Reply != "" {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// What failed is exported, not the prompt that it was made of.
func TestExport(t *testing.T) {
	list, err := record.Export([]byte(`{"version":"1.0","mutations":[
		{"original_prompt":"Hi","mutation":{"mutated":"Hi!!!","type":"noise"},"response":"Oh","passed":false,"checks":[{"check_type":"contains","passed":false,"details":"missing"}]},
		{"original_prompt":"Hi","mutation":{"mutated":"H","type":"noise"},"passed":true}]}`), "x")
	if err != nil || len(list) != 1 || list[0].Input != "Hi!!!" || list[0].Reply != "Oh" || list[0].Expected != "contains: missing" {
		t.Errorf("%+v %v", list, err)
	}
	list, err = record.Export([]byte(`{"findings":[{"id":"F-1","evidence":[{"title":"Replay session","text":{"body":"id: z\ninput: y\n"}}]}]}`), "Replay session")
	if err != nil || len(list) != 1 || list[0].ID != "F-1" || list[0].Input != "y" {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := record.Export([]byte(`{}`), "x"); err == nil {
		t.Error("what is not a report is taken for one")
	}
}

func TestFileName(t *testing.T) {
	for id, want := range map[string]string{"a/b": "replay-a_b.yaml", "../x": "replay-_x.yaml", strings.Repeat("y", 90): "replay-" + strings.Repeat("y", 64) + ".yaml"} {
		if got := record.FileName(id); got != want {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"run_type":"chain","inputs":{"messages":[[]]}}`))
	f.Add([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"gen_ai.prompt","value":{"arrayValue":{"values":[{}]}}}]}]}]}]}`))
	f.Add([]byte("id: a\ninput: b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, diags := record.Read("f", data, config.Options{})
		if diags.HasErrors() {
			return
		}
		for _, s := range list {
			record.Format(s)
		}
	})
}
