package system

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/sut"
)

// listed is a system with these operations.
type listed struct {
	shelf
	operations []sut.Operation
	ends       error
}

func (l *listed) Operations() []sut.Operation { return l.operations }
func (l *listed) Close() error                { return l.ends }

// What is not called, and what is not compared, is named with its reason.
func TestWhatIsNotCalledIsNamed(t *testing.T) {
	bad, good := json.RawMessage(`{"type":"nonsense"}`), json.RawMessage(`{"type":"object"}`)
	all := []sut.Operation{
		{Name: "look", Method: "GET", Schema: good, Answers: map[string]json.RawMessage{"200": good, "201": nil, "202": json.RawMessage("null"), "203": bad}},
		{Name: "drop", Method: "DELETE", Schema: good},
		{Name: "wipe", Method: "GET", Destroys: true, Schema: good},
		{Name: "dark", Method: "GET"},
		{Name: "odd", Method: "GET", Schema: bad},
		{Name: "tool", Method: "GET", Schema: good, Answers: map[string]json.RawMessage{"0": bad}},
		{Name: "far", Method: "GET", Schema: json.RawMessage(`{"$ref":"parts/a.yaml#/x"}`)},
	}
	for writes, want := range map[bool][]string{
		false: {"answers of look with status 203, tool are not compared with their schema: ", "dark is not called: nothing says what its arguments are", "odd is not called: ",
			"far is not called: the schema cannot be used: it refers to parts/a.yaml, and no other file is read", "2 operations not called, as they may change or delete something: drop, wipe; --"},
		true: {"answers of look with status 203, tool are", "dark is not called", "odd is not called", "far is not called"},
	} {
		x := &listed{operations: all}
		c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP}, writes: writes, open: func(_ context.Context, _ *sut.Plan, w sut.Worker) (sut.System, error) {
			if !w.Cold || w.Of != 1 {
				t.Errorf("the system is tried as %+v", w)
			}
			return x, nil
		}}
		f, err := c.Probe(t.Context())
		if err != nil || len(f.Warnings) != len(want) {
			t.Fatalf("writes %t: %v %q", writes, err, f.Warnings)
		}
		for i, w := range want {
			if !strings.HasPrefix(f.Warnings[i], w) {
				t.Errorf("writes %t: %q, want %q", writes, f.Warnings[i], w)
			}
		}
		var names []string
		for _, o := range c.Start(f).ops {
			names = append(names, o.Name)
		}
		if called := strings.Join(names, " "); called != map[bool]string{false: "look tool", true: "look drop wipe tool"}[writes] {
			t.Errorf("writes %t: called are %s", writes, called)
		}
	}
	for name, x := range map[string]struct{ opens, ends error }{"does not open": {errors.New("down"), nil}, "does not close": {nil, errors.New("stuck")}} {
		c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP}, open: func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) {
			return &listed{operations: all[:1], ends: x.ends}, x.opens
		}}
		if _, err := c.Probe(t.Context()); err == nil || x.opens != nil && !errors.Is(err, x.opens) || x.ends != nil && !errors.Is(err, x.ends) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := new(Campaign).Start(campaign.Facts{Data: []byte("{")}); s == nil || len(s.plans) != 0 {
		t.Errorf("facts that cannot be read give %+v", s)
	}
}

// broken is a system of which one thing goes wrong.
type broken struct {
	shelf
	reset, call, ends error
	end               sut.End
}

func (b *broken) Reset(context.Context) error { return b.reset }
func (b *broken) Close() error                { return b.ends }
func (b *broken) Call(context.Context, sut.Call) (sut.Observation, error) {
	return sut.Observation{End: b.end, Why: "refused by the network"}, b.call
}

// What the environment does is an error, never a verdict on the system.
func TestWhatGoesWrongIsNoVerdict(t *testing.T) {
	down := errors.New("down")
	op := sut.Operation{Name: "look", Method: "GET"}
	first := earlier{Operation: "look", Args: json.RawMessage(`{}`)}
	for name, x := range map[string]struct {
		x       broken
		in      input
		payload string
		says    string
	}{
		"is not reset":         {x: broken{reset: down}, says: "down"},
		"is not called":        {x: broken{call: down}, says: "down"},
		"is not reached":       {x: broken{end: sut.Unreachable}, says: "the system shop is unreachable: refused by the network"},
		"fails before":         {x: broken{call: down}, in: input{Before: []earlier{first}, Take: []take{{Argument: "a", From: "id"}}}, says: "down"},
		"has odd calls before": {in: input{Before: []earlier{{Operation: "look", Args: json.RawMessage(`[]`)}}, Take: []take{{Argument: "a", From: "id"}}}, says: "the arguments of the case"},
		"has no such call":     {in: input{Operation: "gone"}, says: `the system shop has no operation "gone" any more`},
		"is not a case":        {payload: "{", says: "the case is none of a system's"},
		"has no arguments":     {in: input{Args: json.RawMessage(`[]`)}, says: "the arguments of the case"},
	} {
		if x.in.Operation == "" {
			x.in.Operation = "look"
		}
		if x.in.Args == nil {
			x.in.Args = json.RawMessage(`{}`)
		}
		payload, err := json.Marshal(x.in)
		if err != nil {
			t.Fatal(err)
		}
		if x.payload != "" {
			payload = []byte(x.payload)
		}
		e := &executor{since: new(atomic.Int64), c: &Campaign{plan: &sut.Plan{Kind: sut.HTTP, Name: "shop"}}, x: &x.x}
		o, err := e.Execute(t.Context(), &state{ops: []sut.Operation{op}}, campaign.Case{Payload: payload})
		if err == nil || !strings.Contains(err.Error(), x.says) || o.Verdict != campaign.VerdictPass || o.Title != "" {
			t.Errorf("%s: %v %+v", name, err, o)
		}
	}
	// Where the call before is refused, the one that needs it is not made, which is not a failure.
	e := &executor{since: new(atomic.Int64), c: &Campaign{plan: &sut.Plan{Kind: sut.HTTP}}, x: &broken{end: sut.Refused}}
	in := input{Operation: "look", Args: json.RawMessage(`{}`), Before: []earlier{first}, Take: []take{{Argument: "a", From: "id"}}}
	payload, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if o, err := e.Execute(t.Context(), &state{ops: []sut.Operation{op}}, campaign.Case{Payload: payload}); err != nil || !strings.HasPrefix(string(o.Data), refused) {
		t.Errorf("%v %+v", err, o)
	}
	c := &Campaign{plan: &sut.Plan{}, open: func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return &broken{ends: down}, nil }}
	x, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); !errors.Is(err, down) {
		t.Errorf("closing: %v", err)
	}
	c.open = func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return nil, down }
	if _, err := c.Open(nil).Executor(t.Context(), campaign.Lane{}); !errors.Is(err, down) {
		t.Errorf("opening: %v", err)
	}
}

// An invalid call that is taken is listed; one that failed, or was refused, is not. An
// operation all of whose usual calls failed is not called again.
func TestFoldOfUsualCalls(t *testing.T) {
	c := &Campaign{plan: &sut.Plan{Kind: sut.MCP}, seed: 1}
	data, err := json.Marshal([]sut.Operation{{Name: "look", Reads: true, Schema: object(`"n":{"type":"integer","minimum":0,"maximum":9}`, "n"),
		Arguments: []sut.Argument{{Name: "n", In: "body", Type: "integer"}}}})
	if err != nil {
		t.Fatal(err)
	}
	start := c.Start(campaign.Facts{Data: data})
	if start.refused["look"] != "" {
		t.Errorf("valid inputs can be made: %q", start.refused["look"])
	}
	if r, more := c.Round(start); !more || r.Len == 0 {
		t.Fatal("no usual call")
	}
	taken := campaign.Outcome{Data: []byte(accepted)}
	for name, x := range map[string]struct {
		usual, special campaign.Outcome
		accepted       int
		called         bool // after the first round
	}{
		"all is well":      {campaign.Outcome{}, campaign.Outcome{}, 0, true},
		"invalid taken":    {campaign.Outcome{}, taken, 1, true},
		"taken, and fell":  {campaign.Outcome{}, campaign.Outcome{Verdict: campaign.VerdictFail, Kind: kindCrash, Data: []byte(accepted)}, 0, true},
		"answers deviate":  {campaign.Outcome{Verdict: campaign.VerdictFail, Kind: kindHeader, Title: "look: HTTP 500"}, campaign.Outcome{}, 0, true},
		"usual calls fail": {campaign.Outcome{Verdict: campaign.VerdictFail, Kind: kindCrash, Title: "look: HTTP 500"}, campaign.Outcome{}, 0, false},
	} {
		each := func(s *state, o campaign.Outcome, only int) *state {
			n := int64(len(s.cases()))
			return c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
				for i := range n {
					if int64(only) < 0 || i == int64(only) {
						yield(campaign.Case{Index: s.first + i}, o)
					}
				}
				yield(campaign.Case{Index: s.first + n}, taken) // of no case
			})
		}
		s := each(start, x.usual, -1)
		if got := len(s.cases()) > 0; got != x.called || s.usual["look: HTTP 500"] == x.called {
			t.Errorf("%s: %d cases in the second round, usual failures %v", name, len(s.cases()), s.usual)
		}
		if x.called {
			invalid := func(p []byte) bool {
				return strings.Contains(string(p), `"valid":false`) && !strings.Contains(string(p), `"before"`)
			}
			for !slices.ContainsFunc(s.cases(), invalid) {
				s = each(s, campaign.Outcome{}, -1)
			}
			s = each(s, x.special, slices.IndexFunc(s.cases(), invalid))
		}
		if s.faulty["look"] != (x.special.Kind == kindCrash) {
			t.Errorf("%s: calls with several special arguments are left out: %v", name, s.faulty)
		}
		if len(s.accepted) != x.accepted {
			t.Errorf("%s: %d accepted, want %d", name, len(s.accepted), x.accepted)
		}
	}
	if s := c.Start(campaign.Facts{Data: []byte(`[{"Name":"look","Schema":{"type":"object","properties":{"n":false},"required":["n"]}}]`)}); s.refused["look"] != "no valid input could be made" {
		t.Errorf("%q, though no input is valid", s.refused["look"])
	}
}

// A system that runs elsewhere is called a few times after it has gone. The case that ended
// it names the call that did, also where that came before the one that the case is about,
// and is not repeated to confirm that.
func TestCallThatEndsTheSystem(t *testing.T) {
	brew, look := sut.Operation{Name: "make", Method: "POST", Path: "/jars"}, sut.Operation{Name: "look", Method: "GET", Path: "/jars/{id}"}
	s := &state{ops: []sut.Operation{look, brew}}
	before := []earlier{{Operation: "make", Args: json.RawMessage(`{"size":9}`)}}
	for name, in := range map[string]input{
		"the call of the case": {Operation: "make", Valid: true, About: "size: maximum", Args: before[0].Args},
		"a call before it":     {Operation: "look", Valid: true, About: "size: maximum, of make before", Args: json.RawMessage(`{}`), Before: before, Take: []take{{Argument: "id", From: "id"}}},
	} {
		x := &stubborn{o: sut.Observation{End: sut.Crashed, Why: "cut", Ended: "the system ended during the call", Sent: "curl x"}}
		c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP, Name: "shop"}}
		e := &executor{since: new(atomic.Int64), c: c, x: x}
		payload, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		o, err := e.Execute(t.Context(), s, campaign.Case{Index: 7, Payload: payload})
		if err != nil || o.Title != "make: the system ended during the call: cut" || !slices.Equal(o.Cause, []string{kindCrash, "make", "cut", "", "size"}) || c.Traits().Once(campaign.Case{}, &o) == "" {
			t.Errorf("%s: %v %+v", name, err, o)
		}
		if shown := c.Describe(s, campaign.Case{Payload: payload}, o, nil); !strings.HasPrefix(shown[0].Text.Body, "curl x\n") {
			t.Errorf("%s: %+v", name, shown)
		}
		x.o = sut.Observation{End: sut.Unreachable}
		for try := 1; try <= patience; try++ {
			_, err := e.Execute(t.Context(), s, campaign.Case{Index: 8, Payload: payload})
			gone, ok := errors.AsType[*campaign.GoneError](err)
			if ok != (try == patience) || !ok && !campaign.IsTransient(err) || ok && gone.Error() != "the system no longer answers since case 7; start it again" {
				t.Errorf("%s: try %d: %v", name, try, err)
			}
		}
	}
}

// stubborn is a system that gives one observation.
type stubborn struct {
	shelf
	o sut.Observation
}

func (l *stubborn) Reset(context.Context) error                             { return nil }
func (l *stubborn) Call(context.Context, sut.Call) (sut.Observation, error) { return l.o, nil }
