package fault

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/golden"
)

// asked is a request in every shape.
var asked = []struct{ path, body string }{
	{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]%s}`},
	{"/v1/completions", `{"model":"m","prompt":"hi"%s}`},
	{"/v1/responses", `{"model":"m","input":"hi"%s}`},
	{"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]%s}`},
	{"/api/chat", `{"model":"m","messages":[{"role":"user","content":"hi"}]%s}`},
	{"/api/generate", `{"model":"m","prompt":"hi"%s}`},
}

func request(t testing.TB, i int, stream bool) *Request {
	t.Helper()
	r := Recognize("POST", "/base"+asked[i].path+"/", fmt.Appendf(nil, asked[i].body, fmt.Sprintf(`,"stream":%t`, stream)))
	if r == nil || r.Stream != stream || r.Model != "m" {
		t.Fatalf("%s is not recognized: %+v", asked[i].path, r)
	}
	return r
}

// textOf is what a client reads out of an answer.
func textOf(t testing.TB, s Shape, contentType string, body []byte) string {
	t.Helper()
	var b strings.Builder
	for _, f := range frames(contentType, body) {
		if f.root == nil {
			if s := strings.TrimSpace(string(f.data)); s != "" && s != "[DONE]" {
				t.Fatalf("no JSON: %q", f.raw)
			}
			continue
		}
		for _, n := range s.texts(f.root) {
			b.WriteString(n.Text)
		}
	}
	return b.String()
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Every shape, whole and streamed: answers, failures, and what text faults make
// of answers. The golden files show each as it stands on the wire.
func TestShapes(t *testing.T) {
	const text = `Sure, you can cancel: {"action":"x"} — für ‘alle’.`
	for i := range asked {
		for _, stream := range []bool{false, true} {
			r := request(t, i, stream)
			answer := r.Answer(text, 3, noon)
			if got := textOf(t, r.Shape, answer.ContentType, answer.Body); got != text {
				t.Errorf("%s: answers %q", r.Shape, got)
			}
			if got := textOf(t, r.Shape, answer.ContentType, r.Answer("", 3, noon).Body); got != "" {
				t.Errorf("%s: an empty answer says %q", r.Shape, got)
			}
			cut := Strike{Rule: Rule{Layer: LLM, Mode: Truncated, MaxTokens: 2}.Filled()}
			tone := Strike{Rule: Rule{Layer: LLM, Mode: Drift, DriftType: DriftTone}.Filled()}
			field := Strike{Rule: Rule{Layer: LLM, Mode: Drift}.Filled()}
			body, results := r.Alter(answer.ContentType, answer.Body, []*Strike{&field, &cut, &tone})
			if got := textOf(t, r.Shape, answer.ContentType, body); got != "Certainly, one" && got != "Certainly, you" {
				t.Errorf("%s: %q", r.Shape, got)
			}
			if results[0].Why == "" || results[1].Change == "" || results[2].Change == "" {
				t.Errorf("%s: %+v", r.Shape, results)
			}
			if strings.Contains(string(body), "Sure") || strings.Contains(string(body), "cancel") {
				t.Errorf("%s: the whole text is left somewhere:\n%s", r.Shape, body)
			}
			limited := r.Failure(429, "Rate limit reached", 1500*time.Millisecond)
			golden.Check(t, strings.ReplaceAll(fmt.Sprintf("testdata/%s stream=%t.txt", r.Shape, stream), " ", "_"),
				"# answer "+answer.ContentType+"\n"+string(answer.Body)+"\n# cut and reworded\n"+string(body)+
					fmt.Sprintf("\n# limited %d %v\n%s\n", limited.Status, limited.Header, limited.Body)+
					"\n# down\n"+string(r.Failure(503, "down", 0).Body)+"\n")
		}
	}
}

// A stream of many events keeps its events, and what is not text stays byte for
// byte.
func TestStreamKeepsItsEvents(t *testing.T) {
	stream := "event: ping\r\ndata: {\"type\":\"ping\"}\r\n\r\n: a comment\n\n" +
		"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n" +
		"data: {\"id\":\"1\", \"choices\":[{\"delta\":{\"content\":\"one two \"}}]}\n\n" +
		"data: {\"id\":\"1\",\"choices\":[{\"delta\":{\"content\":\"three four\"}}]}\n\n" +
		"data: {\"id\":\"1\",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n" +
		"data: [DONE]\n\n"
	r := request(t, 0, true)
	cut := Strike{Rule: Rule{Layer: LLM, Mode: Truncated, MaxTokens: 3}.Filled()}
	got, results := r.Alter("text/event-stream; charset=utf-8", []byte(stream), []*Strike{&cut})
	want := strings.NewReplacer(`three four`, `three`, `"stop"`, `"length"`).Replace(stream)
	if string(got) != want {
		t.Errorf("%v\n%s", results, got)
	}
	if in, out := r.Usage("text/event-stream", []byte(stream)); in != 3 || out != 4 {
		t.Errorf("tokens %d, %d", in, out)
	}
	tools := "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n"
	got, results = r.Alter("text/event-stream", []byte(tools), []*Strike{&cut})
	if string(got) != tools || results[0].Why != "the answer contains no text" {
		t.Errorf("%v\n%s", results, got)
	}
}

func TestDrift(t *testing.T) {
	tests := []struct {
		rule          Rule
		text, changed string // "" is unchanged
	}{
		{Rule{}, `{"a": 1, "action": "go"}`, `{"a": 1, "tool_name": "go"}`},
		{Rule{}, `{"tool_name":1}`, `{"action":1}`},
		{Rule{}, `{"type":1,"action":2}`, `{"type_v2":1,"action":2}`},
		{Rule{}, `{"a":1,"b":2,"c":3,"d":4,"e":5,"name":6}`, ""},
		{Rule{}, `plain`, ""},
		{Rule{DriftType: DriftFormat}, `{"a":"x","b":[1]}`, `a: x b: [1]`},
		{Rule{DriftType: DriftFormat}, `{}`, ""},
		{Rule{DriftType: DriftVerbosity}, "one two", "one two one two"},
		{Rule{DriftType: DriftVerbosity, Factor: 1.5}, "a b c d", "a b c d a b"},
		{Rule{DriftType: DriftVerbosity, Direction: "compress"}, "a b c d", "a b"},
		{Rule{DriftType: DriftVerbosity, Direction: "compress"}, "a", ""},
		{Rule{DriftType: DriftRefusal}, "I cannot do it. i CAN'T, no.", "I'm not able to do it. I am unable to, no."},
		{Rule{DriftType: DriftRefusal}, "Yes.", ""},
		{Rule{DriftType: DriftTone}, "Please do it, Pleaser", "Kindly do it, Pleaser"},
	}
	for _, test := range tests {
		test.rule.Layer, test.rule.Mode = LLM, Drift
		s := Strike{Rule: test.rule.Filled()}
		got, why := s.Text(test.text)
		if want := test.changed; want == "" && (why == "" || got != test.text) || want != "" && got != want {
			t.Errorf("%s %q: %q (%s)", test.rule.DriftType, test.text, got, why)
		}
	}
}

func TestToolCallsOfAConversation(t *testing.T) {
	tests := []struct {
		path, body string
		want       []string
	}{
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"old"},{"role":"assistant","tool_calls":[{"id":"0","function":{"name":"old","arguments":"{}"}}]},
			{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"search","arguments":"{\"q\":1}"}},{"id":"2","function":{"name":"book","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"1","content":"r"}]}`, []string{`search {"q":1}`, "book {}"}},
		{"/v1/messages", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t","name":"search","input":{"q": 2}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}]}`, []string{`search {"q": 2}`}},
		{"/v1/responses", `{"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"r"}]}`, []string{"f {}"}},
		{"/api/chat", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},{"role":"tool","content":"r"}]}`, []string{`f {"a":1}`}},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"1"}}]},{"role":"tool","tool_call_id":"c","content":"r"},
			{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"g","arguments":"2"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]}`, []string{"f 1", "g 2"}}, // numbered alike
	}
	for _, test := range tests {
		r := Recognize("POST", test.path, []byte(test.body))
		l := ledger(t, Plan{})
		l.Saw(r.ToolCalls()...)
		l.Saw(r.ToolCalls()...) // the next request holds them again
		next := Recognize("POST", test.path, []byte(strings.Replace(test.body, `"q"`, `"next"`, 1)))
		l.Saw(next.ToolCalls()...) // of another question
		var got []string
		for _, c := range l.Report().ToolCalls {
			got = append(got, c.Tool+" "+c.Arguments)
		}
		if !slices.Equal(got, slices.Concat(test.want, test.want)) {
			t.Errorf("%s: %q", test.path, got)
		}
		for i, c := range r.ToolCalls() {
			if want := test.want[i] == "book {}"; c.Result != "r" != want {
				t.Errorf("%s: the result of %s is %q", test.path, c.Tool, c.Result)
			}
		}
	}
}

// A call that was seen on the wire and is in the conversation is one call.
func TestToolCallsAreCountedOnce(t *testing.T) {
	r := Recognize("POST", "/api/chat", []byte(`{"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"function":{"name":"search","arguments":{"a":1}}},{"function":{"name":"search","arguments":{"a":2}}}]}]}`))
	l := ledger(t, Plan{})
	l.Saw(SeenCall{Tool: "Search", Arguments: "a=1", Source: SeenOnWire})
	for range 2 {
		l.Saw(r.ToolCalls()...)
	}
	var got []string
	for _, c := range l.Report().ToolCalls {
		got = append(got, c.Tool+" "+c.Arguments+" "+string(c.Source))
	}
	if want := []string{`Search {"a":1} http`, `search {"a":2} llm`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestInjectionIntoConversations(t *testing.T) {
	tests := []struct {
		i    int
		how  Strategy
		body string
		want string
	}{
		{0, Append, `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"}]}`, `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"P"},{"role":"user","content":"q"}]}`},
		{0, Swap, `{"messages":[{"role":"user","content":[{"type":"text","text":"q"}]}]}`, `{"messages":[{"role":"user","content":"P"}]}`},
		{5, Append, `{"prompt":"q"}`, `{"prompt":"q\n\nP"}`},
		{2, Prepend, `{"input":"q"}`, `{"input":"P\n\nq"}`},
		{0, Append, `{"messages":[]}`, ""},
	}
	for _, test := range tests {
		r := Recognize("POST", asked[test.i].path, []byte(test.body))
		got, ok := r.Inject("P", test.how)
		if ok != (test.want != "") || ok && string(got) != test.want {
			t.Errorf("%s: %v %s", test.body, ok, got)
		}
	}
}

func TestInjectionIntoResults(t *testing.T) {
	tests := []struct{ contentType, body, want string }{
		{"application/json", `{"a":"x","b":"longer", "c":1}`, `{"a":"x","b":"longer\n\nP", "c":1}`},
		{"", `[1,2]`, `[1,2,"P"]`},
		{"", `{}`, `{"_injected":"P"}`},
		{"", `{"n":1}`, `{"n":1,"_injected":"P"}`},
		{"text/plain", "hello", "hello\n\nP"},
		{"text/plain", "", "P"},
		{"text/html; charset=utf-8", "<p>", "<p>\n\nP"},
		{"text/event-stream", "data: {\"a\":\"x\"}\n\ndata: [DONE]\n\n", "data: {\"a\":\"x\\n\\nP\"}\n\ndata: [DONE]\n\n"},
		{"image/png", "\x89PNG", ""},
		{"", "a\x00b", ""},
	}
	for _, test := range tests {
		got, why := InjectInto(test.contentType, []byte(test.body), "P", Append)
		if (why != "") != (test.want == "") || why == "" && string(got) != test.want {
			t.Errorf("%q: %q (%s)", test.body, got, why)
		}
	}
}

// Whatever a server answers, faults do not break what they need not break.
func FuzzAnswers(f *testing.F) {
	for i := range asked {
		for _, stream := range []bool{false, true} {
			a := request(f, i, stream).Answer("one two three four five six seven eight nine ten eleven twelve", 1, noon)
			f.Add(i, a.ContentType, a.Body)
		}
	}
	f.Add(0, "application/json", []byte(`{"choices":[{"message":{"content":"\ud800 a b"}}]}`))
	f.Fuzz(func(t *testing.T, i int, contentType string, body []byte) {
		if i < 0 || i >= len(asked) {
			return
		}
		r := request(t, i, true)
		cut := Strike{Rule: Rule{Layer: LLM, Mode: Truncated, MaxTokens: 1}.Filled()}
		long := Strike{Rule: Rule{Layer: LLM, Mode: Drift, DriftType: DriftVerbosity}.Filled()}
		r.Usage(contentType, body)
		for name, got := range map[string][]byte{
			"altered":  first(r.Alter(contentType, body, []*Strike{&cut, &long})),
			"injected": first(InjectInto(contentType, body, "P", Append)),
		} {
			if json.Valid(body) && !IsStream(contentType) && parsed(body) != nil && !json.Valid(got) {
				t.Errorf("%s: %q became %q", name, body, got)
			}
		}
	})
}

func first[T any](v []byte, _ T) []byte { return v }
