package fresnelfir

import (
	"context"
	"errors"
	"fmt"
	"github.com/thresh-dev/thresh/examples/wasmemit"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/dut"
)

// outcomes runs a campaign with executors that take turns, and tells all that came of it.
func outcomes(t *testing.T, c *Campaign, executors ...*executor) (told []string, restored int) {
	t.Helper()
	s := c.Start(campaign.Facts{})
	for {
		r, more := c.Round(s)
		if !more {
			return append(told, fmt.Sprint(s.actions, len(s.corpus), s.entries)), restored
		}
		first := s.cases
		s = c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i := range r.Len {
				at := campaign.Case{Index: first + i}
				x := executors[at.Index%int64(len(executors))]
				o, err := x.Execute(context.Background(), s, at)
				if err != nil {
					t.Fatal(err)
				}
				if x.t.restored {
					restored++
				}
				told = append(told, fmt.Sprintf("%s %s %s %x", o.Title, o.Input, o.Attached("steps"), o.Data))
				if !yield(at, o) {
					return
				}
			}
		})
	}
}

// What a case comes to does not depend on which snapshots are kept: none, all, or
// few, by one executor or by several that each have seen other cases.
func TestKeptSnapshotsChangeNothing(t *testing.T) {
	g := engine(t)
	campaigns := map[string]*Campaign{}
	for _, s := range exampleSystems() {
		for _, fault := range []string{"", s.Faults[0]} {
			campaigns[s.Name+" "+fault] = system(t, g, s, fault, 3)
		}
	}
	varied := exampleSystems()[0]
	campaigns["vary"] = system(t, g, varied, varied.Faults[0], 3)
	campaigns["vary"].plan.doc.Exploration.Vary = true
	module, _ := mazeModule(1)
	campaigns["maze"] = withModuleNamed(t, g, "maze.json", mazeDocument(), module)
	for name, c := range campaigns {
		t.Run(name, func(t *testing.T) {
			c.budget = 200
			if name == "maze" { // few of its cases have no finding, as a run of its own shows
				c.budget = 1500
			}
			want, _ := outcomes(t, c, open(t, c))
			with := func(bytes int) *executor {
				x := open(t, c)
				x.t.snapshots = &snapshots{most: bytes}
				return x
			}
			for how, list := range map[string][]*executor{
				"kept": {with(maxSnapshotBytes)}, "few kept": {with(60_000)}, "three executors": {with(maxSnapshotBytes), with(60_000), open(t, c)},
			} {
				got, restored := outcomes(t, c, list...)
				if restored == 0 {
					t.Errorf("%s: no snapshot was gone back to", how)
				}
				for i := range want {
					if i >= len(got) || got[i] != want[i] {
						t.Fatalf("%s: case %d is\n%s, without snapshots\n%s", how, i, got[min(i, len(got)-1)], want[i])
					}
				}
			}
		})
	}
}

// forgetful is a module whose kept states are lost: all of them are the start.
type forgetful struct{ dut.Device }

func (f forgetful) Open(ctx context.Context) (dut.Instance, error) {
	x, err := f.Device.Open(ctx)
	if err != nil {
		return nil, err
	}
	return forgetfulInstance{x}, nil
}

type forgetfulInstance struct{ dut.Instance }

func (f forgetfulInstance) Restore(dut.Snapshot) error { return f.Reset() }

// What only a kept state of the module shows is not a finding: the campaign is run
// again without any, and says why.
func TestWrongSnapshotsAreReported(t *testing.T) {
	g := engine(t)
	c := system(t, g, exampleSystems()[0], "", 1)
	open := c.module.open
	c.module.open = func(ctx context.Context, p dut.Plan) (dut.Device, error) {
		d, err := open(ctx, p)
		return forgetful{d}, err
	}
	run := func(cold bool) error {
		x, err := campaign.Solo(t.Context(), c, campaign.Lane{Cold: cold})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		s := c.Start(campaign.Facts{})
		for range 20 {
			r, _ := c.Round(s)
			first := s.cases
			s = c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
				for i := range r.Len {
					at := campaign.Case{Index: first + i}
					var o campaign.Outcome
					if o, err = x.Execute(t.Context(), s, at); err == nil && o.Verdict == campaign.VerdictFail {
						t.Errorf("found: %s", o.Title)
					}
					if err != nil || !yield(at, o) {
						return
					}
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	if _, redo := campaign.IsRedo(run(false)); !redo {
		t.Error("a module that is not brought back to its states goes unnoticed")
	}
	if err := run(true); err != nil {
		t.Errorf("without kept states: %v", err)
	}
}

// Whatever runs the module for a case ends with its context.
func TestEndedContexts(t *testing.T) {
	g := engine(t)
	opened := 0
	text, module := lamps("Lamp.colour"), lampModule(func(*wasmemit.Func) {})
	c := withModuleNamed(t, g, "m.json", text, module)
	inner := c.module.open
	c.module.open = func(ctx context.Context, p dut.Plan) (dut.Device, error) {
		opened++
		return inner(ctx, p)
	}
	ctx, stop := context.WithCancel(t.Context())
	s, at := c.Start(campaign.Facts{}), campaign.Case{Index: 3}
	tape := c.Input(ctx, s, at)
	size, unit := c.gauge(ctx, tape)
	if len(tape) == 0 || size == 0 || unit != "action" || opened != 2 {
		t.Fatalf("before: %v, %d %q, opened %d times", tape, size, unit, opened)
	}
	stop()
	size, _ = c.gauge(ctx, tape)
	_, err := c.Promote(ctx, campaign.Finding{}, [][]byte{tape}, "/nowhere")
	if in := c.Input(ctx, s, at); in != nil || size != 0 || !errors.Is(err, context.Canceled) || opened != 2 {
		t.Errorf("after: %v, %d, %v, opened %d times", in, size, err, opened)
	}
}
