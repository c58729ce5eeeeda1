//go:build unix

package systemtest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/sut"
)

// System is the kind of system that the suite tests.
type System struct {
	Open sut.Opener
	// Plan returns a plan whose system knows [Verbs].
	Plan func(t *testing.T) *sut.Plan
	// Call builds the call of a verb; nil: the operation of that name with the argument "text".
	Call func(verb, text string) sut.Call
	// Cannot are the verbs that this kind of system cannot do, with the reason.
	Cannot map[string]string
	// Ends are the ends that differ from the usual ones, by verb.
	Ends map[string]sut.End
	// Gone returns a plan for a system that runs elsewhere and is not there; nil if Thresh always
	// starts this kind.
	Gone func(t *testing.T) *sut.Plan
}

// ends are the usual ends of verbs.
var ends = map[string]sut.End{
	"echo": sut.Answered, "late": sut.Answered, "reject": sut.Refused,
	"die": sut.Crashed, "kill": sut.Crashed, "fail": sut.Crashed, "report": sut.Crashed, "lie": sut.Crashed,
	"hang": sut.Hung, "flood": sut.Flooded,
}

// RunSystem runs the suite for systems.
func RunSystem(t *testing.T, s System) {
	if s.Call == nil {
		s.Call = func(verb, text string) sut.Call {
			return sut.Call{Operation: verb, Named: []sut.Named{{Name: "text", Value: jsonOf(text)}}}
		}
	}
	t.Run("ends", s.ends)
	t.Run("reset", s.reset)
	t.Run("cancel", s.cancel)
	t.Run("unreachable", s.unreachable)
}

func jsonOf(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a string
	}
	return b
}

func (s System) open(t *testing.T, p *sut.Plan) sut.System {
	t.Helper()
	x, err := s.Open(t.Context(), p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func (s System) ask(t *testing.T, x sut.System, verb, text string) sut.Observation {
	t.Helper()
	c := s.Call(verb, text)
	if c.Timeout = 10 * time.Second; verb == "hang" {
		c.Timeout = 400 * time.Millisecond
	}
	o, err := x.Call(t.Context(), c)
	if err != nil {
		t.Fatalf("%s: %v", verb, err)
	}
	return o
}

// ends checks that each verb ends as it should and that the system works again afterwards.
func (s System) ends(t *testing.T) {
	x := s.open(t, s.Plan(t))
	for _, verb := range []string{"echo", "late", "reject", "fail", "die", "kill", "hang", "flood", "lie", "report", "echo"} {
		if why, cannot := s.Cannot[verb]; cannot {
			t.Logf("%s: not of this kind: %s", verb, why)
			continue
		}
		want := ends[verb]
		if e, ok := s.Ends[verb]; ok {
			want = e
		}
		if err := x.Reset(t.Context()); err != nil {
			t.Fatalf("reset before %s: %v", verb, err)
		}
		o := s.ask(t, x, verb, "hello")
		if o.End != want {
			t.Errorf("%s: %s (%s), want %s; output %.100q, printed %.300q", verb, o.End, o.Why, want, o.Output, o.Printed)
		}
		if (o.Why == "") != (o.End == sut.Answered) {
			t.Errorf("%s: %s because of %q", verb, o.End, o.Why)
		}
		if verb == "echo" && !strings.Contains(string(o.Value), "hello") {
			t.Errorf("echo gave %s", o.Value)
		}
		if verb == "kill" && o.Signal != 9 && o.Signal != 0 {
			t.Errorf("kill: signal %d", o.Signal)
		}
		if o.Elapsed <= 0 {
			t.Errorf("%s took no time", verb)
		}
	}
}

// reset checks that a case sees no state of the previous one.
func (s System) reset(t *testing.T) {
	p := s.Plan(t)
	if why, cannot := s.Cannot["count"]; cannot {
		t.Skip(why)
	}
	fresh := func(p *sut.Plan, want string) {
		t.Helper()
		x := s.open(t, p)
		var got []string
		for range 2 {
			if err := x.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				got = append(got, strings.Trim(string(s.ask(t, x, "count", "").Value), `"`))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s by %s: %v, want %s; notes %q", p.Kind, p.ResetBy(), got, want, x.Notes())
		}
	}
	switch p.ResetBy() {
	case sut.ResetNone:
		fresh(p, "1 2 3 4")
	case sut.ResetProcess:
		fresh(p, "1 1 1 1")
	default:
		fresh(p, "1 2 1 2")
	}
	if len(p.Command) > 0 && p.Kind != sut.Command {
		restart := *p
		restart.Reset = sut.Reset{Mode: sut.ResetRestart}
		fresh(&restart, "1 2 1 2")
		each := *p
		each.Per, each.Reset = sut.PerCase, sut.Reset{}
		fresh(&each, "1 2 1 2")
		run := *p
		run.Per, run.Reset = sut.PerRun, sut.Reset{Mode: sut.ResetNone}
		a, b := s.open(t, &run), s.open(t, &run)
		if n := string(s.ask(t, a, "count", "").Value) + string(s.ask(t, b, "count", "").Value); n != "12" && n != `"1""2"` {
			t.Errorf("two workers of a run's instance: %s", n)
		}
	}
}

func (s System) cancel(t *testing.T) {
	if why, cannot := s.Cannot["hang"]; cannot {
		t.Skip(why)
	}
	x := s.open(t, s.Plan(t))
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(200*time.Millisecond, cancel)
	defer timer.Stop()
	c := s.Call("hang", "")
	c.Timeout = time.Hour
	began := time.Now()
	if o, err := x.Call(ctx, c); err == nil {
		t.Errorf("a cancelled call gave %+v", o)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("it took %s", d)
	}
	if err := x.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := s.ask(t, x, "echo", "again"); o.End != sut.Answered {
		t.Errorf("after a cancelled call: %+v", o)
	}
}

// unreachable checks that a system that is not there is not a finding.
func (s System) unreachable(t *testing.T) {
	if s.Gone == nil {
		p := s.Plan(t)
		if len(p.Command) == 0 {
			t.Skip("this kind is not reached by an address")
		}
		p.Command = []string{"no-such-program"}
		x, err := s.Open(t.Context(), p, sut.Worker{Of: 1})
		if err == nil {
			o, err := x.Call(t.Context(), s.Call("echo", ""))
			if err == nil && o.End != sut.Unreachable {
				t.Errorf("a program that is not there: %+v", o)
			}
			x.Close()
		}
		return
	}
	x, err := s.Open(t.Context(), s.Gone(t), sut.Worker{Of: 1})
	if err != nil {
		return // just as good: nothing can run
	}
	defer x.Close()
	o, err := x.Call(t.Context(), s.Call("echo", ""))
	if err != nil {
		return
	}
	if o.End != sut.Unreachable || o.Why == "" || o.End.Failed() || slices.Contains([]sut.End{sut.Answered}, o.End) {
		t.Errorf("nobody is there: %+v", o)
	}
}
