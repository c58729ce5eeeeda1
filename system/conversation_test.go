//go:build unix

package system_test

import (
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/golden"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/driver"
	"github.com/thresh-dev/thresh/system/systemtest"
)

// Whole conversations, for every way to reset a program and to share it.
func TestConversations(t *testing.T) {
	t.Parallel() // mostly waits
	const file = "testdata/conversations.txt"
	all := system.New(map[sut.Kind]system.Kind{sut.Driver: driver.Open})
	ops := []sut.Operation{{Name: "refuse"}, {Name: "count"}, {Name: "pair", Returns: "$.right"}, {Name: "zero"}}
	const talk = "count count pair refuse nothing"
	known := func(words string) []sut.Operation {
		list := ops
		for _, w := range strings.Fields(words) {
			list = append(list[:len(list):len(list)], sut.Operation{Name: w})
		}
		return list
	}
	var b strings.Builder
	for _, x := range []struct {
		name, talk string
		plan       sut.Plan
	}{
		{"as it comes", "count count reset " + talk + " reset count", sut.Plan{}},
		{"a process for a case", "count count reset " + talk + " reset count", sut.Plan{Per: sut.PerCase}},
		{"one of the run", "count count reset " + talk + " reset count", sut.Plan{Per: sut.PerRun}},
		{"started again", "count count reset " + talk + " reset count reset reset", sut.Plan{Reset: sut.Reset{Mode: sut.ResetRestart}}},
		{"of the run, started again", "count count reset " + talk + " reset count", sut.Plan{Per: sut.PerRun, Reset: sut.Reset{Mode: sut.ResetRestart}}},
		{"for a case, started again", "count count reset " + talk + " reset count", sut.Plan{Per: sut.PerCase, Reset: sut.Reset{Mode: sut.ResetRestart}}},
		{"no reset", "count count reset " + talk + " reset count", sut.Plan{Reset: sut.Reset{Mode: sut.ResetNone}}},
		{"reset by an operation", "count reset count", sut.Plan{Reset: sut.Reset{Mode: sut.ResetOperation, Operation: "pair"}}},
		{"reset by one that refuses", "count reset count", sut.Plan{Reset: sut.Reset{Mode: sut.ResetOperation, Operation: "refuse"}}},
		{"reset by one that ends it", "count reset count", sut.Plan{Reset: sut.Reset{Mode: sut.ResetOperation, Operation: "die"}}},
		{"ends", "count die count kill count quit count mute count", sut.Plan{Per: sut.PerRun}},
		{"fails", "count fail count lie count empty count", sut.Plan{}},
		{"hangs", "count hang count reset count", sut.Plan{Limits: sut.Limits{Timeout: 150 * time.Millisecond}}},
	} {
		x.plan.Name, x.plan.Kind, x.plan.Command = x.name, sut.Driver, []string{"sh", "-c", systemtest.Talker}
		x.plan.Operations = known("die kill quit mute fail lie empty hang")
		s, err := all.Open(t.Context(), &x.plan, sut.Worker{Of: 2})
		if err != nil {
			t.Fatal(err)
		}
		second, err := all.Open(t.Context(), &x.plan, sut.Worker{Of: 2})
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("## " + x.name + "\n" + systemtest.Talk(t, s, x.talk))
		b.WriteString("the other worker's\n" + systemtest.Talk(t, second, "count"))
		for _, x := range []sut.System{s, second} {
			for _, n := range x.Notes() {
				b.WriteString("note: " + n + "\n")
			}
		}
		if n := len(s.Operations()); n != len(x.plan.Operations) {
			t.Errorf("%s: %d operations", x.name, n)
		}
		if g := s.(sut.Crowd).Generation(); x.plan.Per != sut.PerRun {
			b.WriteString(strings.Repeat("started ", g) + "\n")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	}
	golden.Check(t, file, b.String())
}

// Actors call one program at the same time, hear what they cannot do, and survive its
// end together.
func TestCrowd(t *testing.T) {
	all := system.New(map[sut.Kind]system.Kind{sut.Driver: driver.Open})
	p := &sut.Plan{Name: "shop", Kind: sut.Driver, Command: []string{"sh", "-c", systemtest.Talker}}
	s, err := all.Open(t.Context(), p, sut.Worker{Of: 1, Crowd: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := s.(sut.Crowd)
	join := func() sut.System {
		m, err := c.Join(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	got := systemtest.Talk(t, s, "count reset count")
	a, b := join(), join()
	got += systemtest.Talk(t, a, "count") + systemtest.Talk(t, b, "count refuse reset")
	got += systemtest.Talk(t, a, "kill")
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.Generation() != 2 || len(a.Notes())+len(a.Operations()) > 0 {
		t.Errorf("started %d times; %v %v", c.Generation(), a.Notes(), a.Operations())
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	got += systemtest.Talk(t, join(), "count")
	const want = `count: answered 1
reset: done
count: answered 1
count: answered 2
count: answered 3
refuse: refused  (no money)
reset: error the system shop is reset for all actors together
kill: crashed  (the program ended during the call: signal: killed) signal 9, exit 0
count: answered 1
`
	if got != want {
		t.Errorf("got\n%s", got)
	}

	alone, err := all.Open(t.Context(), p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if _, err := alone.(sut.Crowd).Join(t.Context()); err == nil || !strings.Contains(err.Error(), "the system shop takes one call at a time") {
		t.Error(err)
	}
}
