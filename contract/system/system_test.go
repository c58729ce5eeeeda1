package system

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/schemagen"
	"github.com/thresh-dev/thresh/port/sut"
)

var shop = []sut.Operation{
	{Name: "share", Method: "GET", Schema: json.RawMessage(`{"type":"object","required":["by"],"properties":{"by":{"type":"integer","minimum":0}}}`),
		Arguments: []sut.Argument{{Name: "by", In: "query", Type: "integer"}},
		Answers:   map[string]json.RawMessage{"200": json.RawMessage(`{"type":"object","required":["left"]}`), "422": nil}},
	{Name: "order", Method: "POST", Schema: json.RawMessage(`{"type":"object"}`)},
}

func TestVerdicts(t *testing.T) {
	for _, x := range []struct {
		valid bool
		o     sut.Observation
		want  string // kind and title
	}{
		{true, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`{"left": 1}`)}, ""},
		{true, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`{}`)}, "answer share: the answer does not fit its schema: the value: missing property 'left'"},
		{true, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`<p>`)}, "answer share: the answer does not fit its schema: it is not JSON"},
		{true, sut.Observation{End: sut.Answered, Status: 201}, "undeclared-status share: HTTP 201 is not declared"},
		{true, sut.Observation{End: sut.Refused, Status: 404}, "undeclared-status share: HTTP 404 is not declared"},
		{false, sut.Observation{End: sut.Refused, Status: 404}, ""},
		{true, sut.Observation{End: sut.Refused, Status: 429}, "refused: HTTP 429"},
		{true, sut.Observation{End: sut.Refused, Status: 422}, "refused: HTTP 422"},
		{true, sut.Observation{End: sut.Crashed, Status: 500, Why: "HTTP 500"}, "crash share: HTTP 500"},
		{true, sut.Observation{End: sut.Crashed, Why: "a report on standard error: KeyError in a.py:f line 3: <str>", Printed: []byte("Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 'x'\n")},
			"crash share: a report on standard error: KeyError in a.py:f line 3: <str>"},
		{true, sut.Observation{End: sut.Hung}, "timeout share: no answer in time"},
		{true, sut.Observation{End: sut.Refused, Why: "KeyError: 'a'"}, `internal-error share: reports an error of its runtime for valid input: "KeyError"`},
		{false, sut.Observation{End: sut.Refused, Why: "KeyError: 'a'"}, ""},
		{true, sut.Observation{End: sut.Answered, Output: []byte("Error: Cannot read properties of undefined (reading 'id')")},
			`internal-error share: answers with an error of its runtime, as if the call had succeeded: "Cannot read properties of"`},
		{true, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`{"left": 1, "note": "an error occurred: psycopg2.errors.UndefinedTableError"}`)},
			`internal-error share: answers with an error of its runtime, as if the call had succeeded: "psycopg2.errors.UndefinedTableError"`},
		{true, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`{"left": 1, "note": "how to read a KeyError"}`)}, ""},
		{true, sut.Observation{End: sut.Answered, Output: []byte("Error: SyntaxError: Unexpected end of JSON input\n    at JSON.parse (<anonymous>)\n    at file:///srv/shop.mjs:50:30")},
			`internal-error share: answers with an error of its runtime, as if the call had succeeded: "a stack trace"`},
		{true, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`{"left": 1, "note": "an exception occurred: x\n\tat a.B.c(B.java:12)"}`)},
			`internal-error share: answers with an error of its runtime, as if the call had succeeded: "a stack trace"`},
		{true, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`{"left": 1, "note": "Lunch is\n at 12:30:15"}`)}, ""},
		{true, sut.Observation{End: sut.Refused, Why: "there is no such order"}, "refused: an error of the tool"},
		{false, sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`{"left": 1}`)}, "accepted"},
	} {
		out := judge(nil, &shop[0], &input{Operation: "share", Valid: x.valid}, &x.o)
		got := strings.TrimSpace(out.Kind + " " + out.Title)
		if got == "" {
			got = string(out.Data)
		}
		if got != x.want {
			t.Errorf("valid=%t %+v: %q, want %q", x.valid, x.o, got, x.want)
		}
	}
}

// A failure on one line of a program is one finding, whatever the exception says.
func TestCauseOfReports(t *testing.T) {
	var causes [2]string
	for i, says := range []string{"Expecting value: line 1 column 1 (char 0)", "Extra data: line 1 column 5 (char 4)"} {
		o := sut.Observation{End: sut.Crashed, Printed: []byte("Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nJSONDecodeError: " + says + "\n")}
		o.Why = "a report on standard error: JSONDecodeError in a.py:f line 3: " + says
		out := judge(nil, &sut.Operation{Name: "read"}, &input{Operation: "read", Valid: true}, &o)
		causes[i] = strings.Join(out.Cause, "|")
	}
	if causes[0] != causes[1] {
		t.Errorf("two causes:\n%s\n%s", causes[0], causes[1])
	}
}

// What runtimes say of valid input, and what a server may say itself.
func TestWordsOfRuntimes(t *testing.T) {
	for says, want := range map[string]bool{
		"Reduce of empty array with no initial value": true, "integer modulo by zero": true, "unhashable type: 'list'": true,
		"max() iterable argument is empty": true, "f() missing 1 required positional argument: 'x'": true,
		`The "data" argument must be of type string or an instance of Buffer. Received undefined`: true,
		"Cannot set properties of null (setting 'a')":                                             true, "Index 5 out of bounds for length 3": true,
		"undefined method `upcase' for nil:NilClass": true, "attempt to subtract with overflow": true,
		"the list is empty": false, "missing required argument: name": false, "the argument must be positive": false,
		"Division by zero is not allowed": false, "unknown method 'x' for orders": false, "the index is out of the catalogue": false,
	} {
		if got := runtimeError(&sut.Operation{}, says, nil); (got != "") != want {
			t.Errorf("%s: %q", says, got)
		}
	}
}

// What a runtime says of a regular expression is its own error unless the operation takes one.
func TestRuntimeErrorsOfPatterns(t *testing.T) {
	const says = "Invalid regular expression: /[/: Unterminated character class"
	for want, op := range map[string]sut.Operation{
		"Invalid regular expression: /": {Name: "search", Description: "Find plates.", Schema: []byte(`{"properties":{"text":{"type":"string"}}}`)},
		"":                              {Name: "search", Schema: []byte(`{"properties":{"text":{"description":"a regex"}}}`)},
	} {
		if got := runtimeError(&op, says, nil); got != want {
			t.Errorf("%s: %q, want %q", op.Schema, got, want)
		}
	}
}

// What a runtime says of dates is its own error where every date of the call exists; where
// one does not, or the dates are numbers, it refuses the call.
func TestRuntimeErrorsOfDates(t *testing.T) {
	const says = "Error executing tool age: day is out of range for month"
	for args, want := range map[string]string{
		`{"day":"2024-02-29"}`: "day is out of range for month", `{"day":"2024-02-30"}`: "", `{"year":2024,"month":2,"day":30}`: "",
		`{"from":"2024-02-29","to":"2024-02-30"}`: "",
	} {
		if got := runtimeError(&sut.Operation{}, says, []byte(args)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	if got := runtimeError(&sut.Operation{}, "the day must not be in the future", []byte(`{"day":"9999-12-31"}`)); got != "" {
		t.Errorf("a refusal is taken for %q", got)
	}
}

// An error of the protocol is in the finding, with its code.
func TestErrorsOfTheProtocol(t *testing.T) {
	o := sut.Observation{End: sut.Crashed, Why: "MCP error -32603: Internal error"}
	out := judge(nil, &shop[0], &input{Operation: "share", Valid: true}, &o)
	if title, _ := (&Campaign{}).Refine(out.Title, out.Severity, out); title != "share: MCP error -32603: Internal error" {
		t.Errorf("the title is %q", title)
	}
}

// What may change something is not among the cases unless it is asked for, and
// what failed once is not called with several special arguments.
func TestRounds(t *testing.T) {
	c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP}, seed: 1}
	if !c.onlyIfAsked(&shop[1]) || c.onlyIfAsked(&shop[0]) {
		t.Error("POST is called unasked, or GET is not")
	}
	c.writes = true
	if c.onlyIfAsked(&shop[1]) {
		t.Error("POST is not called though it was asked for")
	}
	data, err := json.Marshal(shop[:1])
	if err != nil {
		t.Fatal(err)
	}
	s := c.Start(campaign.Facts{Data: data})
	first, ok := c.Round(s)
	if !ok || first.Len == 0 || first.Len > 2 {
		t.Fatalf("the first round has %d cases", first.Len)
	}
	next := c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
		yield(campaign.Case{Index: 0}, campaign.Outcome{Verdict: campaign.VerdictFail, Kind: kindCrash})
	})
	if r, _ := c.Round(next); r.Len != 0 {
		t.Errorf("%d calls of an operation whose usual call fails", r.Len)
	}
	passed := c.Fold(c.Fold(s, func(func(campaign.Case, campaign.Outcome) bool) {}), func(func(campaign.Case, campaign.Outcome) bool) {}) // and not looked at for leaks
	if r, _ := c.Round(passed); r.Len < 10 {
		t.Errorf("%d calls with one special argument", r.Len)
	}
}

// An operation that fails in one of its usual calls is called further, and what it
// fails with there is about no argument. A list in a query is sent.
func TestCalledFurther(t *testing.T) {
	c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP}, seed: 1}
	op := sut.Operation{Name: "list", Method: "GET", Arguments: []sut.Argument{{Name: "limit", In: "query", Type: "integer"}, {Name: "tag", In: "query", Type: "array"}},
		Schema: json.RawMessage(`{"type":"object","required":["limit"],"properties":{"limit":{"type":"integer","minimum":1,"maximum":9},"tag":{"type":"array","items":{"type":"string"},"maxItems":3}}}`)}
	data, err := json.Marshal([]sut.Operation{op})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Start(campaign.Facts{Data: data})
	first, _ := c.Round(s)
	if first.Len != 2 || !strings.Contains(string(first.At(0)), `"tag":[`) {
		t.Fatalf("%d usual calls, the first is %s", first.Len, first.At(0))
	}
	fold := func(verdicts ...campaign.Verdict) *state {
		usual := c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i, v := range verdicts {
				yield(campaign.Case{Index: int64(i)}, campaign.Outcome{Verdict: v, Kind: kindCrash, Title: "list: HTTP 500"})
			}
		})
		return c.Fold(usual, func(func(campaign.Case, campaign.Outcome) bool) {})
	}
	if r, _ := c.Round(fold(campaign.VerdictFail, campaign.VerdictFail)); r.Len != 0 {
		t.Errorf("%d calls of an operation whose usual calls all fail", r.Len)
	}
	some := fold(campaign.VerdictFail, campaign.VerdictPass)
	if r, _ := c.Round(some); r.Len < 5 {
		t.Errorf("%d calls of an operation that fails in one usual call", r.Len)
	}
	crash := sut.Observation{End: sut.Crashed, Status: 500, Why: "HTTP 500"}
	all := judge(some, &op, &input{About: "all", Valid: true}, &crash)
	one := judge(some, &op, &input{About: "limit: minimum", Valid: true}, &crash)
	if !slices.Equal(one.Cause, all.Cause) {
		t.Errorf("the causes are %q and %q", one.Cause, all.Cause)
	}
}

func TestRefused(t *testing.T) {
	text, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	document, want, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	none := func(string) (string, error) { return "", os.ErrNotExist }
	_, list := New(nil).Compile(context.Background(), campaign.Spec{Path: "x.system.yaml", Data: []byte(strings.ReplaceAll(document, "|", "\n"))},
		campaign.Settings{Digest: none})
	if len(list) != 1 || !strings.HasPrefix(list.Render(diag.Style{}), want) {
		t.Errorf("%v, want %s", list, want)
	}
}

// An answer is compared with its schema where there is one to compare.
func TestAnswersThatDoNotFit(t *testing.T) {
	number := json.RawMessage(`{"type":"integer"}`)
	for name, x := range map[string]struct {
		schema json.RawMessage
		method string
		o      sut.Observation
		want   string
	}{
		"fits":                       {number, "GET", sut.Observation{End: sut.Answered, Status: 200, Output: []byte("7")}, ""},
		"does not":                   {number, "GET", sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`"x"`)}, "must be"},
		"is empty":                   {number, "GET", sut.Observation{End: sut.Answered, Status: 200}, "it is empty"},
		"a refusal":                  {number, "GET", sut.Observation{End: sut.Refused, Status: 404, Output: []byte(`"x"`)}, "must be"},
		"HEAD has no body":           {number, "HEAD", sut.Observation{End: sut.Answered, Status: 200}, ""},
		"204 has none":               {number, "GET", sut.Observation{End: sut.Answered, Status: 204}, ""},
		"no schema":                  {nil, "GET", sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`"x"`)}, ""},
		"null":                       {json.RawMessage("null"), "GET", sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`"x"`)}, ""},
		"no schema that can be used": {json.RawMessage(`{"type":7}`), "GET", sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`"x"`)}, ""},
		"a tool's value":             {number, "", sut.Observation{End: sut.Answered, Value: json.RawMessage("7"), Output: []byte(`"x"`)}, ""},
		"a tool's value, wrong":      {number, "", sut.Observation{End: sut.Answered, Value: json.RawMessage(`"x"`), Output: []byte("7")}, "must be"},
		"a tool that refuses":        {number, "", sut.Observation{End: sut.Refused, Value: json.RawMessage(`"x"`)}, ""},
	} {
		got := schemaMismatch(x.schema, &sut.Operation{Method: x.method}, &x.o)
		if (got == "") != (x.want == "") || got != "" && x.want == "it is empty" && got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// Statuses that need no declaration, and those that only invalid input may have.
func TestUndeclaredStatuses(t *testing.T) {
	op := sut.Operation{Answers: map[string]json.RawMessage{"200": nil, "5XX": nil, "3xx": nil}}
	for status, allowed := range map[int]string{
		200: "both", 401: "both", 403: "both", 413: "both", 414: "both", 429: "both", 431: "both", 503: "both", 302: "both",
		400: "invalid", 404: "invalid", 405: "invalid", 415: "invalid", 422: "invalid",
		201: "", 402: "", 409: "", 412: "", 415 + 1: "", 430: "", 432: "", 406: "", 423: "",
	} {
		for _, valid := range []bool{true, false} {
			o := judge(nil, &op, &input{Operation: "share", Valid: valid}, &sut.Observation{End: sut.Refused, Status: status})
			if want := allowed == "both" || allowed == "invalid" && !valid; (o.Kind == "") != want {
				t.Errorf("%d, valid %t: %q", status, valid, o.Title)
			}
		}
	}
	op.Answers["default"] = nil
	if o := judge(nil, &op, &input{Valid: true}, &sut.Observation{End: sut.Refused, Status: 409}); o.Kind != "" {
		t.Errorf("declared by default: %q", o.Title)
	}
}

// A failing call is made smaller: arguments that it does not need go, texts are
// halved while it fails, and nothing is tried once a test could not be made.
func TestReduce(t *testing.T) {
	long := `{"a":"xxxxxxxxbbbbbbbb","b":7,"c":"kept"}`
	has := func(key string, least int) func(map[string]any) bool {
		return func(m map[string]any) bool { text, _ := m[key].(string); return len(text) >= least }
	}
	for name, x := range map[string]struct {
		fails func(map[string]any) bool
		want  string
	}{
		"nothing is needed": {func(map[string]any) bool { return true }, `{}`},
		"one is":            {func(m map[string]any) bool { return m["b"] != nil }, `{"b":7}`},
		"half of a text":    {has("a", 8), `{"a":"xxxxxxxx"}`},
		"a character":       {has("a", 1), `{"a":"x"}`},
		"two are":           {func(m map[string]any) bool { return m["b"] != nil && has("c", 4)(m) }, `{"b":7,"c":"kept"}`},
		"all is needed":     {func(map[string]any) bool { return false }, `{"a":"xxxxxxxxbbbbbbbb","b":7,"c":"kept"}`},
	} {
		payload := withArguments(t, long)
		small, _ := new(Campaign).Reduce(t.Context(), payload, func(p []byte) (bool, error) {
			var in input
			var m map[string]any
			if json.Unmarshal(p, &in) != nil || json.Unmarshal(in.Args, &m) != nil {
				t.Fatalf("%s: %s", name, p)
			}
			return x.fails(m), nil
		})
		var in input
		if err := json.Unmarshal(small, &in); err != nil || string(in.Args) != x.want {
			t.Errorf("%s: %s, want %s", name, in.Args, x.want)
		}
	}
	tried := 0
	payload := withArguments(t, long)
	small, _ := new(Campaign).Reduce(t.Context(), payload, func([]byte) (bool, error) { tried++; return true, context.Canceled })
	if tried != 1 || string(small) != string(payload) {
		t.Errorf("after an error: %d tries, %s", tried, small)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	new(Campaign).Reduce(ctx, payload, func([]byte) (bool, error) { t.Error("tried after the end"); return true, nil })
}

// withArguments is an input as a payload.
func withArguments(t *testing.T, args string) []byte {
	t.Helper()
	data, err := json.Marshal(input{Operation: "share", Args: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestWhatWasAcceptedIsShown(t *testing.T) {
	c := &Campaign{}
	if list := c.Summarize(&state{}).Exhibits; len(list) != 0 {
		t.Errorf("%v", list)
	}
	if list := c.Summarize(&state{accepted: []input{{Operation: "share", About: "by: below 0", Args: json.RawMessage(`{"by":-1}`)}}}).Exhibits; len(list) != 1 {
		t.Errorf("%v", list)
	}
}

// shelf is a server whose tool answers by what it was asked before.
type shelf struct {
	asked []string
	says  func(asked []string) string
}

func (s *shelf) Operations() []sut.Operation { return nil }
func (s *shelf) Reset(context.Context) error { s.asked = nil; return nil }
func (s *shelf) Notes() []string             { return nil }
func (s *shelf) Close() error                { return nil }
func (s *shelf) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	text := ""
	for _, a := range c.Named {
		text += string(a.Value)
	}
	s.asked = append(s.asked, text)
	return sut.Observation{End: sut.Answered, Output: []byte(s.says(s.asked))}, nil
}

// An answer that depends on calls before is a finding of a tool that reads, by
// its annotations or its name, and of no other.
func TestStateLeaks(t *testing.T) {
	gathers := func(asked []string) string { return strings.Join(asked, " ") }
	n := 0
	for name, x := range map[string]struct {
		tool string
		says func([]string) string
		want string
	}{
		"gathers":               {"list_tags", gathers, "list_tags: the answer depends on earlier calls (its name says that it changes nothing)"},
		"keeps nothing":         {"list_tags", func(asked []string) string { return asked[len(asked)-1] }, ""},
		"differs each time":     {"list_tags", func([]string) string { n++; return strings.Repeat("x", n) }, ""},
		"its name says so":      {"addTag", gathers, "none"},
		"its name says it also": {"set_language", gathers, "none"},
		"its name says nothing": {"make_bed", gathers, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			open := func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return &shelf{says: x.says}, nil }
			c := &Campaign{open: open, plan: &sut.Plan{Kind: sut.MCP, Command: []string{"server"}}, seed: 1}
			op := sut.Operation{Name: x.tool, Schema: json.RawMessage(`{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}`)}
			data, err := json.Marshal([]sut.Operation{op})
			if err != nil {
				t.Fatal(err)
			}
			s := c.Start(campaign.Facts{Data: data})
			at := slices.IndexFunc(s.plans[1], func(p []byte) bool { return strings.Contains(string(p), `"before"`) })
			if (at >= 0) != (x.want != "none") {
				t.Fatalf("the case that looks for leaks is number %d", at)
			} else if at < 0 {
				return
			}
			first := s.plans[1][at]
			e, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
			if err != nil {
				t.Fatal(err)
			}
			out, err := e.Execute(t.Context(), s, campaign.Case{Payload: first})
			if err != nil || out.Title != x.want {
				t.Errorf("%q, %v", out.Title, err)
			}
		})
	}
}

// What ends the server, or takes too long, whatever it is called with, is not among the calls before.
func TestLeaksWithoutWhatAlwaysFails(t *testing.T) {
	var asked []string
	open := func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) {
		return &shelf{says: func(list []string) string { asked = append(asked, list[len(list)-1]); return "same" }}, nil
	}
	e := &executor{since: new(atomic.Int64), c: &Campaign{open: open, plan: &sut.Plan{Kind: sut.MCP, Command: []string{"server"}}}}
	in := input{Operation: "look", Args: json.RawMessage(`{"a":0}`), Before: []earlier{{Operation: "bad", Args: json.RawMessage(`{"a":1}`)}, {Operation: "good", Args: json.RawMessage(`{"a":2}`)}}}
	s := &state{failed: map[string]bool{"bad": true}}
	if _, err := e.executeLeak(t.Context(), s, campaign.Case{}, &sut.Operation{Name: "look"}, &in); err != nil || !slices.Equal(asked, []string{"0", "2", "0"}) {
		t.Errorf("the calls are %q, %v", asked, err)
	}
}

// The last call before one that is looked at for a leak has something to keep.
func TestLeakAfterAFullCall(t *testing.T) {
	c := &Campaign{plan: &sut.Plan{Kind: sut.MCP, Command: []string{"server"}}, seed: 1}
	op := sut.Operation{Name: "look", Reads: true}
	lists := c.leaks([]usage{{&op, [2][]input{
		{{Operation: "look", Args: json.RawMessage(`{"q":"a"}`)}},
		{{Operation: "look", Args: json.RawMessage(`{"q":"bbbb"}`)}, {Operation: "look", Args: json.RawMessage(`{"q":""}`)}},
	}}})
	var in input
	if err := json.Unmarshal(lists[0][0], &in); err != nil {
		t.Fatal(err)
	}
	if last := in.Before[len(in.Before)-1]; string(last.Args) != `{"q":"bbbb"}` {
		t.Errorf("the last call before is %s", last.Args)
	}
}

// An answer has the type and the headers that are declared for its status.
func TestFrames(t *testing.T) {
	op := sut.Operation{Name: "get", Method: "GET", Answers: map[string]json.RawMessage{"200": json.RawMessage(`{"type":"integer"}`), "4XX": json.RawMessage(`{"type":"integer"}`), "default": nil, "403": json.RawMessage(`{"type":"integer"}`)},
		Frames: map[string]sut.Frame{
			"200": {Types: []string{"application/json", "text/*"}, Headers: []sut.Header{
				{Name: "x-total", Required: true, Type: "integer", Schema: json.RawMessage(`{"type":"integer","minimum":0}`)},
				{Name: "ETag", Type: "string", Schema: json.RawMessage(`{"type":"string","maxLength":3}`)}, {Name: "X-List", Type: "array", Schema: json.RawMessage(`{"type":"array"}`)}}},
			"default": {Types: []string{"application/problem+json"}},
		}}
	for name, x := range map[string]struct {
		status int
		output string
		header []string // a type, then names and values
		want   string
	}{
		"as declared":                   {200, "7", []string{"Application/JSON; charset=utf-8", "X-Total", "3", "X-List", "a,b"}, ""},
		"another type":                  {200, "<p>", []string{"text/html", "X-Total", "3"}, ""},
		"a type that is not there":      {200, "7", []string{"image/png", "X-Total", "3"}, "content-type get: HTTP 200: the answer is of type image/png, declared is application/json, text/*"},
		"no header":                     {200, "7", []string{"application/json"}, "header get: HTTP 200: the header x-total is missing"},
		"a header that does not fit":    {200, "7", []string{"application/json", "X-Total", "-1"}, "header get: HTTP 200: the header x-total does not fit its schema: minimum: got -1, want 0"},
		"a header that is not a number": {200, "7", []string{"application/json", "X-Total", "few"}, "header get: HTTP 200: the header x-total does not fit its schema: got string, want integer"},
		"an optional header":            {200, "7", []string{"application/json", "X-Total", "1", "Etag", "long"}, "header get: HTTP 200: the header ETag does not fit its schema: maxLength: got 4, want 3"},
		"what does not fit is first":    {200, `"x"`, []string{"application/json"}, "answer get: the answer does not fit its schema: the value: got string, want integer"},
		"another status":                {302, "no", []string{"text/plain"}, "content-type get: HTTP 302: the answer is of type text/plain, declared is application/problem+json"},
		"between client and service":    {401, "no", []string{"text/plain"}, ""},
		"and without content":           {401, "", []string{"text/plain"}, ""},
		"declared by itself":            {403, "", []string{"text/plain"}, "answer get: the answer does not fit its schema: it is empty"},
		"no content":                    {302, "", []string{"text/plain"}, ""},
	} {
		o := sut.Observation{End: sut.Answered, Status: x.status, Output: []byte(x.output), Header: map[string][]string{"Content-Type": x.header[:1]}}
		for i := 1; i < len(x.header); i += 2 {
			o.Header[x.header[i]] = x.header[i+1 : i+2]
		}
		out := judge(nil, &op, &input{Operation: "get", Valid: true}, &o)
		got := strings.TrimSpace(out.Kind + " " + out.Title)
		if out.Verdict != campaign.VerdictFail {
			got = ""
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// A service that takes no call was not tested; of an operation it is said.
func TestRefusedCalls(t *testing.T) {
	c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP}, seed: 1}
	ops := []sut.Operation{shop[0], shop[0]}
	ops[1].Name = "part"
	data, err := json.Marshal(ops)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		outcomes      []string
		void, warning string
	}{
		"all denied":    {[]string{"refused: HTTP 401", "refused: HTTP 403"}, "401 or 403", ""},
		"all refused":   {[]string{"refused: HTTP 401", "refused: HTTP 404"}, "no operation took a valid call, so that refusals alone were tested; give arguments that exist as examples in the schemas: part (HTTP 404), share (HTTP 401)", ""},
		"one is taken":  {[]string{"", "refused: HTTP 401"}, "", "1 operation took no valid call, so that little of it was tested: part (HTTP 401)"},
		"all are taken": {[]string{"", ""}, "", ""},
	} {
		s := c.Fold(c.Start(campaign.Facts{Data: data}), func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i, d := range x.outcomes {
				yield(campaign.Case{Index: int64(i)}, campaign.Outcome{Verdict: campaign.VerdictPass, Data: []byte(d)})
			}
		})
		sum := c.Summarize(s)
		if (x.void == "") != (sum.Void == "") || !strings.Contains(sum.Void, x.void) || strings.Join(sum.Warnings, "") != x.warning {
			t.Errorf("%s: void %q, warnings %q", name, sum.Void, sum.Warnings)
		}
	}
}

// A service that denies every call was not tested, also where calls need the answers of
// others, and where equal answers, such as these, show that nothing leaks.
func TestDeniedThroughout(t *testing.T) {
	c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP}, seed: 1}
	chained := shop[0]
	chained.Name = "chained"
	data, err := json.Marshal([]sut.Operation{shop[0], chained})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Start(campaign.Facts{Data: data})
	leaks := 0
	for {
		r, more := c.Round(s)
		if !more {
			break
		}
		from := s.first
		s = c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i := range r.Len {
				var in input
				if err := json.Unmarshal(r.At(i), &in); err != nil {
					t.Fatal(err)
				}
				data := refused + "HTTP 401"
				switch {
				case in.Before != nil:
					data = ""
					leaks++
				case in.Operation == "chained":
					data = string(nothing().Data)
				}
				yield(campaign.Case{Index: from + i}, campaign.Outcome{Verdict: campaign.VerdictPass, Data: []byte(data)})
			}
		})
	}
	if sum := c.Summarize(s); leaks == 0 || !strings.Contains(sum.Void, "401 or 403") {
		t.Errorf("%d looks for leaks, void %q, warnings %q", leaks, sum.Void, sum.Warnings)
	}
}

// What is sent as a text is sent only if it arrives as what it is.
func TestSendable(t *testing.T) {
	for name, x := range map[string]struct {
		a     sut.Argument
		kind  string // of the body
		value string
		valid bool
		want  bool
	}{
		"a list in a query":                 {sut.Argument{In: "query", Type: "array"}, "", `["a,b"]`, true, true},
		"joined by commas":                  {sut.Argument{In: "query", Type: "array", Style: sut.StyleCommas}, "", `["a","b"]`, true, true},
		"with commas of its own":            {sut.Argument{In: "query", Type: "array", Style: sut.StyleCommas}, "", `["a,b"]`, true, false},
		"a list in a path":                  {sut.Argument{In: "path", Type: "array"}, "", `[1,2]`, true, true},
		"an empty list":                     {sut.Argument{In: "query", Type: "array"}, "", `[]`, true, false},
		"an object in a query":              {sut.Argument{In: "query", Type: "object", Style: sut.StyleDeep}, "", `{"a":1}`, true, true},
		"an object in a header":             {sut.Argument{In: "header", Type: "object"}, "", `{"a":1}`, true, true},
		"nested in a query":                 {sut.Argument{In: "query", Type: "object", Style: sut.StyleDeep}, "", `{"a":{"b":1}}`, true, false},
		"nested as JSON":                    {sut.Argument{In: "query", Type: "object", Style: sut.StyleJSON}, "", `{"a":{"b":null}}`, true, true},
		"a cookie":                          {sut.Argument{In: "cookie", Type: "string"}, "", `"a"`, true, true},
		"a cookie that ends":                {sut.Argument{In: "cookie", Type: "string"}, "", `"a;b"`, true, false},
		"a header with blanks":              {sut.Argument{In: "header", Type: "string"}, "", `" a"`, true, false},
		"a number where a text is":          {sut.Argument{In: "body", Type: "string"}, sut.Multipart, `7`, false, false},
		"a text where a number is":          {sut.Argument{In: "body", Type: "integer"}, sut.Multipart, `"x"`, false, true},
		"an object in a part":               {sut.Argument{In: "body", Type: "object"}, sut.Multipart, `{"a":1}`, true, true},
		"an object in a form":               {sut.Argument{In: "body", Type: "object"}, "application/x-www-form-urlencoded", `{"a":1}`, true, false},
		"null in a form":                    {sut.Argument{In: "body", Type: "string"}, "application/x-www-form-urlencoded", `null`, false, false},
		"a number where a text is, as JSON": {sut.Argument{In: "body", Type: "string"}, "application/merge-patch+json", `7`, false, true},
	} {
		x.a.Name = "a"
		op := sut.Operation{Arguments: []sut.Argument{x.a}}
		if x.kind != "" {
			op.Headers = [][2]string{{"Content-Type", x.kind}}
		}
		in := schemagen.Input{About: "a: of type other", Valid: x.valid, Value: json.RawMessage(`{"a":` + x.value + `}`)}
		if got := sendable(&op, &in); got != x.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
