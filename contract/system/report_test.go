package system

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/port/sut"
)

// Verdicts at the limits of statuses, and what tells findings apart.
func TestVerdictsAtTheirLimits(t *testing.T) {
	number := json.RawMessage(`{"type":"integer"}`)
	op := sut.Operation{Name: "get", Method: "GET", Answers: map[string]json.RawMessage{"200": number, "300": nil, "400": nil},
		Frames: map[string]sut.Frame{"200": {Types: []string{"text/plain"}}}}
	one := sut.Operation{Name: "get", Answers: map[string]json.RawMessage{"200": nil}}
	for name, x := range map[string]struct {
		op    *sut.Operation
		valid bool
		o     sut.Observation
		want  string
	}{
		"a refusal that names an error": {&op, true, sut.Observation{End: sut.Refused, Status: 400, Output: []byte("KeyError: 'a'")}, "refused: HTTP 400"},
		"a redirection took nothing":    {&op, false, sut.Observation{End: sut.Answered, Status: 300}, ""},
		"a text has no schema":          {&op, true, sut.Observation{End: sut.Answered, Status: 200, Output: []byte("<p>"), Header: map[string][]string{"Content-Type": {"text/plain"}}}, ""},
		"one status is declared":        {&one, true, sut.Observation{End: sut.Refused, Status: 409}, "undeclared-status get: HTTP 409 is not declared"},
		"no status is declared":         {&sut.Operation{Name: "get"}, true, sut.Observation{End: sut.Refused, Status: 409}, "refused: HTTP 409"},
		"how it ended is not masked":    {&op, true, sut.Observation{End: sut.Crashed, Why: "the server ended during the call: exit code 4711"}, "crash get: the server ended during the call: exit code 4711"},
		"a number in a cause is masked": {&op, true, sut.Observation{End: sut.Crashed, Why: "broken pipe 4711"}, "crash get: " + crash.Mask("broken pipe 4711")},
		"an exception that was printed": {&op, true, sut.Observation{End: sut.Crashed, Status: 500, Why: "HTTP 500", Exit: 1,
			Printed: []byte("Traceback (most recent call last):\n  File \"shop.py\", line 3, in get\n    return stock[name]\nKeyError: 'tea'\n")}, "crash get: HTTP 500: KeyError in shop.py:get line 3: <str>"},
	} {
		out := judge(nil, x.op, &input{Operation: "get", Valid: x.valid}, &x.o)
		got := strings.TrimSpace(out.Kind + " " + out.Title)
		if got == "" {
			got = string(out.Data)
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
		if out.Verdict == campaign.VerdictFail && (out.Attached("answer") == nil) != (x.o.Output == nil) {
			t.Errorf("%s: the answer is kept as %q", name, out.Attached("answer"))
		}
		if printed := slices.ContainsFunc(out.Evidence, func(a campaign.Attachment) bool { return a.Name == "stderr" }); printed != (len(x.o.Printed) > 0) {
			t.Errorf("%s: stderr is kept: %t", name, printed)
		}
	}
	for about, want := range map[string]string{"by: minimum": "by", "all": "", "mixed by: minimum": ""} {
		about, mixed := strings.CutPrefix(about, "mixed ")
		out := judge(nil, &op, &input{About: about, Mixed: mixed}, &sut.Observation{End: sut.Hung})
		if got := out.Cause[len(out.Cause)-1]; got != want {
			t.Errorf("%q, mixed %t: a finding of the argument %q, want %q", about, mixed, got, want)
		}
	}
}

// A finding's title has the words of the answer, not those that all runs share.
func TestTitlesHaveTheWordsOfTheAnswer(t *testing.T) {
	o := campaign.Outcome{Evidence: []campaign.Attachment{{Name: "answer", Data: []byte("no order 4711 here")}}}
	title, severity := new(Campaign).Refine("get: "+crash.Mask("no order 4711 here"), campaign.SeverityHigh, o)
	if title != "get: no order 4711 here" || severity != campaign.SeverityHigh {
		t.Errorf("%q, %v", title, severity)
	}
}

// What a finding shows: the call, the smallest call, and answers; long ones are cut.
func TestWhatAFindingShows(t *testing.T) {
	c := new(Campaign)
	pack := func(in input) []byte {
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	text := func(n int) (json.RawMessage, string) { // cut after n bytes, with one byte too many
		s := `"` + strings.Repeat("x", n-1) + `"`
		return json.RawMessage(s), s[:n] + "…"
	}
	long, longCut := text(2000)
	before, beforeCut := text(500)
	answer, answerCut := text(4000)
	call := pack(input{Operation: "get", About: "q: long", Args: long, Before: []earlier{{Operation: "put", Args: before}}})
	small := pack(input{Operation: "get", About: "all", Valid: true, Args: json.RawMessage(`{}`)})
	both := campaign.Outcome{Evidence: []campaign.Attachment{{Name: "answer", Data: answer}, {Name: "fresh", Data: []byte("7")}}}
	shownCall := "Call|put " + beforeCut + "\nget " + longCut + "\ninvalid input: q: long"
	for name, x := range map[string]struct {
		out       campaign.Outcome
		minimized []byte
		want      []string
	}{
		"all":         {both, small, []string{shownCall, "Smallest call|get {}\nvalid input: all", "Answer|" + answerCut, "Answer without the calls before|7"}},
		"no smaller":  {campaign.Outcome{}, nil, []string{shownCall}},
		"empty":       {campaign.Outcome{Evidence: []campaign.Attachment{{Name: "answer"}}}, nil, []string{shownCall}},
		"unreadable":  {campaign.Outcome{}, []byte("{"), []string{shownCall, "Smallest call|"}},
		"not in text": {campaign.Outcome{Evidence: []campaign.Attachment{{Name: "answer", Data: []byte("a\xff")}}}, nil, []string{shownCall, "Answer|a\uFFFD"}},
	} {
		var got []string
		for _, e := range c.Describe(nil, campaign.Case{Payload: call}, x.out, x.minimized) {
			got = append(got, e.Title+"|"+e.Text.Body)
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
	if size, unit := gauge(t.Context(), pack(input{Args: json.RawMessage(`{"a":1}`)})); size != 7 || unit != "character" {
		t.Errorf("the size is %d %s", size, unit)
	}
	if size, unit := gauge(t.Context(), []byte("{")); size != 0 || unit != "" {
		t.Errorf("the size of what cannot be read is %d %s", size, unit)
	}
	args, argsCut := text(60)
	if sum := c.Summarize(&state{accepted: []input{{Args: args}}}); sum.Exhibits[0].Table.Rows[0][2] != argsCut || sum.Void != "" {
		t.Errorf("%+v", sum)
	}
	if sum := c.Summarize(&state{refused: map[string]string{"get": "HTTP 401"}}); sum.Void == "" {
		t.Error("a service that refuses its only operation was tested")
	}
}

// A text that only has to be there is made one character, not none; after an
// error what was found so far stays.
func TestReduceTexts(t *testing.T) {
	args := func(p []byte) string {
		var in input
		if err := json.Unmarshal(p, &in); err != nil {
			return string(p)
		}
		return string(in.Args)
	}
	for name, x := range map[string]struct {
		payload []byte
		test    func(args string) (bool, error)
		want    string
	}{
		"has to be there": {withArguments(t, `{"a":"xxxx"}`), func(s string) (bool, error) { return s != "{}", nil }, `{"a":"x"}`},
		"stops with errors": {withArguments(t, `{"a":"xxxx","b":1}`), func(s string) (bool, error) {
			return false, map[bool]error{true: context.Canceled}[strings.Contains(s, `"xx"`)]
		}, `{"a":"xxxx","b":1}`},
		"is not a case": {[]byte("{"), func(string) (bool, error) { return true, nil }, "{"},
	} {
		tries := 0
		small, _ := new(Campaign).Reduce(t.Context(), x.payload, func(p []byte) (bool, error) {
			if tries++; tries > 20 {
				t.Fatalf("%s: no end", name)
			}
			return x.test(args(p))
		})
		if got := args(small); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}

// What reads is looked at for leaks, with up to eight calls of other tools and four of
// its own before, the fullest last.
func TestCallsBefore(t *testing.T) {
	call := func(name, args string) input { return input{Operation: name, Args: json.RawMessage(args)} }
	many := make([]usage, 12)
	for i := range many {
		name := fmt.Sprintf("t%d", i)
		many[i] = usage{&sut.Operation{Name: name, Reads: i > 0, Destroys: i == 0}, [2][]input{{call(name, `{"a":1}`), call(name, `{}`)}, nil}}
	}
	many[2].valid[0] = nil
	many[3].valid[1] = []input{call("t3", `{"q":"bbbb"}`), call("t3", `{}`), call("t3", `{"q":""}`), call("t3", `{"q":"bb"}`), call("t3", `{"q":"b"}`)}
	alone := []usage{{&sut.Operation{Name: "addTag", Reads: true}, [2][]input{{call("addTag", `{}`)}, nil}}}
	server := sut.Plan{Kind: sut.MCP, Command: []string{"server"}}
	for name, x := range map[string]struct {
		plan sut.Plan
		all  []usage
		at   int
		want string
	}{
		"others and its own":     {server, many, 3, `t1{"a":1} t4{"a":1} t5{"a":1} t6{"a":1} t7{"a":1} t8{"a":1} t9{"a":1} t10{"a":1} t3{"a":1} t3{"q":""} t3{"q":"bb"} t3{"q":"bbbb"}`},
		"it changes something":   {server, many, 0, ""},
		"it has no usual call":   {server, many, 2, ""},
		"nothing to call before": {server, alone, 0, ""},
		"it runs elsewhere":      {sut.Plan{Kind: sut.MCP, URL: "http://127.0.0.1"}, many, 3, `t1{"a":1} t4{"a":1} t5{"a":1} t6{"a":1} t7{"a":1} t8{"a":1} t9{"a":1} t10{"a":1} t3{"a":1} t3{"q":""} t3{"q":"bb"} t3{"q":"bbbb"}`},
	} {
		c := &Campaign{plan: &x.plan}
		var got []string
		if lists := c.leaks(x.all); lists[x.at] != nil {
			var in input
			if err := json.Unmarshal(lists[x.at][0], &in); err != nil || string(in.Args) != `{}` {
				t.Errorf("%s: %s, %v", name, lists[x.at][0], err)
			}
			for _, b := range in.Before {
				got = append(got, b.Operation+string(b.Args))
			}
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// flaw is a server whose calls go as its function says.
type flaw struct {
	shelf
	call  func(asked []string) (sut.Observation, error)
	reset error
}

func (f *flaw) Reset(context.Context) error { f.asked = nil; return f.reset }
func (f *flaw) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	f.asked = append(f.asked, strings.Trim(string(c.Named[0].Value), `"`))
	return f.call(f.asked)
}

// A call before that does not end is left out; where the call itself does not end,
// nothing is said of leaks; what goes wrong is an error.
func TestLeaksOfServersThatBreak(t *testing.T) {
	says := func(s string) (sut.Observation, error) {
		return sut.Observation{End: sut.Answered, Output: []byte(s)}, nil
	}
	counts := func(asked []string) (sut.Observation, error) {
		if asked[len(asked)-1] == "boom" {
			return sut.Observation{End: sut.Crashed}, nil
		}
		return says(fmt.Sprint(len(asked)))
	}
	broken := errors.New("broken")
	for name, x := range map[string]struct {
		call          func([]string) (sut.Observation, error)
		before        string
		opens, resets error
		err           bool
		answer, fresh string
	}{
		"counts":                {call: counts, before: "a b", answer: "3", fresh: "1"},
		"the first breaks":      {call: counts, before: "boom a", answer: "2", fresh: "1"},
		"the second breaks":     {call: counts, before: "a boom b", answer: "3", fresh: "1"},
		"the first two break":   {call: counts, before: "boom boom a", answer: "2", fresh: "1"},
		"all before break":      {call: counts, before: "boom boom"},
		"one before is refused": {call: func(a []string) (sut.Observation, error) { o, _ := counts(a); o.End = sut.Refused; return o, nil }, before: "a", answer: "2", fresh: "1"},
		"it never ends":         {call: func([]string) (sut.Observation, error) { return sut.Observation{End: sut.Hung}, nil }, before: "a"},
		"it ends only at first": {call: func(a []string) (sut.Observation, error) {
			if len(a) > 1 && a[len(a)-1] == "own" {
				return sut.Observation{End: sut.Hung}, nil
			}
			return says("x")
		}, before: "a"},
		"a value": {call: func(a []string) (sut.Observation, error) {
			return sut.Observation{End: sut.Answered, Value: fmt.Append(nil, len(a))}, nil
		}, before: "a", answer: "2", fresh: "1"},
		"does not start": {call: counts, before: "a", opens: broken, err: true},
		"not begun anew": {call: counts, before: "a", resets: broken, err: true},
		"not called":     {call: func([]string) (sut.Observation, error) { return sut.Observation{}, broken }, before: "a", err: true},
		"no arguments":   {call: counts, before: "[", err: true},
	} {
		open := func(_ context.Context, p *sut.Plan, w sut.Worker) (sut.System, error) {
			if !w.Cold || p.Per != sut.PerCase {
				t.Errorf("%s: the server is not a fresh one: %+v", name, w)
			}
			return &flaw{call: x.call, reset: x.resets}, x.opens
		}
		e := &executor{since: new(atomic.Int64), c: &Campaign{open: open, plan: &sut.Plan{Kind: sut.MCP, Command: []string{"server"}}}}
		in := input{Args: json.RawMessage(`{"a":"own"}`)}
		for b := range strings.FieldsSeq(x.before) {
			args := `{"a":"` + b + `"}`
			if b == "[" {
				args = b
			}
			in.Before = append(in.Before, earlier{Args: json.RawMessage(args)})
		}
		out, err := e.executeLeak(t.Context(), &state{}, campaign.Case{}, &sut.Operation{Name: "addTag", Reads: true}, &in)
		if (err != nil) != x.err {
			t.Errorf("%s: %v", name, err)
		}
		title := ""
		if x.answer != "" {
			title = "addTag: the answer depends on earlier calls"
		}
		if out.Title != title || !bytes.Equal(out.Attached("answer"), []byte(x.answer)) || !bytes.Equal(out.Attached("fresh"), []byte(x.fresh)) {
			t.Errorf("%s: %q, %s and %s", name, out.Title, out.Attached("answer"), out.Attached("fresh"))
		}
	}
}
