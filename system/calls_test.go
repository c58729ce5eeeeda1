package system_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// script is what edges of a test do, and what they were asked for.
type script struct {
	call  func(sut.Call) sut.Observation // nil: every call is answered
	fresh []sut.End                      // of resets by the kind; nil: it has none
	fatal bool                           // a reset that fails ends the program
	gone  bool                           // no more programs start
	stuck error                          // of closing a program
	notes []string
	log   []string
}

func (s *script) open(context.Context, system.Site) (system.Edge, error) {
	if s.gone {
		return nil, errors.New("nothing starts")
	}
	s.log = append(s.log, "open")
	e := &scripted{script: s}
	if s.fresh != nil {
		return &refreshed{e}, nil
	}
	return e, nil
}

func (s *script) start(t *testing.T, p sut.Plan) sut.System {
	t.Helper()
	p.Name, p.Limits.Timeout = "a", time.Second
	x, err := system.New(map[sut.Kind]system.Kind{p.Kind: s.open}).Open(t.Context(), &p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

type scripted struct {
	*script
	dead bool
}

func (s *scripted) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	s.log = append(s.log, fmt.Sprint(c.Operation, " ", c.Timeout))
	if s.call == nil {
		return sut.Observation{End: sut.Answered}, nil
	}
	return s.call(c), nil
}
func (s *scripted) Operations() []sut.Operation { return nil }
func (s *scripted) Notes() []string             { return s.notes }
func (s *scripted) Dead() bool                  { return s.dead }
func (s *scripted) Close() error                { s.log = append(s.log, "close"); return s.stuck }

type refreshed struct{ *scripted }

func (r *refreshed) Fresh(_ context.Context, limit time.Duration) (sut.Observation, error) {
	r.log = append(r.log, fmt.Sprint("fresh ", limit))
	o := sut.Observation{End: r.script.fresh[0], Why: "cannot"}
	r.script.fresh = r.script.fresh[1:]
	r.dead = o.End != sut.Answered && r.fatal
	return o, nil
}

// A case begins with what the plan asks for, once; a program that has just started may take
// its time for its first answer.
func TestResets(t *testing.T) {
	wipe := sut.Reset{Mode: sut.ResetOperation, Operation: "wipe"}
	for name, x := range map[string]struct {
		per   sut.Per
		reset sut.Reset
		s     script
		ends  sut.End // of the operation
		want  string
		err   string
	}{
		"a program a case":                    {sut.PerCase, sut.Reset{Mode: sut.ResetNone}, script{}, "", "close, open", ""},
		"that is restarted":                   {sut.PerCase, sut.Reset{Mode: sut.ResetRestart}, script{}, "", "close, open", ""},
		"that has an operation":               {sut.PerCase, wipe, script{}, sut.Answered, "close, open, wipe 30s", ""},
		"that starts no more":                 {sut.PerCase, wipe, script{gone: true}, sut.Answered, "close", "nothing starts"},
		"a program a worker":                  {sut.PerWorker, sut.Reset{Mode: sut.ResetNone}, script{}, "", "", ""},
		"a process a call":                    {sut.PerWorker, sut.Reset{Mode: sut.ResetProcess}, script{}, "", "", ""},
		"a restart":                           {sut.PerWorker, sut.Reset{Mode: sut.ResetRestart}, script{}, "", "close, open", ""},
		"a restart that fails":                {sut.PerWorker, sut.Reset{Mode: sut.ResetRestart}, script{gone: true}, "", "close", "nothing starts"},
		"an operation":                        {sut.PerWorker, wipe, script{}, sut.Answered, "wipe 1s", ""},
		"an operation that is refused":        {sut.PerWorker, wipe, script{}, sut.Refused, "wipe 1s", "the system a: reset it by wipe: cannot"},
		"the kind's":                          {sut.PerWorker, sut.Reset{}, script{fresh: []sut.End{sut.Answered}}, "", "fresh 1s", ""},
		"the kind's, refused":                 {sut.PerWorker, sut.Reset{}, script{fresh: []sut.End{sut.Refused}}, "", "fresh 1s", "the system a: reset it: cannot"},
		"the kind's, which ends the program":  {sut.PerWorker, sut.Reset{}, script{fatal: true, fresh: []sut.End{sut.Crashed, sut.Answered}}, "", "fresh 1s, close, open, fresh 30s", ""},
		"the kind's, which always ends it":    {sut.PerWorker, sut.Reset{}, script{fatal: true, fresh: []sut.End{sut.Crashed, sut.Crashed}}, "", "fresh 1s, close, open, fresh 30s", "the system a: reset it: cannot"},
		"the kind's, of which there are none": {sut.PerWorker, sut.Reset{}, script{}, "", "", "a system of kind driver has no reset by line"},
		"the kind's, for a program of a case": {sut.PerCase, sut.Reset{}, script{fresh: []sut.End{sut.Answered}}, "", "close, open, fresh 30s", ""},
	} {
		gone := x.s.gone
		x.s.gone = false
		s := x.s.start(t, sut.Plan{Kind: sut.Driver, Command: []string{"driver"}, Per: x.per, Reset: x.reset})
		if _, err := s.Call(t.Context(), sut.Call{Operation: "before"}); err != nil {
			t.Fatal(err)
		}
		x.s.gone, x.s.log = gone, nil
		x.s.call = func(sut.Call) sut.Observation { return sut.Observation{End: x.ends, Why: "cannot"} }
		err := s.Reset(t.Context())
		if got := strings.Join(x.s.log, ", "); got != x.want || (err != nil) != (x.err != "") || err != nil && err.Error() != x.err {
			t.Errorf("%s: %q, %v; want %q, %s", name, got, err, x.want, x.err)
		}
	}
}

// A call that fails since the program has died is a crash, and one that found nobody in a
// program that runs; what the program itself has answered, with a status, stays as it is.
func TestCallsOfAProgramThatDies(t *testing.T) {
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	const killed = "the program ended during the call: signal: killed"
	rows := []struct {
		said sut.Observation
		dies bool
		end  sut.End
		why  string
	}{
		{sut.Observation{End: sut.Unreachable}, false, sut.Crashed, "the program is running but no longer accepts connections"},
		{sut.Observation{End: sut.Unreachable, Status: 503}, false, sut.Unreachable, "said"},
		{sut.Observation{End: sut.Crashed}, false, sut.Crashed, "said"},
		{sut.Observation{End: sut.Unreachable}, true, sut.Crashed, killed},
		{sut.Observation{End: sut.Unreachable, Status: 503}, true, sut.Crashed, killed},
		{sut.Observation{End: sut.Crashed}, true, sut.Crashed, killed},
		{sut.Observation{End: sut.Crashed, Status: 500}, true, sut.Crashed, "said"},
		{sut.Observation{End: sut.Answered}, true, sut.Answered, "said"},
		{sut.Observation{End: sut.Hung}, true, sut.Hung, "said"},
	}
	for _, actor := range []bool{false, true} {
		t.Run(fmt.Sprint("an actor: ", actor), func(t *testing.T) {
			t.Parallel() // mostly waits
			row := rows[0]
			all := system.New(map[sut.Kind]system.Kind{sut.HTTP: func(_ context.Context, at system.Site) (system.Edge, error) {
				return &scripted{script: &script{call: func(sut.Call) sut.Observation {
					if row.dies {
						at.Service.Kill()
					}
					o := row.said
					o.Why, o.Elapsed = "said", time.Minute
					return o
				}}}, nil
			}})
			x, err := all.Open(t.Context(), &sut.Plan{Name: "a", Kind: sut.HTTP, URL: "http://127.0.0.1:{port}", Command: []string{self, "listen"}, Per: sut.PerWorker}, sut.Worker{Of: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			for _, row = range rows {
				caller := x
				if actor {
					if caller, err = x.(sut.Crowd).Join(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				o, err := caller.Call(t.Context(), sut.Call{Operation: "x"})
				if err != nil || o.End != row.end || o.Why != row.why || (o.Signal == 9) != (row.why == killed) || o.Elapsed != time.Minute {
					t.Errorf("%s, status %d, dies: %t: %+v, %v; want %s, %s", row.said.End, row.said.Status, row.dies, o, err, row.end, row.why)
				}
			}
		})
	}
}

// What the plan takes for the reply is the value of an input's answer, and of no other.
func TestReplies(t *testing.T) {
	for _, x := range []struct {
		reply string
		input bool
		end   sut.End
		want  string
	}{
		{"$.a", true, sut.Answered, "1"},
		{"$.b", true, sut.Answered, ""},
		{"$.a", false, sut.Answered, `"edge"`},
		{"", true, sut.Answered, `"edge"`},
		{"$.a", true, sut.Refused, `"edge"`},
		{"$.a", true, sut.Crashed, `"edge"`},
	} {
		s := (&script{call: func(sut.Call) sut.Observation {
			return sut.Observation{End: x.end, Output: []byte(`{"a":1}`), Value: []byte(`"edge"`)}
		}}).start(t, sut.Plan{Kind: sut.Driver, Command: []string{"driver"}, Reply: x.reply})
		c := sut.Call{Operation: "x"}
		if x.input {
			c.Input = []byte{}
		}
		if o, err := s.Call(t.Context(), c); err != nil || string(o.Value) != x.want {
			t.Errorf("reply %q, an input: %t, %s: %s, %v; want %s", x.reply, x.input, x.end, o.Value, err, x.want)
		}
	}
}

// After a call that ended a server elsewhere, all workers connect to it anew; after any other
// they do not.
func TestConnectionsAfterACrashElsewhere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the server is back at once
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for _, x := range []struct {
		end    sut.End
		status int
		want   string
	}{
		{sut.Crashed, 0, "open, open, x 1s, close, open, y 1s, close, open, z 1s"},
		{sut.Crashed, 500, "open, open, x 1s, y 1s, z 1s"},
		{sut.Unreachable, 0, "open, open, x 1s, y 1s, z 1s"},
		{sut.Answered, 0, "open, open, x 1s, y 1s, z 1s"},
		{sut.Refused, 400, "open, open, x 1s, y 1s, z 1s"},
	} {
		t.Run(fmt.Sprint(x.end, " ", x.status), func(t *testing.T) {
			t.Parallel() // mostly waits
			s := &script{call: func(c sut.Call) sut.Observation {
				if c.Operation == "x" {
					return sut.Observation{End: x.end, Status: x.status}
				}
				return sut.Observation{End: sut.Answered}
			}}
			all := system.New(map[sut.Kind]system.Kind{sut.HTTP: s.open})
			plan := &sut.Plan{Name: "a", Kind: sut.HTTP, URL: "http://" + l.Addr().String(), Limits: sut.Limits{Timeout: time.Second}}
			workers := pair(t, all, plan)
			for i, operation := range []string{"x", "y", "z"} {
				o, err := workers[i%2].Call(t.Context(), sut.Call{Operation: operation})
				if i == 0 && o.End != x.end || i > 0 && o.End != sut.Answered || err != nil {
					t.Errorf("%s: %+v, %v", operation, o, err)
				}
			}
			if got := strings.Join(s.log, ", "); got != x.want {
				t.Errorf("%s; want %s", got, x.want)
			}
		})
	}
}

// A system that asks for fewer calls gets fewer; one that refuses calls does not.
func TestSystemsThatAskForFewerCalls(t *testing.T) {
	for busy, want := range map[int]string{
		0: "answered  []", 1: "answered  [the system a: 1 call retried]", 5: "answered  [the system a: 5 calls retried]",
		6: "unreachable HTTP 429: it asks for fewer calls; set limits.rate or limits.retries [the system a: 5 calls retried]",
	} {
		calls := 0
		s := (&script{call: func(sut.Call) sut.Observation {
			if calls++; calls <= busy {
				return sut.Observation{End: sut.Refused, Status: 429, Undeclared: true, Wait: time.Millisecond}
			}
			return sut.Observation{End: sut.Answered, Status: 200}
		}}).start(t, sut.Plan{Kind: sut.Driver, Command: []string{"driver"}})
		o, err := s.Call(t.Context(), sut.Call{Operation: "x"})
		if got := fmt.Sprint(o.End, " ", o.Why, " ", s.Notes()); err != nil || got != want || o.Undeclared {
			t.Errorf("busy %d times: %s, %v; want %s", busy, got, err, want)
		}
	}
}

// What the programs of a worker have to say is said once, in order, also of those that have ended.
func TestNotesOfProgramsThatEnded(t *testing.T) {
	s := &script{notes: []string{"a", "b"}}
	x := s.start(t, sut.Plan{Kind: sut.Driver, Command: []string{"driver"}, Reset: sut.Reset{Mode: sut.ResetRestart}})
	for _, notes := range [][]string{{"b", "a"}, {"b", "c"}} {
		if _, err := x.Call(t.Context(), sut.Call{Operation: "x"}); err != nil {
			t.Fatal(err)
		}
		if err := x.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.notes = notes
	}
	if got := x.Notes(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%q", got)
	}
}

// Variables stand for their values wherever a plan may name them, in what is opened and not in
// the plan; one that is not set is named with its place.
func TestVariablesOfPlans(t *testing.T) {
	t.Setenv("THRESH_TEST_SET", "v")
	plan := func(name string) *sut.Plan {
		value := "<${" + name + "}>"
		return &sut.Plan{Name: "a", Kind: sut.HTTP, URL: value, Ready: sut.Ready{URL: value}, Headers: [][2]string{{"H", value}}, Query: [][2]string{{"q", value}}}
	}
	var got *sut.Plan
	all := system.New(map[sut.Kind]system.Kind{sut.HTTP: func(_ context.Context, at system.Site) (system.Edge, error) {
		got = at.Plan
		return &scripted{script: &script{}}, nil
	}})
	given := plan("THRESH_TEST_SET")
	if _, err := all.Open(t.Context(), given, sut.Worker{Of: 1}); err != nil {
		t.Fatal(err)
	}
	for where, value := range map[string]string{"url": got.URL, "ready": got.Ready.URL, "headers": got.Headers[0][1], "query": got.Query[0][1]} {
		if value != "<v>" {
			t.Errorf("%s: %s", where, value)
		}
	}
	if given.URL != "<${THRESH_TEST_SET}>" || given.Headers[0][1] != given.URL || given.Query[0][1] != given.URL {
		t.Errorf("the plan has changed: %+v", given)
	}
	for where, set := range map[string]func(from, to *sut.Plan){
		"url":       func(from, to *sut.Plan) { to.URL = from.URL },
		"ready":     func(from, to *sut.Plan) { to.Ready = from.Ready },
		"headers.H": func(from, to *sut.Plan) { to.Headers = from.Headers },
		"query.q":   func(from, to *sut.Plan) { to.Query = from.Query },
	} {
		p := plan("THRESH_TEST_SET")
		set(plan("THRESH_TEST_UNSET"), p)
		_, err := all.Open(t.Context(), p, sut.Worker{Of: 1})
		if want := "the variable THRESH_TEST_UNSET, which " + where + " of the system a uses, is not set"; err == nil || err.Error() != want || diag.Hint(err) != "export THRESH_TEST_UNSET=..." {
			t.Errorf("%v (%s); want %s", err, diag.Hint(err), want)
		}
	}
}

// Actors call what has an address, each by a connection of its own, and nothing that takes one
// call at a time; what nobody here starts cannot be killed.
func TestActors(t *testing.T) {
	for _, x := range []struct {
		plan                 sut.Plan
		join, restart, opens string
	}{
		{sut.Plan{Kind: sut.HTTP, URL: "http://127.0.0.1:1"}, "", "the system a cannot be killed: it has no command that starts it again", "open, open, x 1s"},
		{sut.Plan{Kind: sut.Driver, Command: []string{"driver"}}, "the system a takes one call at a time: actors call at the same time where it is a service with a url, or a driver whose answers carry ids", "", "open"},
	} {
		s := &script{}
		crowd := s.start(t, x.plan).(sut.Crowd)
		m, err := crowd.Join(t.Context())
		if (err != nil) != (x.join != "") || err != nil && err.Error() != x.join {
			t.Errorf("%s: %v, want %s", x.plan.Kind, err, x.join)
		}
		if err == nil {
			if o, err := m.Call(t.Context(), sut.Call{Operation: "x"}); err != nil || o.End != sut.Answered {
				t.Errorf("%s: %+v, %v", x.plan.Kind, o, err)
			}
		}
		if got := strings.Join(s.log, ", "); got != x.opens {
			t.Errorf("%s: %s, want %s", x.plan.Kind, got, x.opens)
		}
		if err := crowd.Restart(t.Context()); (err != nil) != (x.restart != "") || err != nil && err.Error() != x.restart {
			t.Errorf("%s: %v, want %s", x.plan.Kind, err, x.restart)
		}
	}
	none := sut.Plan{Name: "a", Kind: sut.WASM}
	if _, err := system.New(nil).Open(t.Context(), &none, sut.Worker{Of: 1}); err == nil || err.Error() != "systems of kind wasm cannot be reached here" {
		t.Error(err)
	}
}

// pair are two workers of one system.
func pair(t *testing.T, all *system.Systems, plan *sut.Plan) (workers [2]sut.System) {
	t.Helper()
	for i := range workers {
		w, err := all.Open(t.Context(), plan, sut.Worker{Index: i, Of: len(workers)})
		if err != nil {
			t.Fatal(err)
		}
		workers[i] = w
	}
	return workers
}

// If a program cannot be closed, the worker that has it says so, or the last one that leaves.
func TestProgramsThatCannotBeClosed(t *testing.T) {
	for per, want := range map[sut.Per]string{sut.PerWorker: "true true", sut.PerRun: "false true"} {
		s := &script{stuck: errors.New("stuck")}
		all := system.New(map[sut.Kind]system.Kind{sut.Driver: s.open})
		plan := &sut.Plan{Name: "a", Kind: sut.Driver, Command: []string{"driver"}, Per: per}
		workers := pair(t, all, plan)
		if got := fmt.Sprint(errors.Is(workers[0].Close(), s.stuck), errors.Is(workers[1].Close(), s.stuck)); got != want {
			t.Errorf("a program a %s: %s, want %s", per, got, want)
		}
	}
}

// A call that cut a server elsewhere has ended it if it does not come back in time.
func TestAServerElsewhereThatDoesNotComeBack(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	s := &script{call: func(sut.Call) sut.Observation { return sut.Observation{End: sut.Crashed} }}
	plan := &sut.Plan{Name: "a", Kind: sut.HTTP, URL: "http://" + l.Addr().String(), Limits: sut.Limits{Timeout: 50 * time.Millisecond}}
	x, err := system.New(map[sut.Kind]system.Kind{sut.HTTP: s.open}).Open(t.Context(), plan, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := x.Call(t.Context(), sut.Call{Operation: "x"}); err != nil || o.End != sut.Crashed || o.Ended != "the system ended during the call" {
		t.Errorf("%+v, %v", o, err)
	}
}

// What a program printed before it ended is evidence, however little it is.
func TestEvidenceOfAnEnd(t *testing.T) {
	for printed, want := range map[string]int{"": 0, "x": 1} {
		o := sut.Observation{Exit: 3, Why: "the program ended during the call: exit status 3", Printed: []byte(printed)}
		if end := system.EndedLater("buy", &o); end.Title != "buy: the program ended after it had answered: exit status 3" || len(end.Evidence) != want {
			t.Errorf("%q: %s, %v", printed, end.Title, end.Evidence)
		}
	}
}

// Any text is JSON as a string; an input that goes into no argument stands beside those of the call.
func TestTextsAndRawInputs(t *testing.T) {
	for text, want := range map[string]string{"": `""`, `"`: `"\""`, `\`: `"\\"`, " ~": `" ~"`, "\x1f": `"\u001f"`, "é<": `"é<"`, "\xff": "\"\uFFFD\""} {
		if got := string(system.Text(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	c := sut.Call{Named: []sut.Named{{Name: "a", Value: []byte("1")}}, Input: []byte("x")}
	if list, raw, err := system.Arguments(&sut.Plan{}, nil, &c); err != nil || !raw || string(system.Object(list)) != `{"a":1}` {
		t.Errorf("%s, raw: %t, %v", system.Object(list), raw, err)
	}
}
