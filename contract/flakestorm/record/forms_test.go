package record_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
)

// answers returns the answers of a session's tools: text in quotes, JSON as it is.
func answers(s config.Session) string {
	var list []string
	for _, r := range s.Tools {
		body := r.Body
		if r.Text {
			body = fmt.Sprintf("%q", body)
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %d %v %s", r.Tool, r.Status, r.Latency, body)))
	}
	return strings.Join(list, "; ")
}

// told returns all that a session holds of a conversation.
func told(s config.Session) string {
	out := fmt.Sprintf("%s %q %q %q", s.ID, s.Input, s.Reply, s.Expected)
	for _, m := range s.Context {
		out += fmt.Sprintf(" after %s %q", m.Role, m.Content)
	}
	return strings.TrimSpace(out + " " + answers(s))
}

// form is a recording with the sessions that are read from it.
type form struct{ name, text, want string }

func readForms(t *testing.T, forms []form) {
	t.Helper()
	for _, x := range forms {
		list, diags := record.Read("f", []byte(x.text), config.Options{})
		var got []string
		for _, s := range list {
			got = append(got, told(s))
		}
		if s := strings.Join(got, "\n"); diags.HasErrors() || s != x.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", x.name, diags, s, x.want)
		}
	}
}

// Runs of LangSmith differ by what wrote them: where the prompt is, and what a tool returned.
func TestFormsOfLangSmith(t *testing.T) {
	run := func(inputs, more string) string {
		return `{"id":"r","run_type":"chain","inputs":` + inputs + more + `}`
	}
	tool := func(name, more string) string {
		return `{"id":"` + name + `","run_type":"tool","name":"` + name + `"` + more + `}`
	}
	below := func(list ...string) string {
		return run(`{"input":"A?"}`, `,"child_runs":[`+strings.Join(list, ",")+"]")
	}
	gives := func(output string) string { return below(tool("find", `,"outputs":{"output":`+output+`}`)) }
	ai := func(message string) string {
		return run(`{"input":"A?"}`, `,"outputs":{"messages":[`+message+`],"n":1}`)
	}
	readForms(t, []form{
		{"a name without text", run(`{"input":"","question":"A?"}`, ""), `r "A?" "" ""`},
		{"arguments by name", run(`{"args":[],"kwargs":{"question":"A?"}}`, ""), `r "A?" "" ""`},
		{"arguments without text", run(`{"args":[{"q":7.0}],"kwargs":{}}`, ""), `r "{\"args\":[{\"q\":7.0}],\"kwargs\":{}}" "" ""`},
		{"an input that is no text", run(`{"input":{"q":7.0}}`, ""), `r "{\"q\":7.0}" "" ""`},
		{"the only text", run(`{"topic":"A?"}`, ""), `r "A?" "" ""`},
		{"one of two", run(`{"topic":"A?","n":2}`, ""), `r "{\"n\":2,\"topic\":\"A?\"}" "" ""`},
		{"one thing", run(`{"n":2}`, ""), `r "{\"n\":2}" "" ""`},
		{"one pair", run(`{"messages":[["user","A?"]]}`, ""), `r "A?" "" ""`},
		{"the last of a user", run(`{"messages":[["user","A?"],["ai","B"],["user","C?"],["ai","D"]]}`, ""), `r "C?" "" ""`},
		{"runs without an input", run("{}", "") + "\n" + run(`{"input":"A?"}`, ""), `r "A?" "" ""`},
		{"a part of a trace", `[{"id":"b","parent_run_id":"a","run_type":"chain","inputs":{"input":"B?"}},{"id":"a","parent_run_id":"z","run_type":"chain","inputs":{"input":"A?"}},
			{"id":"c","parent_run_id":"y","run_type":"tool","inputs":{"input":"C?"}}]`, `a "A?" "" ""`},
		{"a type beside the message", ai(`{"type":"ai","data":{"content":"B"}}`), `r "A?" "B" ""`},
		{"a message of LangChain without an id", ai(`["ai","B"],{"id":[],"kwargs":{"content":"C"}},{"kwargs":{"content":"D"}},["x"]`), `r "A?" "B" ""`},
		{"a message of LangChain with a short id", ai(`{"id":["AIMessage"],"kwargs":{"content":"B"}}`), `r "A?" "B" ""`},
		{"a number", gives("7.0"), `r "A?" "" "" find 200 0s 7.0`},
		{"a message by its call", gives(`{"tool_call_id":"c","content":"x"}`), `r "A?" "" "" find 200 0s "x"`},
		{"what looks like a message", gives(`{"content":"x","n":1}`), `r "A?" "" "" find 200 0s {"content":"x","n":1}`},
		{"a tool that failed", below(tool("find", `,"error":"no route","outputs":null`)), `r "A?" "" "" find 500 0s "no route"`},
		{"tools in the order in which they began",
			below(tool("c", `,"start_time":"2026-01-01T00:00:03Z"`), tool("a", `,"start_time":"2026-01-01T00:00:01Z"`), tool("b", `,"start_time":"2026-01-01T00:00:01Z"`)),
			`r "A?" "" "" a 200 0s null; b 200 0s null; c 200 0s null`},
		{"times that are none",
			below(tool("a", `,"start_time":"2026-01-01T00:00:03Z","end_time":"2026-01-01T00:00:02Z"`), tool("b", `,"start_time":"2026-01-01T00:00:03Z","end_time":"?"`), tool("c", `,"start_time":"?","end_time":"2026-01-01T00:00:03Z"`)),
			`r "A?" "" "" a 200 0s null; b 200 0s null; c 200 0s null`},
		{"times of a table", below(tool("a", `,"start_time":"2026-01-01 00:00:03","end_time":"2026-01-01 00:00:03.0456"`)), `r "A?" "" "" a 200 45ms null`},
	})

	// A run that is its own parent ends somewhere.
	list := read(t, run(`{"input":"A?"}`, "")+"\n"+`{"id":"r","parent_run_id":"r","run_type":"tool","name":"find"}`)
	if len(list) != 1 || len(list[0].Tools) != 51 {
		t.Errorf("a run within itself: %d sessions, %d answers", len(list), len(list[0].Tools))
	}
}

// Traces of Langfuse come whole, or as their steps alone, in any order.
func TestFormsOfLangfuse(t *testing.T) {
	step := func(id, trace, kind, more string) string {
		return fmt.Sprintf(`{"id":%q,"traceId":%q,"type":%q,"name":%q%s}`, id, trace, kind, id, more)
	}
	trace := func(more string) string { return `{"id":"t","name":"ask","timestamp":"x"` + more + `}` }
	readForms(t, []form{
		{"a type without a trace", `{"id":"t","type":"SPAN","observations":[],"input":"A?"}`, `t "A?" "" ""`},
		{"two first steps of a trace, and another trace", step("a", "t", "SPAN", `,"input":"A?"`) + step("b", "t", "SPAN", `,"input":"B?"`) + step("c", "u", "SPAN", `,"input":"C?"`),
			`t "A?" "" ""` + "\n" + `u "C?" "" ""`},
		{"a trace after its steps", step("a", "t", "SPAN", `,"input":"A?"`) + step("c", "u", "SPAN", `,"input":"C?"`) + trace(`,"input":"T?"`),
			`u "C?" "" ""` + "\n" + `t "T?" "" ""`},
		{"the input of a step", trace(`,"observations":[` + step("f", "t", "TOOL", `,"input":"F?","output":"x"`) + "," + step("a", "t", "SPAN", `,"input":"A?"`) + "," + step("b", "t", "SPAN", `,"input":"B?"`) + "]"),
			`t "A?" "" "" f 200 0s "x"`},
		{"a trace with an input", trace(`,"input":"T?","observations":[` + step("a", "t", "SPAN", `,"input":"A?"`) + "]"), `t "T?" "" ""`},
		{"the first error", trace(`,"input":"T?","observations":[` + step("a", "t", "SPAN", `,"level":"DEFAULT","statusMessage":"well"`) + "," +
			step("b", "t", "SPAN", `,"level":"ERROR","statusMessage":"first"`) + "," + step("c", "t", "SPAN", `,"level":"ERROR","statusMessage":"second"`) + "]"), `t "T?" "" "first"`},
		{"tools in the order in which they began", trace(`,"input":"T?","observations":[` + step("c", "t", "TOOL", `,"startTime":"3","output":{"output":"z"}`) + "," +
			step("a", "t", "TOOL", `,"startTime":"1","output":"[1]"`) + "," + step("b", "t", "TOOL", `,"startTime":"1"`) + "]"), `t "T?" "" "" a 200 0s [1]; b 200 0s null; c 200 0s "z"`},
		{"a number and more", trace(`,"input":"4711 please"`), `t "4711 please" "" ""`},
		{"an object and more", trace(`,"input":"{\"question\":\"B?\"} A?"`), `t "{\"question\":\"B?\"} A?" "" ""`},
		{"a number", trace(`,"input":7.0`), `t "7.0" "" ""`},
		{"parts", trace(`,"input":[{"role":"user","content":["A",{"type":"image"},{"type":"text","text":"?"}]}]`), `t "A?" "" ""`},
	})
	if s := read(t, trace(`,"input":"A?"`))[0]; s.Name != "ask" || s.CapturedAt != "x" {
		t.Errorf("%+v", s)
	}
}

// Completions and responses of OpenAI come with their messages, or next to them, in either order.
func TestFormsOfCompletions(t *testing.T) {
	user, asked := `{"role":"user","content":"A?"}`, `{"role":"assistant","content":"Which?"}`
	item := func(role, text string) string {
		return fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":"input_text","text":%q}]}`, role, text)
	}
	calls := func(id string) string {
		return fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"find","arguments":"{}"}`, id)
	}
	gave := func(id string) string {
		return fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, id)
	}
	response := func(id, more string) string {
		return `{"id":"` + id + `","object":"response","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"B"}]}]` + more + `}`
	}
	items := func(list ...string) string { return `,"input":{"data":[` + strings.Join(list, ",") + `]}` }
	first := response("a", `,"input":"A?"`)
	readForms(t, []form{
		{"messages and the request", `{"id":"a","messages":[` + user + `],"request":{"messages":[` + asked + `]}}`, `a "A?" "" ""`},
		{"the request", `{"id":"a","request":{"messages":[` + asked + "," + user + `]},"choices":[{"message":{"role":"assistant","content":"B"}}]}`, `a "A?" "B" "" after assistant "Which?"`},
		{"a message alone", user + "\n" + `{"messages":[` + user + "," + asked + `]}` + "\n" + `{"role":"user","content":"C?"}`,
			`completion-2 "A?" "Which?" ""` + "\n" + `completion-3 "C?" "" ""`},
		{"the last item first, of an assistant", response("a", items(item("assistant", "Which?"), item("user", "A?"))), `a "A?" "B" ""`},
		{"the last item first, of two calls", response("a", items(gave("d"), gave("c"), calls("d"), calls("c"), item("user", "A?"))), `a "A?" "B" "" find 200 0s "c"; find 200 0s "d"`},
		{"items in order", response("a", items(item("user", "A?"), item("assistant", "Which?"), item("user", "C?"))), `a "C?" "B" "" after user "A?" after assistant "Which?"`},
		{"items in order, without the user", first + response("b", `,"previous_response_id":"a"`+items(calls("c"), gave("c"))), `b "A?" "B" "" find 200 0s "c"`},
		{"one item before its response", item("user", "A?") + response("a", ""), `a "A?" "B" ""`},
		{"each response after its item", item("user", "A?") + response("a", "") + item("user", "C?") + response("b", ""), `a "A?" "B" ""` + "\n" + `b "C?" "B" ""`},
		{"items alone", item("user", "A?"), `completion-1 "A?" "" ""`},
		{"a response that repeats what was before", first + response("b", `,"previous_response_id":"a"`+items(item("user", "A?"), calls("c"), gave("c"))),
			`a "A?" "B" ""` + "\n" + `b "A?" "B" "" find 200 0s "c"`},
		{"a response that repeats what was not answered before", `{"id":"a","object":"response","input":"A?","output":[]}` + response("b", `,"previous_response_id":"a"`+items(item("user", "A?"))),
			`b "A?" "B" ""`},
	})
}

// An export that cannot be read is refused with the reason, at the file.
func TestBrokenExports(t *testing.T) {
	for text, want := range map[string]string{
		`{"messages":[]}{`:            "reading stored completions: unexpected EOF",
		`{"messages":[],"choices":7}`: "reading stored completions: json: cannot unmarshal",
		`{"id":"a","choices":[{"message":{"role":"assistant","content":"B"}}]}`: "a has an answer without the messages that it answers: add to the file what the API lists at /chat/completions/a/messages",
		`{"id":"a","object":"response","output":[]}`:                            "a has an answer without its input: add to the file what the API lists at /responses/a/input_items",
		`{"observations":[]}{`:    "reading a Langfuse export: unexpected EOF",
		`{"observations":7}`:      "reading a Langfuse export: json: cannot unmarshal",
		`[{"observations":[]},7]`: "reading a Langfuse export: json: cannot unmarshal",
		`{"run_type":"chain"}{`:   "reading a LangSmith export: unexpected EOF",
		`[{"run_type":"chain","inputs":{"input":"A?"}},{"run_type":7},{}]`: "reading a LangSmith export: json: cannot unmarshal",
		`{"resourceSpans":[]}{`: "reading OTLP traces: unexpected EOF",
		`{"resourceSpans":7}`:   "reading OTLP traces: json: cannot unmarshal",
		`{"run_type":"tool","parent_run_id":"z","inputs":{"input":"A?"}}`: "the export has no session: nothing in it has an input",
	} {
		list, diags := record.Read("f.json", []byte(text), config.Options{})
		if len(list) != 0 || len(diags) != 1 || !strings.HasPrefix(strings.TrimPrefix(diags[0].Message, "reading stored responses: "), want) && !strings.HasPrefix(diags[0].Message, "reading stored completions: "+want) {
			t.Errorf("%s: %+v, %v; want %s", text, list, diags, want)
			continue
		}
		if p := diags[0].Pos; p.File != "f.json" || p.Line != 1 || p.Col != 1 {
			t.Errorf("%s: at %v", text, p)
		}
	}
	// What is no export is read as a replay file, and refused as one.
	for _, text := range []string{"id,traceId,output\nt,t,B\n", "input,traceId\nA?,t\n", `{"object":"chat"}`, "", "[7]"} {
		if _, diags := record.Read("f", []byte(text), config.Options{}); !diags.HasErrors() || strings.Contains(fmt.Sprint(diags), "export") {
			t.Errorf("%q: %v", text, diags)
		}
	}
}

// Traces of OTLP differ by the instrumentation: where the prompt, the reply and the tools are.
func TestFormsOfOTLP(t *testing.T) {
	attributes := func(list ...string) string {
		var all []string
		for i := 0; i < len(list); i += 2 {
			all = append(all, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, list[i], list[i+1]))
		}
		return `"attributes":[` + strings.Join(all, ",") + `]`
	}
	span := func(name, more string, list ...string) string {
		return fmt.Sprintf(`{"traceId":"t","spanId":%q,"name":%q%s,%s}`, name, name, more, attributes(list...))
	}
	spans := func(list ...string) string {
		return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(list, ",") + `]}]}]}`
	}
	event := func(name string, list ...string) string {
		return fmt.Sprintf(`{"name":%q,%s}`, name, attributes(list...))
	}
	prompt := span("chat", "", "gen_ai.prompt", "A?")
	tool := func(name, more string, list ...string) string {
		return span("execute_tool "+name, more, append([]string{"gen_ai.operation.name", "execute_tool"}, list...)...)
	}
	within, failed := `,"parentSpanId":"p"`, `,"status":{"code":"STATUS_CODE_ERROR","message":"no route"}`
	logs := func(list ...string) string {
		return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + strings.Join(list, ",") + `]}]}]}`
	}
	log := func(more string, list ...string) string {
		return `{"traceId":"t","spanId":"a",` + more + "," + attributes(list...) + `}`
	}
	asked := `[{"role":"user","content":"A?"},{"role":"assistant","tool_calls":[{"id":"c","name":"find","function":{}},{"name":"lost"}]},{"role":"tool","tool_call_id":"c","content":"x"},` +
		`{"role":"tool","content":"of nobody"},{"role":"tool","tool_call_id":"z","content":"of nothing"},{"role":"tool","name":"say","content":"y"},{"role":"tool","name":"say","content":"z"},` +
		`{"role":"tool","name":"none","parts":[{"type":"text","content":"part"}]}]`
	readForms(t, []form{
		{"all is well", spans(span("chat", `,"status":{"code":1}`, "gen_ai.prompt", "A?")), `t "A?" "" ""`},
		{"the first failure", spans(prompt, span("b", failed), span("c", `,"status":{"code":2,"message":"later"}`)), `t "A?" "" "no route"`},
		{"a failure without a word", spans(prompt, span("b", `,"status":{"code":2}`)), `t "A?" "" "b failed"`},
		{"replies of spans within", spans(span("a", within, "gen_ai.prompt", "A?", "gen_ai.completion", "B"), span("b", within, "gen_ai.completion", "C")), `t "A?" "C" ""`},
		{"replies of two whole", spans(span("a", "", "gen_ai.prompt", "A?", "gen_ai.completion", "B"), span("b", "", "gen_ai.completion", "C")), `t "A?" "C" ""`},
		{"a reply that is a number", spans(span("a", "", "gen_ai.prompt", "A?", "output.value", "42")), `t "A?" "42" ""`},
		{"tools in the order in which they began", spans(tool("c", `,"startTimeUnixNano":"3"`), tool("a", `,"startTimeUnixNano":"1"`), tool("b", `,"startTimeUnixNano":"1"`), prompt),
			`t "A?" "" "" a 200 0s; b 200 0s; c 200 0s`},
		{"a tool that ends before it begins", spans(prompt, tool("a", `,"startTimeUnixNano":"3000000000","endTimeUnixNano":"1"`, "gen_ai.tool.name", "b")), `t "A?" "" "" b 200 0s`},
		{"tools that failed", spans(prompt, tool("a", failed), tool("b", failed, "output.value", "x")), `t "A?" "" "no route" a 500 0s "no route"; b 500 0s "x"`},
		{"strings of tools", spans(prompt, tool("a", "", "traceloop.entity.output", `"x"`), tool("b", "", "gen_ai.tool.call.result", "7"), tool("c", "", "gen_ai.tool.call.result", `{"output":"x","n":1}`),
			tool("d", "", "gen_ai.tool.call.result", `{"tool_call_id":"c","content":"x"}`)),
			`t "A?" "" "" a 200 0s "x"; b 200 0s "7"; c 200 0s {"n":1,"output":"x"}; d 200 0s "x"`},
		{"a tool by another name than its span", spans(prompt, span("run", "", "openinference.span.kind", "TOOL", "tool.name", "find", "output.value", "x")), `t "A?" "" "" find 200 0s "x"`},
		{"a model with a tool's name", spans(span("run", "", "openinference.span.kind", "LLM", "tool.name", "find", "input.value", "A?")), `t "A?" "" ""`},
		{"one numbered message", spans(span("a", "", "role", "user", "content", "Not this.", "gen_ai.prompt.0.role", "user", "gen_ai.prompt.0.content", "A?", "gen_ai.completion.0.content", "B", "gen_ai.completion.1.role", "assistant")),
			`t "A?" "B" ""`},
		{"two numbered messages", spans(span("a", "", "gen_ai.prompt.0.role", "user", "gen_ai.prompt.0.content", "A?", "gen_ai.prompt.1.role", "assistant", "gen_ai.prompt.1.content", "B")), `t "A?" "" ""`},
		{"the prompt in an event", spans(span("a", `,"events":[`+event("gen_ai.content.prompt", "gen_ai.prompt", asked)+"]")), `t "A?" "" "" find 200 0s "x"; say 200 0s "y"; say 200 0s "z"`},
		{"an event without a prompt", spans(span("a", `,"events":[`+event("gen_ai.user.message", "content", "A?")+","+event("gen_ai.content.prompt")+"]")), `t "A?" "" ""`},
		{"results that are repeated", spans(span("a", "", "gen_ai.prompt", asked), span("b", "", "gen_ai.prompt", strings.Replace(asked, `,"content":"x"`, `,"content":"again"`, 1))),
			`t "A?" "" "" find 200 0s "x"; say 200 0s "y"; say 200 0s "z"; say 200 0s "y"; say 200 0s "z"`},
		{"a function without arguments", spans(span("a", "", "traceloop.entity.input", `{"args":[],"kwargs":{"question":"A?"}}`)), `t "A?" "" ""`},
		{"a function of an object", spans(span("a", "", "traceloop.entity.input", `{"args":[{"q":7.0}],"kwargs":{}}`)), `t "{\"q\":7.0}" "" ""`},
		{"logs in the order of their times", logs(log(`"observedTimeUnixNano":"3","eventName":"gen_ai.user.message"`, "content", "C?"), log(`"timeUnixNano":"2","eventName":"gen_ai.user.message"`, "content", "A?")), `t "C?" "" ""`},
		{"logs of the same time", logs(log(`"timeUnixNano":"2","eventName":"gen_ai.user.message"`, "content", "A?"), log(`"timeUnixNano":"2","eventName":"gen_ai.user.message"`, "content", "C?")), `t "C?" "" ""`},
		{"a log with two names", logs(log(`"timeUnixNano":"2","eventName":"gen_ai.user.message"`, "event.name", "other", "content", "A?")), `t "A?" "" ""`},
	})
	s := read(t, spans(span("first", `,"startTimeUnixNano":"1772000000000000000"`, "gen_ai.prompt", "A?"), span("second", `,"startTimeUnixNano":"1772000001000000000"`)))[0]
	if s.Name != "first" || s.CapturedAt != "2026-02-25T06:13:20Z" {
		t.Errorf("%q at %s", s.Name, s.CapturedAt)
	}
}

// A replay file is written for people: in short lines, without quotes where none are needed.
func TestFormat(t *testing.T) {
	s := config.Session{ID: "a", Name: "plain", Source: "recorded", Input: "A?\nB?", Contract: "c", LeftOut: []string{"call 3,\nbig"}, Context: []config.Message{{Role: "user", Content: "Hi"}},
		Tools: []config.ToolResponse{{Tool: "t", Body: `{"f":false,"e":[],"o":[1],"m":{},"l":[1,{"k":"yes"}],"x":1e-07,"y":1.5e+22,"z":"two\nlines"}`}, {Tool: "t", Body: "not JSON"}}}
	want := strings.Join([]string{
		"# left out: call 3, big", "id: a", "name: plain", "source: recorded", "input: |-", "  A?", "  B?", "context:", "  - role: user", "    content: Hi", "tool_responses:",
		"  - tool: t", "    response:", "      f: false", "      e: []", "      o:", "        - 1", "      m: {}", "      l:", "        - 1", `        - k: "yes"`, "      x: 1.0e-07", `      "y": 1.5e+22`,
		"      z: |-", "        two", "        lines", "  - tool: t", "    response: not JSON", "contract: c", "",
	}, "\n")
	if got := string(record.Format(s)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for id, want := range map[string]string{"azAZ09-.": "azAZ09-.", "`{@[/:": "______", strings.Repeat("y", 65): strings.Repeat("y", 64)} {
		if got := record.FileName(id); got != "replay-"+want+".yaml" {
			t.Errorf("%q: %s", id, got)
		}
	}
}

// A report gives the sessions of its failures, each with why it failed.
func TestExportedFailures(t *testing.T) {
	mutation := func(text, more string) string {
		return `{"mutation":{"mutated":"` + text + `","type":"noise"},"passed":false` + more + `}`
	}
	failures := `"mutations":[` + mutation("a", `,"checks":[{"check_type":"one","passed":true},{"check_type":"two","details":"x"},{"check_type":"three","details":"y"}]`) + "," +
		mutation("b", `,"error":"","checks":[]`) + "," + mutation("c", `,"error":"late","checks":[{"check_type":"two","details":"x"}]`) + "," + mutation("", "") + `]`
	evidence := `"findings":[{"id":"F","evidence":[{"title":"Other","text":{"body":"id: o\ninput: o\n"}},{"title":"Session"},{"title":"Session","text":{"body":"id: s\ninput: s\n"}}]}]`
	for text, want := range map[string]string{
		"{" + failures + "}":                  `export-0 "a" "" "two: x"; export-1 "b" "" "the agent failed under mutation"; export-2 "c" "" "late"`,
		"{" + evidence + "," + failures + "}": `F "s" "" ""`,
		"7":                                   "not a JSON report: json: cannot unmarshal number",
		"{}":                                  "not a report: it has neither findings nor mutations",
		`{"findings":[{"id":"F","evidence":[{"title":"Session","text":{"body":"id: s\n"}}]}]}`: "the session of finding F: ",
	} {
		list, err := record.Export([]byte(text), "Session")
		var got []string
		for _, s := range list {
			got = append(got, told(s))
		}
		if err != nil {
			got = append(got, err.Error())
		}
		if s := strings.Join(got, "; "); s != want && (err == nil || !strings.HasPrefix(s, want)) {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}
