package fault

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ledger(t testing.TB, p Plan) *Ledger {
	t.Helper()
	n := time.Duration(0)
	l, err := NewLedger(p, func() time.Duration { n++; return n })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func share(p float64) *float64 { return &p }

// struck is which of n calls of a tool a rule strikes.
func struck(l *Ledger, tool string, n int) string {
	var b strings.Builder
	for range n {
		d := l.Decide(Call{Kind: ToolCall, Names: []string{tool}})
		for i := range d.Strikes {
			l.Fired(d, &d.Strikes[i], "")
		}
		b.WriteByte(".x"[min(1, len(d.Strikes))])
	}
	return b.String()
}

func TestTriggers(t *testing.T) {
	tests := []struct {
		name    string
		trigger Trigger
		want    string
	}{
		{"always", Trigger{}, "xxxxxx"},
		{"after two calls lets one pass", Trigger{AfterCalls: 2}, ".xxxxx"},
		{"after none", Trigger{AfterCalls: 0}, "xxxxxx"},
		{"call two and five", Trigger{Calls: []int{2, 5}}, ".x..x."},
		{"success on the third try", Trigger{Times: 2}, "xx...."},
		{"all at once", Trigger{AfterCalls: 2, Times: 3, Probability: share(1)}, ".xxx.."},
		{"never", Trigger{Probability: share(0)}, "......"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := ledger(t, Plan{Rules: []Rule{{ID: "r", Layer: Tool, Mode: Error, Tool: "search", Trigger: test.trigger}}})
			if got := struck(l, "search", 6); got != test.want {
				t.Errorf("struck %s, want %s", got, test.want)
			}
			struck(l, "other", 3)
			tally := l.Report().Tallies[0]
			if tally.Considered != 6 || tally.Fired != strings.Count(test.want, "x") {
				t.Errorf("tally %+v", tally)
			}
		})
	}
}

// What strikes one tool must not depend on how calls of others fall between.
func TestChanceIsOfTheCallAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := []Rule{{Layer: Tool, Mode: Error, Trigger: Trigger{Probability: share(0.5)}}}
		seed := rapid.Uint64().Draw(t, "seed")
		order := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 60).Draw(t, "order")
		run := func(order []string) map[string]string {
			l, err := NewLedger(Plan{Seed: seed, Rules: rules}, func() time.Duration { return 0 })
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, tool := range order {
				got[tool] += struck(l, tool, 1)
			}
			return got
		}
		sorted := slices.Clone(order)
		slices.Sort(sorted)
		if diff := cmp.Diff(run(order), run(sorted)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestChanceIsFair(t *testing.T) {
	for _, p := range []float64{0.1, 0.3, 0.5, 0.9} {
		hits := 0
		for seed := range uint64(4000) {
			l := ledger(t, Plan{Seed: seed, Rules: []Rule{{Layer: Tool, Mode: Error, Trigger: Trigger{Probability: &p}}}})
			hits += strings.Count(struck(l, "t", 1), "x")
		}
		if got := float64(hits) / 4000; got < p-0.03 || got > p+0.03 {
			t.Errorf("a probability of %v strikes %v of first calls", p, got)
		}
	}
}

func TestWhatHidesWhat(t *testing.T) {
	rule := func(id string, m Mode) Rule {
		l := LLM
		if slices.Contains([]Mode{Malicious, Stale, Duplicate}, m) {
			l = Tool
		}
		return Rule{ID: id, Layer: l, Mode: m, MatchURL: "*"}
	}
	tests := []struct {
		rules string // modes
		want  string
	}{
		{"slow error", "slow error"},
		{"error slow", "error"},
		{"empty garbage", "garbage"},
		{"garbage truncated_response", "garbage truncated_response"},
		{"truncated_response response_drift", "truncated_response response_drift"},
		{"truncated_response empty", "empty"},
		{"response_drift rate_limit", "rate_limit"},
		{"partial_body bandwidth wrong_content_type", "partial_body bandwidth wrong_content_type"},
		{"timeout error", "timeout"},
	}
	for _, test := range tests {
		var p Plan
		for _, m := range strings.Fields(test.rules) {
			p.Rules = append(p.Rules, rule(m, Mode(m)))
		}
		l := ledger(t, p)
		d := l.Decide(Call{Kind: ModelCall, URL: "http://x/"})
		var got []string
		for _, s := range d.Strikes {
			got = append(got, s.Rule.ID)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q apply, want %q", test.rules, got, test.want)
		}
		hidden := 0
		for _, tally := range l.Report().Tallies {
			hidden += len(tally.Missed)
		}
		if hidden != len(p.Rules)-len(got) {
			t.Errorf("%s: %d rules are told as hidden", test.rules, hidden)
		}
	}
}

func TestMatching(t *testing.T) {
	u, err := url.Parse("http://Market-Data.example.com:5001/api/v1/quotes/12345?q=x")
	if err != nil {
		t.Fatal(err)
	}
	web := Call{Kind: ToolCall, Names: Derived(u), URL: u.String()}
	if want := []string{"quotes", "api", "market-data.example.com:5001", "market-data.example.com", "market-data"}; !slices.Equal(web.Names, want) {
		t.Errorf("names %q", web.Names)
	}
	mcp := ParseMCP([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_file","arguments":{"p":1}}}`)).Call("files", "")
	model := Call{Kind: ModelCall, Names: []string{"openai", "gpt-4o"}, URL: "https://api.openai.com/v1/chat/completions"}
	other := Call{Kind: OtherCall, URL: "http://localhost:11434/api/tags"}
	tests := []struct {
		rule Rule
		call Call
		want bool
	}{
		{Rule{Layer: Tool, Tool: "quotes"}, web, true},
		{Rule{Layer: Tool, Tool: "market_data"}, web, true},
		{Rule{Layer: Tool, Tool: "QUO*"}, web, true},
		{Rule{Layer: Tool, Tool: "v1"}, web, false},
		{Rule{Layer: Tool, Tool: "search"}, web, false},
		{Rule{Layer: Tool, Tool: "search", MatchURL: "http://market-data.example.com:5001/*"}, web, true},
		{Rule{Layer: Tool, Tool: "*"}, web, true},
		{Rule{Layer: Tool}, mcp, true},
		{Rule{Layer: Tool, Tool: "read-file"}, mcp, true},
		{Rule{Layer: Tool, Tool: "files.*"}, mcp, true},
		{Rule{Layer: Tool, MatchURL: "http*"}, mcp, false},
		{Rule{Layer: Tool, Tool: "*"}, model, false},
		{Rule{Layer: Tool, MatchURL: "https://api.openai.com:443/*"}, model, true},
		{Rule{Layer: LLM}, model, true},
		{Rule{Layer: LLM, Tool: "gpt-*"}, model, true},
		{Rule{Layer: LLM, Tool: "claude-*"}, model, false},
		{Rule{Layer: LLM}, web, false},
		{Rule{Layer: LLM, MatchURL: "*"}, web, false},
		{Rule{Layer: Tool, Tool: "*"}, other, false},
		{Rule{Layer: Tool, MatchURL: "http://LOCALHOST:11434/*"}, other, true},
		{Rule{Layer: Context, At: AtToolResult}, mcp, true},
		{Rule{Layer: Context, At: AtToolResult}, model, false},
		{Rule{Layer: Context, At: AtLLMRequest}, model, true},
		{Rule{Layer: Context, At: AtPrompt}, web, false},
	}
	l := ledger(t, Plan{})
	for _, test := range tests {
		if got := l.matches(&test.rule, &test.call); got != test.want {
			t.Errorf("%+v on %q %s: %v", test.rule, test.call.Names, test.call.URL, got)
		}
	}
}

// A rule or a recorded answer for a tool does not mean calls below its own: /visits/7/pay is no
// call of visits if /visits is one. Until one is known, any word of the path will do.
func TestCallsBelowOthers(t *testing.T) {
	visits, pay := Call{Kind: ToolCall, Names: []string{"visits", "h"}, URL: "http://h/visits"}, Call{Kind: ToolCall, Names: []string{"pay", "visits", "h"}, URL: "http://h/visits/7/pay"}
	wanted := pay
	wanted.Wanted = "Visits"
	for _, test := range []struct {
		tool  string
		own   []string
		calls []Call
		want  string // struck or not, call by call
	}{
		{"visits", nil, []Call{pay, visits, pay}, "110"},
		{"Visits", []string{"VISITS"}, []Call{pay, visits, wanted}, "010"},
		{"visit*", nil, []Call{visits, pay}, "11"},
		{"h", nil, []Call{visits, pay}, "11"},
		{"pay", []string{"visits"}, []Call{visits, pay}, "01"},
	} {
		l, got := ledger(t, Plan{Own: test.own, Rules: []Rule{{Layer: Tool, Tool: test.tool, Mode: Error}}}), ""
		for _, c := range test.calls {
			got += fmt.Sprint(len(l.Decide(c).Strikes))
		}
		if got != test.want {
			t.Errorf("%s with %q: %s, want %s", test.tool, test.own, got, test.want)
		}
	}
	l := ledger(t, Plan{Rules: []Rule{{Layer: Tool, Tool: "visits", Mode: Error}}})
	l.Wants([]string{"visits"})
	if l.Decide(visits); len(l.Decide(pay).Strikes) != 1 {
		t.Error("a call that the model asked for by that name is not meant")
	}
	for _, test := range []struct {
		recorded []string
		calls    []Call
		want     string
	}{
		{[]string{"pay", "visits"}, []Call{pay, pay, visits}, "pay none visits"},
		{[]string{"visits", "visits"}, []Call{visits, pay, visits}, "visits none visits"},
		{[]string{"visits", "visits"}, []Call{pay, pay}, "visits visits"},
		{[]string{"h", "visits"}, []Call{pay, pay}, "visits none"},
	} {
		var p Plan
		for _, name := range test.recorded {
			p.Recorded = append(p.Recorded, Recorded{Tool: name})
		}
		l, got := ledger(t, p), []string{}
		for _, c := range test.calls {
			if d := l.Decide(c); d.Refused {
				got = append(got, "none")
			} else {
				got = append(got, d.Recorded.Tool)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q: answered by %q, want %s", test.recorded, got, test.want)
		}
	}
}

// Faults of effects of every tool pass over calls that have none.
func TestHarmlessCallsAreSpared(t *testing.T) {
	look, pay := Call{Kind: ToolCall, Names: []string{"orders"}, Method: "GET"}, Call{Kind: ToolCall, Names: []string{"shop:pay"}}
	harmless := func(method, name string) bool { return method == "GET" || name != "pay" }
	for _, test := range []struct {
		rule Rule
		call Call
		want bool // it is struck
	}{
		{Rule{Tool: "*", Mode: ReplyLost}, look, false},
		{Rule{Mode: Twice}, look, false},
		{Rule{Tool: "*", Mode: Late}, look, false},
		{Rule{Tool: "*", Mode: PartialWrite}, look, false},
		{Rule{Tool: "*", Mode: ReplyLost}, pay, true},
		{Rule{Tool: "orders", Mode: ReplyLost}, look, true},
		{Rule{Tool: "*", Mode: Reset}, look, true},
	} {
		test.rule.Layer = Tool
		l := ledger(t, Plan{Rules: []Rule{test.rule}, Harmless: harmless})
		if got := len(l.Decide(test.call).Strikes) > 0; got != test.want {
			t.Errorf("%s of %s on %s: %v", test.rule.Mode, test.rule.Tool, test.call.Name(), got)
		}
	}
}

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a/b", true}, {"a*c", "abbc", true}, {"a*c", "abb", false},
		{"a?c", "aéc", true}, {"a?c", "ac", false}, {"[ab]x", "bx", true}, {"[!ab]x", "bx", false}, {"[!ab]x", "cx", true},
		{"[a-c]", "b", true}, {"[a-c]", "d", false}, {"[]]", "]", true}, {"[", "[", true}, {"[a", "[a", true}, {"a[", "a[", true},
		{"*a*b*c", "xxaxxbxxc", true}, {"*a*b*c", "xxaxxbxx", false}, {"**", "x", true}, {"http://h/*", "http://h/", true},
		{"[-a]", "-", true}, {"[a-]", "-", true}, {"A", "a", false},
		{Literal("h[1]?*"), "h[1]?*", true}, {Literal("h[1]?*"), "h1ab", false},
	}
	for _, test := range tests {
		if got := Glob(test.pattern, test.text); got != test.want {
			t.Errorf("Glob(%q, %q) = %v", test.pattern, test.text, got)
		}
	}
	long := strings.Repeat("a", 5000)
	if Glob(strings.Repeat("*a", 50)+"*b", long) {
		t.Error("matched") // and came back at once: nothing here is exponential
	}
}

func TestWrongRules(t *testing.T) {
	wrong := []Rule{
		{Layer: Tool, Mode: Truncated}, {Layer: LLM, Mode: Stale}, {Layer: Tool, Mode: "tiemout"}, {Layer: "x", Mode: Error},
		{Layer: Tool, Mode: Error, Trigger: Trigger{Probability: share(1.5)}}, {Layer: Tool, Mode: Error, Trigger: Trigger{Calls: []int{0}}},
		{Layer: Tool, Mode: Error, Status: 99}, {Layer: Tool, Mode: Slow, Delay: -1}, {Layer: LLM, Mode: Drift, DriftType: "x"},
		{Layer: LLM, Mode: Drift, Direction: "up"}, {Layer: Context, Mode: Overflow, At: "x"}, {Layer: Context, Mode: Overflow, Strategy: "x"},
	}
	_, err := NewLedger(Plan{Rules: wrong}, nil)
	if err == nil {
		t.Fatal("accepted")
	}
	if got := strings.Count(err.Error(), "\n") + 1; got != len(wrong) {
		t.Errorf("%d of %d rules are refused:\n%v", got, len(wrong), err)
	}
}

func TestRecordedResponses(t *testing.T) {
	plan := Plan{Recorded: []Recorded{
		{Tool: "Search", Response: []byte(`{"n":1}`)}, {Tool: "book", Response: []byte(`"plain text"`), Status: 201},
		{Tool: "search", Response: []byte(`{"n":2}`), Status: 500}, {Tool: "never", Response: []byte(`1`)},
	}}
	l := ledger(t, plan)
	call := func(tool string) string {
		d := l.Decide(Call{Kind: ToolCall, Names: []string{tool, "localhost"}})
		if d.Recorded == nil {
			return fmt.Sprintf("none, refused %v", d.Refused)
		}
		r := d.Recorded.Reply()
		return fmt.Sprintf("%d %s %s", r.Status, r.ContentType, r.Body)
	}
	got := []string{call("search"), call("search"), call("search"), call("book"), call("else")}
	want := []string{
		`200 application/json {"n":1}`, `500 application/json {"n":2}`, "none, refused true",
		"201 text/plain; charset=utf-8 plain text", "none, refused true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r := l.Report(); !slices.Equal(r.Unused, []string{"never"}) {
		t.Errorf("unused %q", r.Unused)
	}
	if l.Decide(Call{Kind: ModelCall}).Refused {
		t.Error("the LLM is refused")
	}
}

func TestPromptAttacks(t *testing.T) {
	tests := []struct {
		rule Rule
		want string
	}{
		{Rule{Mode: MemoryPoisoning, Payload: "P"}, "ask\n\nP"},
		{Rule{Mode: MemoryPoisoning, Payload: "P", Strategy: Prepend}, "P\n\nask"},
		{Rule{Mode: MemoryPoisoning, Payload: "P", Strategy: Swap}, "P"},
		{Rule{Mode: MemoryPoisoning}, "ask\n\n" + defaultMemory},
		{Rule{Mode: ConflictingContext}, "ask\n\n" + defaultConflict},
		{Rule{Mode: InjectionViaContext, Payload: "P", Strategy: Prepend}, "Context:\n---\nP\n---\n\nask"},
		{Rule{Mode: Overflow, InjectTokens: 3}, "the archive lists\n\nask"},
		{Rule{Mode: IndirectInjection}, "ask"},
		{Rule{Mode: IndirectInjection, At: AtPrompt, Payloads: []string{"1", "2"}}, "ask\n\n1"},
		{Rule{Mode: MemoryPoisoning, Trigger: Trigger{Calls: []int{2}}}, "ask"},
	}
	for _, test := range tests {
		test.rule.Layer = Context
		l := ledger(t, Plan{Rules: []Rule{test.rule}})
		if got := l.Prompt("ask"); got != test.want {
			t.Errorf("%s: %q, want %q", test.rule.Mode, got, test.want)
		}
		if r := l.Report(); (r.Tallies[0].Fired == 1) != (test.want != "ask") || r.Tallies[0].Fired != len(r.Events) {
			t.Errorf("%s: fired %d times, %d events", test.rule.Mode, r.Tallies[0].Fired, len(r.Events))
		}
	}
}

// A URL goes by the words of its path, the last first, and by its host; numbers, versions
// and identifiers are no words.
func TestNamesOfURLs(t *testing.T) {
	for raw, want := range map[string]string{
		"http://api.example.com:8080/v1/orders/17/items": "items orders api.example.com:8080 api.example.com api",
		"http://localhost/V2/v10/x1/vx/":                 "vx localhost", "http://127.0.0.1/a/b1c2d3/a": "a 127.0.0.1",
		"http://h/" + strings.Repeat("w", 64) + "/" + strings.Repeat("l", 65): strings.Repeat("w", 64) + " h",
		"http://h/v": "v h", "http://h/ab1/w1": "ab1 h",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Derived(u), " "); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestReportIsRedacted(t *testing.T) {
	l := ledger(t, Plan{Capture: 1000})
	d := l.Decide(Call{Kind: ToolCall, Names: []string{"t"}})
	l.Exchanged(d, Exchange{
		URL:      "https://user:pass@h/x?api_key=abc123&q=ok&key=zz",
		Request:  []byte(`{"api_key": "s3cr\"et", "max_tokens": 5, "key": "title", "x": {"password":"p"}}`),
		Response: []byte("Authorization: Bearer abcdefghijklmnop and sk-abcdefghijklmnopqrstuvwx and \"next_page_token\": \"7\""),
	})
	e := l.Report().Exchanges[0]
	if got := e.URL; got != "https://h/x?api_key=[redacted]&q=ok&key=[redacted]" {
		t.Error(got)
	}
	if got := string(e.Request); got != `{"api_key": "[redacted]", "max_tokens": 5, "key": "title", "x": {"password":"[redacted]"}}` {
		t.Error(got)
	}
	if got := string(e.Response); got != `Authorization: [redacted] and [redacted] and "next_page_token": "7"` {
		t.Error(got)
	}
}

func TestEndlessAgentsDoNotFillTheMemory(t *testing.T) {
	l := ledger(t, Plan{Rules: []Rule{{Layer: Tool, Mode: Error}}})
	for i := range maxKept + 50 {
		d := l.Decide(Call{Kind: ToolCall, Names: []string{"t"}})
		l.Fired(d, &d.Strikes[0], "x")
		l.Saw(SeenCall{Tool: "t", Arguments: fmt.Sprint(i)})
	}
	r := l.Report()
	if len(r.Events) != maxKept || len(r.ToolCalls) != maxKept || r.Tallies[0].Fired != maxKept+50 || len(r.Notes) != 1 {
		t.Errorf("%d events, %d calls, %+v, %q", len(r.Events), len(r.ToolCalls), r.Tallies, r.Notes)
	}
}

// A model's reply answers the question that it answered then, whatever the order;
// what was not asked then is refused, and so are tools where models alone are
// recorded. Without recorded replies models are asked.
func TestRecordedReplies(t *testing.T) {
	ask := func(l *Ledger, asked string) string {
		d := l.Decide(Call{Kind: ModelCall, Names: []string{"openai"}, Asked: asked})
		if d.Refused {
			return "refused"
		}
		if d.Recorded == nil {
			return "asked"
		}
		return string(d.Recorded.Response)
	}
	reply := func(asked, text string) Recorded {
		return Recorded{Tool: "openai", Model: true, Asked: asked, Response: []byte(text)}
	}
	l := ledger(t, Plan{Recorded: []Recorded{reply("a", "1"), reply("b", "2"), reply("a", "3"), reply("", "4")}})
	for i, want := range []struct{ asked, reply string }{{"b", "2"}, {"a", "1"}, {"a", "3"}, {"c", "4"}, {"a", "refused"}} {
		if got := ask(l, want.asked); got != want.reply {
			t.Errorf("question %d: %s, want %s", i, got, want.reply)
		}
	}
	if d := l.Decide(Call{Kind: ToolCall, Names: []string{"openai"}}); !d.Refused {
		t.Error("a tool was called that nothing is recorded of")
	}
	l = ledger(t, Plan{Recorded: []Recorded{{Tool: "find"}, reply("a", "1")}})
	if got := l.Report().Unused; len(got) != 2 {
		t.Errorf("unused: %q", got)
	}
	if l = ledger(t, Plan{Recorded: []Recorded{{Tool: "find"}}}); ask(l, "") != "asked" {
		t.Error("a model is not asked though no reply of it is recorded")
	}
}

// What is drawn or read from a clock makes no other question, and what is asked
// does; all shapes tell what was said and what was handed in.
func TestQuestions(t *testing.T) {
	request := func(path, body string) *Request {
		r := Recognize("POST", path, []byte(body))
		if r == nil {
			t.Fatalf("%s is no request", body)
		}
		return r
	}
	chat := func(text string) *Request {
		return request("/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":%q}]}`, text))
	}
	one := chat("id 123e4567-e89b-42d3-a456-426614174000 at 2024-02-03T04:05:06.7Z, 1700000000").Asked()
	if two := chat("id 00000000-e89b-42d3-a456-426614174999 at 2025-11-12T13:14:15Z, 1712345678").Asked(); one != two {
		t.Error("the same question with other times is another one")
	}
	if chat("order 4711").Asked() == chat("order 4712").Asked() {
		t.Error("two questions are one")
	}
	for name, r := range map[string]*Request{
		"openai chat": request("/v1/chat/completions", `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"old"},{"role":"tool","tool_call_id":"c0","content":"no"},{"role":"assistant","content":"so"},{"role":"user","content":[{"type":"text","text":"new"}]},{"role":"tool","tool_call_id":"c1","content":"yes"}]}`),
		"responses":   request("/v1/responses", `{"input":[{"role":"user","content":"old"},{"role":"assistant","content":[{"type":"output_text","text":"so"}]},{"role":"user","content":[{"type":"input_text","text":"new"}]},{"type":"function_call_output","call_id":"c1","output":"yes"}]}`),
		"anthropic":   request("/v1/messages", `{"messages":[{"role":"user","content":"old"},{"role":"assistant","content":"so"},{"role":"user","content":"new"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"yes"}]}]}`),
	} {
		if got := fmt.Sprint(r.Talk(), r.Results()); got != "[{user  old} {assistant  so} {user  new}] [{ c1 yes}]" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, x := range []struct{ path, body, kind, answer string }{
		{"/v1/chat/completions", `{"messages":[]}`, typeSSE, "data: {\"choices\":[{\"delta\":{\"content\":\"a \"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\ndata: [DONE]\n\n"},
		{"/v1/messages", `{"messages":[]}`, typeJSON, `{"content":[{"type":"text","text":"a b"}]}`},
		{"/api/generate", `{"prompt":"p"}`, typeNDJSON, "{\"response\":\"a \"}\n{\"response\":\"b\"}\n"},
	} {
		if got := request(x.path, x.body).Answered(x.kind, []byte(x.answer)); got != "a b" {
			t.Errorf("%s: %q", x.path, got)
		}
	}
	if got := request("/api/generate", `{"prompt":"p"}`).Talk(); len(got) != 1 || got[0].Text != "p" {
		t.Errorf("a prompt: %v", got)
	}
}
