package record_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
)

// Exports of Langfuse and of OpenAI's stored completions, as replay files.
func TestExports(t *testing.T) {
	tool := `{"id":"o2","traceId":"t1","type":"TOOL","name":"orders","parentObservationId":"o1","startTime":"2026-03-01T10:00:01Z","endTime":"2026-03-01T10:00:01.250Z","input":{"order":"4711"},"output":{"state":"shipped"}}`
	model := `{"id":"o3","traceId":"t1","type":"GENERATION","name":"llm","parentObservationId":"o1","startTime":"2026-03-01T10:00:00Z","input":{"messages":[{"role":"user","content":"Where is 4711?"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"orders","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"{\"state\":\"lost\"}"}]}}`
	chat := func(id, messages, answer string) string {
		return `{"id":"` + id + `","object":"chat.completion","created":1772000000,"model":"m","messages":[` + messages + `],"choices":[{"index":0,"message":` + answer + `}]}`
	}
	system, user := `{"role":"system","content":"Be kind."}`, `{"role":"user","content":[{"type":"text","text":"Where is 4711?"}]}`
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"orders","arguments":"{\"order\":\"4711\"}"}}]}`
	result, said := `{"role":"tool","tool_call_id":"c","content":"{\"state\":\"shipped\"}"}`, `{"role":"assistant","content":"It is shipped.","refusal":null}`
	more := `{"role":"user","content":"When?"}`
	items := func(list ...string) string {
		return `{"object":"list","data":[` + strings.Join(list, ",") + `],"has_more":false}` + "\n"
	}
	spoken := `{"id":"msg_0","type":"message","role":"user","content":[{"type":"input_text","text":"Where is 4711?"}]}`
	asked := `{"id":"fc_1","type":"function_call","call_id":"call_1","name":"orders","arguments":"{\"order\":\"4711\"}","status":"completed"}`
	output := `{"id":"fco_1","type":"function_call_output","call_id":"call_1","output":"{\"state\":\"shipped\"}"}`
	answered := `{"id":"resp_1","object":"response","created_at":1772000000,"status":"completed","previous_response_id":null,"output":[{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"It is shipped.","annotations":[]}]}]}`
	root := func(key string) string {
		return `{"id":"r","run_type":"chain","inputs":{"` + key + `":"Where is 4711?"},"outputs":{"output":"It is shipped."},"parent_run_id":null}` + "\n"
	}
	llm := func(inputs string) string {
		return `{"id":"m","run_type":"llm","name":"ChatOpenAI","parent_run_id":"r","inputs":` + inputs + `,"outputs":{}}` + "\n"
	}
	lc := func(class, kwargs string) string {
		return `{"lc":1,"type":"constructor","id":["langchain","schema","messages","` + class + `Message"],"kwargs":{` + kwargs + `}}`
	}
	blocks := `{"role":"user","content":"Where is 4711?"},{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"u","name":"orders","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":[{"type":"text","text":"{\"state\":\"shipped\"}"}]}]}`
	for name, x := range map[string]struct{ text, want string }{
		"a trace with its steps": {`{"id":"t1","name":"ask","timestamp":"2026-03-01T10:00:00Z","input":{"question":"Where is 4711?"},"output":"It is shipped.","observations":[` + tool + "," + model + `]}`,
			`t1 langfuse "Where is 4711?" "It is shipped." "" orders 200 {"state":"shipped"}`},
		"traces of the API": {`{"data":[{"id":"t1","timestamp":"x","input":[{"role":"user","content":"Where is 4711?"}],"output":{"content":"It is shipped."},"observations":["o2"]}],"meta":{}}`,
			`t1 langfuse "Where is 4711?" "It is shipped." ""`},
		"steps alone, one a line": {`{"id":"o1","traceId":"t1","type":"AGENT","name":"ask","startTime":"2026-03-01T10:00:00Z","input":"Where is 4711?","output":"It is shipped."}` + "\n" + tool,
			`t1 langfuse "Where is 4711?" "It is shipped." "" orders 200 {"state":"shipped"}`},
		"a tool that the model was told": {`{"id":"t1","input":"Where is 4711?","output":"Lost.","observations":[` + model + `]}`,
			`t1 langfuse "Where is 4711?" "Lost." "" orders 200 {"state":"lost"}`},
		"a tool that failed": {`{"id":"t1","input":"Where is 4711?","output":null,"observations":[` + strings.Replace(tool, `"output":{"state":"shipped"}`, `"output":null,"level":"ERROR","statusMessage":"no route"`, 1) + `]}`,
			`t1 langfuse "Where is 4711?" "" "no route" orders 500 no route`},
		"completions of one session": {chat("a", system+","+user, call) + "\n" + chat("b", system+","+user+","+call+","+result, said),
			`b openai "Where is 4711?" "It is shipped." "" orders 200 {"state":"shipped"}`},
		"an answer, with its messages as the API lists them": {strings.NewReplacer(`"messages":[`, `"messages":{"object":"list","data":[`, `],"choices"`, `]},"choices"`).Replace(chat("a", user+","+call+","+result, said)),
			`a openai "Where is 4711?" "It is shipped." "" orders 200 {"state":"shipped"}`},
		"a response, with its input items as the API lists them": {`{"id":"resp_1","object":"response","input":{"object":"list","data":[` + output + "," + asked + "," + spoken + `]},"output":[{"id":"msg_2","type":"message","role":"assistant","content":[{"type":"output_text","text":"Shipped."}]}]}`,
			`resp_1 openai "Where is 4711?" "Shipped." "" orders 200 {"state":"shipped"}`},
		"a list of completions": {`{"object":"list","data":[` + chat("a", user, said) + "," + chat("b", user+","+said+","+more, said) + "," + chat("c", more, said) + `]}`,
			"b openai \"When?\" \"It is shipped.\" \"\" after 2\nc openai \"When?\" \"It is shipped.\" \"\""},
		"a conversation alone": {`{"messages":[` + user + "," + said + `]}`, `completion-1 openai "Where is 4711?" "It is shipped." ""`},
		"a trace that was downloaded": {`{"trace":{"id":"t1","name":"ask","timestamp":"2026-03-01T10:00:00Z","input":"{\"messages\":[{\"role\":\"user\",\"content\":\"Where is 4711?\"}]}","output":"\"It is shipped.\""},"observations":[` + tool + `]}`,
			`t1 langfuse "Where is 4711?" "It is shipped." "" orders 200 {"state":"shipped"}`},
		"rows of an exported table": {`{"id":"o1","trace_id":"t1","type":"AGENT","parent_observation_id":"","start_time":"2026-03-01 10:00:00.000000","input":"\"Where is 4711?\"","output":"\"It is shipped.\""}` + "\n" +
			`{"id":"o2","trace_id":"t1","type":"TOOL","name":"orders","parent_observation_id":"o1","start_time":"2026-03-01 10:00:01.000000","level":"ERROR","status_message":"no route","input":"{}","output":""}`,
			`t1 langfuse "Where is 4711?" "It is shipped." "no route" orders 500 no route`},
		"a table of steps in CSV": {"\ufeff\"id\",\"traceId\",\"type\",\"name\",\"parentObservationId\",\"startTime\",\"endTime\",\"level\",\"input\",\"output\"\r\n" +
			"o2,t1,TOOL,orders,o1,2026-03-01T10:00:01Z,2026-03-01T10:00:02Z,DEFAULT,{},\"{\"\"state\"\":\"\"shipped\"\"}\"\r\n" +
			"o1,t1,AGENT,ask,,2026-03-01T10:00:00Z,,DEFAULT,\"{\"\"question\"\":\"\"Where is 4711,\\nplease?\"\"}\",It is shipped.\r\n",
			`t1 langfuse "Where is 4711,\nplease?" "It is shipped." "" orders 200 {"state":"shipped"}`},
		"a table of traces in CSV": {"id,timestamp,name,input,output\nt1,2026-03-01,ask,Where is 4711?,\"\"\"Shipped.\"\"\"\n",
			`t1 langfuse "Where is 4711?" "Shipped." ""`},
		"an answer, and its messages by themselves": {`{"object":"list","data":[` + strings.Replace(chat("a-b", "", said), `"messages":[],`, "", 1) + `]}{"object":"list","data":[{"id":"a-b-0","role":"user","content":null,"content_parts":[{"type":"text","text":"Where is 4711?"}]}]}`,
			`a-b openai "Where is 4711?" "It is shipped." ""`},
		"a response, and its input items, the last one first": {answered + "\n" + items(output, asked, spoken), `resp_1 openai "Where is 4711?" "It is shipped." "" orders 200 {"state":"shipped"}`},
		"input items first, in order":                         {items(spoken, `{"id":"rs_1","type":"reasoning","summary":[]}`, asked, output) + answered, `resp_1 openai "Where is 4711?" "It is shipped." "" orders 200 {"state":"shipped"}`},
		"responses with their inputs, of which one goes on": {
			`{"id":"resp_0","object":"response","input":"Where is 4711?","output":[` + asked + `]}` + "\n" +
				`{"id":"resp_1","object":"response","previous_response_id":"resp_0","input":[` + output + `],"output":[{"id":"msg_2","type":"message","role":"assistant","content":[{"type":"output_text","text":"Shipped."}]}]}`,
			`resp_1 openai "Where is 4711?" "Shipped." "" orders 200 {"state":"shipped"}`},
		"two responses, each with its items": {answered + items(spoken, asked, output) + strings.Replace(answered, "resp_1", "resp_2", 1) + items(strings.Replace(spoken, "Where", "So where", 1)),
			`resp_1 openai "Where is 4711?" "It is shipped." "" orders 200 {"state":"shipped"}` + "\n" + `resp_2 openai "So where is 4711?" "It is shipped." ""`},
		"a tool that speaks of other exports": {`[{"id":"r","run_type":"chain","inputs":{"input":"Where is 4711?"},"outputs":{"output":"Here."},"parent_run_id":null},{"id":"k","run_type":"tool","name":"orders","parent_run_id":"r","outputs":{"observations":[4],"scopeSpans":1}}]`,
			`r langsmith "Where is 4711?" "Here." "" orders 200 {"observations":[4],"scopeSpans":1}`},
		"calls that LangSmith has in the model's inputs alone": {root("say") + llm(`{"messages":[`+system+","+user+`]}`) + llm(`{"messages":[`+system+","+user+","+call+","+result+`]}`),
			`r langsmith "Where is 4711?" "It is shipped." "" orders 200 {"state":"shipped"}`},
		"calls in messages of LangChain": {root("say") + llm(`{"messages":[[`+lc("Human", `"content":"Where is 4711?","type":"human"`)+","+lc("AI", `"content":"","type":"ai","tool_calls":[{"name":"orders","args":{},"id":"c","type":"tool_call"}]`)+
			","+lc("Tool", `"content":"{\"state\":\"shipped\"}","type":"tool","tool_call_id":"c"`)+`]]}`),
			`r langsmith "Where is 4711?" "It is shipped." "" orders 200 {"state":"shipped"}`},
		"calls as Anthropic's API has them": {strings.Replace(root(""), `{"":"Where is 4711?"}`, `{"messages":[`+blocks+`]}`, 1) + llm(`{"messages":[`+blocks+`]}`),
			`r langsmith "Where is 4711?" "It is shipped." "" orders 200 {"state":"shipped"}`},
		"calls as Langfuse has them of responses": {`{"id":"t1","input":{"args":["Where is 4711?"],"kwargs":{}},"output":"Here.","observations":[{"id":"g","traceId":"t1","type":"GENERATION","input":{"input":[` + spoken + "," + asked + "," + output + `]}}]}`,
			`t1 langfuse "Where is 4711?" "Here." "" orders 200 {"state":"shipped"}`},
		"a replay file": {`{"id":"s","input":"Where is 4711?","tool_responses":[{"tool":"orders","response":{"observations":[4],"inputs":1}}]}`,
			`s manual "Where is 4711?" "" "" orders 0 {"observations":[4],"inputs":1}`},
	} {
		list, diags := record.Read("export.json", []byte(x.text), config.Options{})
		var got []string
		for _, s := range list {
			got = append(got, shownSession(s))
		}
		if diags.HasErrors() || strings.Join(got, "\n") != x.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, diags, strings.Join(got, "\n"), x.want)
		}
	}
	for _, empty := range []string{`{"id":"t1","observations":[]}`, `{"messages":[]}`, tool, chat("a", "", said), answered} {
		if list, diags := record.Read("export.json", []byte(empty), config.Options{}); !diags.HasErrors() {
			t.Errorf("%s: %+v", empty, list)
		}
	}
}

func shownSession(s config.Session) string {
	out := fmt.Sprintf("%s %s %q %q %q", s.ID, s.Source, s.Input, s.Reply, s.Expected)
	if len(s.Context) > 0 {
		out += fmt.Sprintf(" after %d", len(s.Context))
	}
	for _, r := range s.Tools {
		out += fmt.Sprintf(" %s %d %s", r.Tool, r.Status, r.Body)
	}
	return out
}
