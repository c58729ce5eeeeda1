package system_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

type gate struct {
	quotas []campaign.Quota
	keys   map[string]bool
	inside int
}

func (g *gate) Enter(_ context.Context, key string, q campaign.Quota) (leave func(), err error) {
	g.quotas, g.inside = append(g.quotas, q), g.inside+1
	g.keys[key] = true
	return func() { g.inside-- }, nil
}

type edge struct{ g *gate }

func (e edge) Operations() []sut.Operation { return nil }
func (e edge) Call(context.Context, sut.Call) (sut.Observation, error) {
	return sut.Observation{End: sut.Answered, Status: e.g.inside}, nil
}
func (e edge) Notes() []string { return nil }
func (e edge) Close() error    { return nil }

// The limits of a system that runs elsewhere are kept by the gate of the run, if
// it has one; those of a system that Thresh starts are kept on each machine.
func TestLimitsOfAFleet(t *testing.T) {
	g := &gate{keys: make(map[string]bool)}
	open := func(context.Context, system.Site) (system.Edge, error) { return edge{g}, nil }
	all := system.New(map[sut.Kind]system.Kind{sut.HTTP: open, sut.Driver: open})
	limits := sut.Limits{Timeout: time.Second, Rate: sut.Rate{Count: 1000, Per: time.Second}, Concurrency: 3}
	for _, x := range []struct {
		name  string
		plan  sut.Plan
		asked int
	}{
		{"elsewhere", sut.Plan{Name: "a", Kind: sut.HTTP, URL: "http://127.0.0.1:1", Limits: limits, Digest: "a"}, 2},
		{"elsewhere without limits", sut.Plan{Name: "b", Kind: sut.HTTP, URL: "http://127.0.0.1:1", Digest: "b"}, 0},
		{"started here", sut.Plan{Name: "c", Kind: sut.Driver, Command: []string{"driver"}, Limits: limits, Digest: "c"}, 0},
	} {
		g.quotas = nil
		s, err := all.Open(campaign.WithGate(t.Context(), g), &x.plan, sut.Worker{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			o, err := s.Call(t.Context(), sut.Call{Operation: "x"})
			if want := min(x.asked, 1); err != nil || o.Status != want {
				t.Errorf("%s: %d calls inside the gate, want %d; %v", x.name, o.Status, want, err)
			}
		}
		if len(g.quotas) != x.asked || g.inside != 0 {
			t.Errorf("%s: the gate was asked %d times, want %d; %d calls have not left", x.name, len(g.quotas), x.asked, g.inside)
		}
		if x.asked > 0 && g.quotas[0] != (campaign.Quota{Count: 1000, Per: time.Second, AtOnce: 3, Hold: time.Second}) {
			t.Errorf("%s: %+v", x.name, g.quotas[0])
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(g.keys) != 1 {
		t.Errorf("one system has %d keys", len(g.keys))
	}
}

// A program that was just started for one worker, and was not called, is not started
// again to begin a case.
func TestAnUnusedProgramIsNotStartedAgain(t *testing.T) {
	opened := 0
	g := &gate{keys: make(map[string]bool)}
	all := system.New(map[sut.Kind]system.Kind{sut.Driver: func(context.Context, system.Site) (system.Edge, error) { opened++; return edge{g}, nil }})
	s, err := all.Open(t.Context(), &sut.Plan{Name: "a", Kind: sut.Driver, Command: []string{"driver"}, Per: sut.PerCase, Reset: sut.Reset{Mode: sut.ResetNone}, Digest: "a"}, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	for want := 1; want <= 3; want++ {
		if err := s.Reset(t.Context()); err != nil || opened != want {
			t.Errorf("case %d: started %d times, %v", want, opened, err)
		}
		if _, err := s.Call(t.Context(), sut.Call{Operation: "x"}); err != nil {
			t.Error(err)
		}
	}
}

// Only a system that nothing resets is said to keep its state.
func TestNotesOfState(t *testing.T) {
	for want, plans := range map[bool][]sut.Plan{
		true: {{Kind: sut.HTTP}, {Kind: sut.MCP, Command: []string{"server"}, Per: sut.PerWorker}, {Kind: sut.Driver, Reset: sut.Reset{Mode: sut.ResetNone}}},
		false: {{Kind: sut.Chat}, {Kind: sut.Chat, Command: []string{"model"}}, {Kind: sut.Driver},
			{Kind: sut.Driver, Command: []string{"driver"}, Per: sut.PerCase, Reset: sut.Reset{Mode: sut.ResetNone}}},
	} {
		for _, p := range plans {
			p.Name, p.Digest = "a", "a"
			all := system.New(map[sut.Kind]system.Kind{p.Kind: func(context.Context, system.Site) (system.Edge, error) { return edge{}, nil }})
			s, err := all.Open(t.Context(), &p, sut.Worker{Of: 1})
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(s.Notes(), "the system a keeps its state between cases: reset is none"); got != want {
				t.Errorf("%+v: %q", p, s.Notes())
			}
		}
	}
}

// An answer during which a runtime reported an exception is a crash, also where the
// exception is about the stack or the memory.
func TestReportsDuringAnAnswer(t *testing.T) {
	for exception, want := range map[string]sut.End{
		"KeyError: 'a'": sut.Crashed, "RecursionError: maximum recursion depth exceeded": sut.Crashed, "MemoryError": sut.Crashed, "": sut.Answered,
	} {
		printed := "one line of a log\n"
		if exception != "" {
			printed += "Traceback (most recent call last):\n  File \"tool.py\", line 3, in f\n" + exception + "\n"
		}
		all := system.New(map[sut.Kind]system.Kind{sut.Driver: func(context.Context, system.Site) (system.Edge, error) {
			return prints{text: printed, end: sut.Answered}, nil
		}})
		s, err := all.Open(t.Context(), &sut.Plan{Name: "a", Kind: sut.Driver, Command: []string{"driver"}, Digest: "a"}, sut.Worker{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		if o, err := s.Call(t.Context(), sut.Call{Operation: "x"}); err != nil || o.End != want {
			t.Errorf("%q: the call %s, want %s; %v", exception, o.End, want, err)
		}
	}
}

// A program that logs the exception with which it refuses a call has not crashed, nor has a
// service that logs one and answers with 400; one of the runtime that a framework turns into a
// refusal is a crash, and so is one that ended a thread.
func TestReportsOfRefusals(t *testing.T) {
	for _, c := range []struct {
		before, code string
		status       int
		want         sut.End
	}{
		{"", "raise ValueError(\"no order\")", 0, sut.Refused},
		{"", "return int(text)", 0, sut.Crashed},
		{"", "return int(text)", 400, sut.Refused},
		{"Exception in thread Thread-1 (f):\n", "return int(text)", 400, sut.Crashed},
	} {
		code, want := c.code, c.want
		printed := c.before + "Traceback (most recent call last):\n  File \"tool.py\", line 3, in f\n    " + code + "\nValueError: a\n"
		all := system.New(map[sut.Kind]system.Kind{sut.Driver: func(context.Context, system.Site) (system.Edge, error) {
			return prints{text: printed, end: sut.Refused, status: c.status}, nil
		}})
		s, err := all.Open(t.Context(), &sut.Plan{Name: "a", Kind: sut.Driver, Command: []string{"driver"}, Digest: "a"}, sut.Worker{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		if o, err := s.Call(t.Context(), sut.Call{Operation: "x"}); err != nil || o.End != want {
			t.Errorf("%q: the call %s, want %s; %v", code, o.End, want, err)
		}
	}
}

// A program that reports that nobody reads its answer, after an answer was given up, has not
// crashed; it has if none was, or if it reports something else.
func TestReportsOfLostConnections(t *testing.T) {
	for _, c := range []struct {
		before    sut.End
		exception string
		want      sut.End
	}{
		{sut.Hung, "BrokenPipeError: [Errno 32] Broken pipe", sut.Answered},
		{sut.Flooded, "ConnectionResetError: [Errno 104] Connection reset by peer", sut.Answered},
		{sut.Answered, "BrokenPipeError: [Errno 32] Broken pipe", sut.Crashed},
		{sut.Hung, "KeyError: 'a'", sut.Crashed},
	} {
		e := &prints{end: c.before}
		all := system.New(map[sut.Kind]system.Kind{sut.Driver: func(context.Context, system.Site) (system.Edge, error) { return e, nil }})
		s, err := all.Open(t.Context(), &sut.Plan{Name: "a", Kind: sut.Driver, Command: []string{"driver"}, Digest: "a"}, sut.Worker{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Call(t.Context(), sut.Call{Operation: "x"}); err != nil {
			t.Fatal(err)
		}
		e.end, e.text = sut.Answered, "Traceback (most recent call last):\n  File \"tool.py\", line 3, in f\n    self.wfile.write(body)\n"+c.exception+"\n"
		if o, err := s.Call(t.Context(), sut.Call{Operation: "x"}); err != nil || o.End != c.want {
			t.Errorf("%s, then %q: the call %s, want %s; %v", c.before, c.exception, o.End, c.want, err)
		}
	}
}

// prints is an edge whose program prints something while it answers.
type prints struct {
	edge
	text   string
	end    sut.End
	status int
}

func (p prints) Call(context.Context, sut.Call) (sut.Observation, error) {
	return sut.Observation{End: p.end, Status: p.status, Printed: []byte(p.text)}, nil
}

// Whoever has a user and a password need not encode them.
func TestBasicCredentials(t *testing.T) {
	var sent [][2]string
	all := system.New(map[sut.Kind]system.Kind{sut.HTTP: func(_ context.Context, s system.Site) (system.Edge, error) {
		sent = s.Plan.Headers
		return prints{}, nil
	}})
	t.Setenv("LOGIN", "anna:hunter2")
	for value, want := range map[string]string{
		"Basic ${LOGIN}": "Basic YW5uYTpodW50ZXIy", "Basic YW5uYTpodW50ZXIy": "Basic YW5uYTpodW50ZXIy", "Bearer a:b": "Bearer a:b",
	} {
		plan := &sut.Plan{Name: "a", Kind: sut.HTTP, URL: "http://127.0.0.1:1", Headers: [][2]string{{"authorization", value}}, Digest: value}
		if _, err := all.Open(t.Context(), plan, sut.Worker{Of: 1}); err != nil || sent[0][1] != want {
			t.Errorf("%s is sent as %q, %v", value, sent, err)
		}
	}
}

// mortal is a server elsewhere that a call of "bomb" ends, with all calls under way; it
// comes back when it is called again.
type mortal struct {
	life    chan struct{}
	mu      sync.Mutex
	arrived atomic.Int64 // calls
}

func (m *mortal) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	m.mu.Lock()
	life := m.life
	m.mu.Unlock()
	if n := m.arrived.Add(1); c.Operation != "bomb" {
		if n > 4 { // of its next life
			return sut.Observation{End: sut.Answered, Status: 200}, nil
		}
		<-life
	} else {
		for m.arrived.Load() < 4 {
			time.Sleep(time.Millisecond)
		}
		m.mu.Lock()
		close(m.life)
		m.life = make(chan struct{})
		m.mu.Unlock()
	}
	return sut.Observation{End: sut.Crashed, Why: "cut"}, nil
}
func (m *mortal) Operations() []sut.Operation { return nil }
func (m *mortal) Notes() []string             { return nil }
func (m *mortal) Close() error                { return nil }

// Of the calls that were under way when a shared server ended, only the one that ends it
// again alone is a crash; where it does not come back, one stands for all.
func TestOneOfManyCallsEndsTheServer(t *testing.T) {
	for _, back := range []bool{true, false} {
		t.Run(fmt.Sprint("comes back: ", back), func(t *testing.T) {
			t.Parallel() // mostly waits
			endTheServer(t, back)
		})
	}
}

func endTheServer(t *testing.T, back bool) {
	t.Helper()
	server, opened := &mortal{life: make(chan struct{})}, atomic.Int64{}
	all := system.New(map[sut.Kind]system.Kind{sut.HTTP: func(context.Context, system.Site) (system.Edge, error) {
		if opened.Add(1) > 4 && !back {
			return nil, errors.New("nobody is there")
		}
		return server, nil
	}})
	plan := &sut.Plan{Name: "a", Kind: sut.HTTP, URL: "http://127.0.0.1:1", Digest: "a", Limits: sut.Limits{Timeout: 300 * time.Millisecond}}
	names := []string{"a", "b", "bomb", "c"}
	ends := make([]sut.End, len(names))
	var calls sync.WaitGroup
	for i, name := range names {
		s, err := all.Open(t.Context(), plan, sut.Worker{Of: len(names)})
		if err != nil {
			t.Fatal(err)
		}
		calls.Go(func() {
			o, err := s.Call(t.Context(), sut.Call{Operation: name})
			if ends[i] = o.End; err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	crashed := 0
	for i, name := range names {
		if ends[i] == sut.Crashed {
			crashed++
		}
		if back && (ends[i] == sut.Crashed) != (name == "bomb") {
			t.Errorf("%s: %v", name, ends[i])
		}
	}
	if crashed != 1 {
		t.Errorf("one cause, %d crashes (back: %t)", crashed, back)
	}
}

// ended is a program that one worker has alone: a call of "bomb" ends it, and what it was
// told before is lost.
type ended struct{ calls int }

func (e *ended) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	if e.calls++; c.Operation == "bomb" {
		return sut.Observation{End: sut.Crashed, Why: "exit status 3"}, nil
	}
	return sut.Observation{End: sut.Answered, Output: []byte(strconv.Itoa(e.calls))}, nil
}
func (e *ended) Operations() []sut.Operation { return nil }
func (e *ended) Notes() []string             { return nil }
func (e *ended) Close() error                { return nil }

// A crash of one worker's program is one however soon it follows another, and takes no
// state from the programs of other workers.
func TestACrashStaysWithItsWorker(t *testing.T) {
	all := system.New(map[sut.Kind]system.Kind{sut.Driver: func(context.Context, system.Site) (system.Edge, error) { return &ended{}, nil }})
	plan := &sut.Plan{Name: "a", Kind: sut.Driver, Command: []string{"a"}, Digest: "a"}
	var workers [2]sut.System
	for i := range workers {
		s, err := all.Open(t.Context(), plan, sut.Worker{Index: i, Of: 2})
		if err != nil {
			t.Fatal(err)
		}
		workers[i] = s
	}
	call := func(worker int, operation string) sut.Observation {
		o, err := workers[worker].Call(t.Context(), sut.Call{Operation: operation})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	call(0, "on")
	for range 2 {
		if o := call(1, "bomb"); o.End != sut.Crashed {
			t.Errorf("the crash is lost: %v", o.End)
		}
	}
	if o := call(0, "on"); string(o.Output) != "2" {
		t.Errorf("the other worker's program was started again: call %s of it", o.Output)
	}
}
