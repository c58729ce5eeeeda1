package fresnelfir

import (
	"context"
	"math"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/port/dut"
)

// explored is what a campaign has learned after so many traversals.
func explored(t *testing.T, c *Campaign, budget int64, edit func(x *ir.Exploration)) *state {
	t.Helper()
	x := &c.plan.doc.Exploration
	was := *x
	edit(x)
	c.plan.collects = c.plan.listens("coverage_delta")
	c.budget = budget
	s, _ := explore(t, c, "")
	*x = was
	return s
}

// takenBy is how often branches were taken, by their ids.
func takenBy(c *Campaign, s *state) map[string]int64 {
	hits := map[string]int64{}
	for at := range c.plan.nodes {
		for i, b := range c.plan.nodes[at].branches {
			hits[b.id] += s.branchHits(at, i)
		}
	}
	return hits
}

func gave(s *state, kind, cause string) bool {
	for _, d := range s.log.all() {
		if d.kind == kind && (d.cause == cause || cause == "") {
			return true
		}
	}
	return false
}

// Every signal leads to its directives, if the document names it and allows
// them; each changes how the campaign goes on, and without it nothing does.
func TestSignalsAndDirectives(t *testing.T) {
	g := engine(t)
	faulty := func(f string) func() *Campaign {
		return func() *Campaign { return withModule(t, g, article(t), exampleModule("article", f)) }
	}
	vaults := func() *Campaign { return compileText(t, vault()) }
	rate := func(n, of int64) float64 { return float64(n) / math.Max(float64(of), 1) }
	failures := func(_ *Campaign, s *state) float64 { return rate(s.failed, s.cases) }
	for _, x := range []struct {
		signal, directive string
		campaign          func() *Campaign
		figure            func(c *Campaign, s *state) float64
		more              int // the figure grows by it, shrinks (-1), or only changes (0)
	}{
		{"coverage_delta", "adjust_weight", vaults, func(c *Campaign, s *state) float64 { return rate(takenBy(c, s)["right"], s.actions) }, 0},
		{"guard_failure", "force", vaults, func(c *Campaign, s *state) float64 { return rate(takenBy(c, s)["right"], s.actions) }, 1},
		{"coverage_plateau", "force", vaults, func(c *Campaign, s *state) float64 { return rate(takenBy(c, s)["enter"], s.actions) }, 1},
		{"coverage_plateau", "loop_limit", vaults, func(_ *Campaign, s *state) float64 { return rate(s.actions, s.cases) }, -1},
		{"property_violation", "force", func() *Campaign {
			return compileText(t, article(t, `["is", "actor", "Editor"], ["eq", ["field", "article", "state"], "review"]`, `true, ["eq", ["field", "article", "state"], "review"]`))
		}, failures, 1},
		{"discrepancy", "force", faulty("a withdrawn article stays live"), failures, 1},
		{"crash", "force", faulty("publishing fails once something was withdrawn"), func(_ *Campaign, s *state) float64 { return rate(s.actions, s.cases) }, 0},
		{"timeout", "skip", faulty("withdrawing never ends"), failures, -1},
	} {
		t.Run(x.signal+" "+x.directive, func(t *testing.T) {
			c := x.campaign()
			cases := int64(1000)
			if x.signal == "crash" { // few cases lead there
				cases = 3000
			}
			run := func(signals, directives []string) (*state, float64) {
				s := explored(t, c, cases, func(e *ir.Exploration) {
					e.Signals, e.Directives = signals, directives
				})
				return s, x.figure(c, s)
			}
			s, with := run([]string{x.signal}, []string{x.directive})
			if !gave(s, x.directive, x.signal) {
				t.Errorf("no %s is given for %s", x.directive, x.signal)
			}
			deaf, without := run(nil, []string{x.directive})
			if gave(deaf, "", "") || deaf.log.len() > 0 {
				t.Errorf("directives are given though nothing is listened to: %v", deaf.log.all())
			}
			if with == without || x.more != 0 && (with > without) != (x.more > 0) {
				t.Errorf("with the signal the figure is %g, without it %g", with, without)
			}
			idle, _ := run([]string{x.signal}, nil)
			if idle.log.len() > 0 {
				t.Errorf("directives are given that are not allowed: %v", idle.log.all())
			}
		})
	}
}

// counting counts the calls of a module.
type counting struct {
	dut.Device
	calls *int
}

func (c counting) Open(ctx context.Context) (dut.Instance, error) {
	x, err := c.Device.Open(ctx)
	if err != nil {
		return nil, err
	}
	return countingInstance{x, c.calls}, nil
}

type countingInstance struct {
	dut.Instance
	calls *int
}

func (c countingInstance) Call(binding int, args []dut.Value) dut.Reply {
	*c.calls++
	return c.Instance.Call(binding, args)
}

// After answers that differ, observers are asked about more instances, if the
// document allows it.
func TestSwapObserver(t *testing.T) {
	g := engine(t)
	// Every other step writes an article, so that there are more than are asked about.
	c := withModule(t, g, article(t, `"min": 0, "max": 12, "body": { "type": "alt", "branches": [`,
		`"min": 200, "max": 200, "body": { "type": "alt", "branches": [ { "id": "more", "weight": 100, "body": { "type": "call", "action": "write_article" } },`), exampleModule("article", "a withdrawn article stays live"))
	calls := 0
	open := c.module.open
	c.module.open = func(ctx context.Context, p dut.Plan) (dut.Device, error) {
		d, err := open(ctx, p)
		return counting{d, &calls}, err
	}
	each := func(directives ...string) float64 {
		calls = 0
		s := explored(t, c, 60, func(e *ir.Exploration) { e.Signals, e.Directives = []string{"discrepancy"}, directives })
		return float64(calls) / float64(s.actions)
	}
	if with, without := each("swap_observer"), each(); with < 1.05*without {
		t.Errorf("%.1f calls an action with swap_observer, %.1f without", with, without)
	}
}

// What the document says of weights, epochs, threads and the floor of coverage
// changes how it is explored.
func TestExplorationSettings(t *testing.T) {
	c := compileText(t, vault(`"weight": 1, "guard": ["eq", ["field", "door", "stage"], 8]`, `"weight": 1`, `"weight": 200`, `"weight": 100000`))
	run := func(edit func(e *ir.Exploration)) *state {
		return explored(t, c, 1500, func(e *ir.Exploration) {
			e.Signals, e.Directives, e.CoverageFloor = nil, nil, 0
			edit(e)
		})
	}
	plain := run(func(*ir.Exploration) {})
	if floor := run(func(e *ir.Exploration) { e.CoverageFloor = 0.5 }); takenBy(c, floor)["enter"] == 0 || takenBy(c, plain)["enter"] > 0 {
		t.Errorf("with a floor of coverage %v, without %v", takenBy(c, floor), takenBy(c, plain))
	}
	if long := run(func(e *ir.Exploration) { e.EpochSize = 1000 }); 2*long.epoch >= plain.epoch {
		t.Errorf("%d epochs of 1000 actions, %d of 100", long.epoch, plain.epoch)
	}
	if many := run(func(e *ir.Exploration) { e.Threads = 4 }); many.actions < 3*plain.actions/2 {
		t.Errorf("%d actions by up to four threads, %d by one", many.actions, plain.actions)
	}
	c = compileText(t, vault(`"weight": 200`, `"weight": 3`))
	learning := func(edit func(e *ir.Exploration)) *state {
		return run(func(e *ir.Exploration) {
			e.Signals, e.Directives = []string{"coverage_delta"}, []string{"adjust_weight"}
			edit(e)
		})
	}
	learned := func(s *state) (most float64) {
		for _, f := range s.learned {
			most = math.Max(most, f)
		}
		return most
	}
	fades := learning(func(*ir.Exploration) {})
	stays := learning(func(e *ir.Exploration) { e.Decay = "none" })
	if learned(fades) > 1.01 || learned(stays) < 1.49 {
		t.Errorf("learned factors are %g with decay, %g without", learned(fades), learned(stays))
	}
	if one := learning(func(e *ir.Exploration) { e.Scope = "per_alt_branch" }); len(one.learned) >= len(fades.learned) {
		t.Errorf("%d weights by branch, %d by branch and state", len(one.learned), len(fades.learned))
	}
}
