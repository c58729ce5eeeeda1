package fresnelfir

import (
	"context"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/system/wasm"
)

// assertions walks a maze for a number of steps and counts the assertions that
// were reached; unguided walks learn nothing and know no constants.
func assertions(t testing.TB, g *wasm.Engine, seed uint64, steps int, guided bool) (found, of int) {
	t.Helper()
	module, of := mazeModule(seed)
	c := withModuleNamed(t, g, "maze.json", mazeDocument(), module)
	c.budget = 1 << 40
	if !guided {
		for i := range c.plan.space.domains {
			c.plan.space.domains[i].hints = nil
		}
	}
	x := open(t, c)
	s := c.Start(campaign.Facts{})
	seen := map[string]bool{}
	for actions := 0; actions < steps; {
		r, _ := c.Round(s)
		first := s.cases
		next := c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i := range r.Len {
				at := campaign.Case{Index: first + i}
				state := s
				if !guided {
					state = nil
				}
				o, err := x.Execute(context.Background(), state, at)
				if err != nil {
					t.Fatal(err)
				}
				actions += x.t.actions
				if o.Verdict == campaign.VerdictFail {
					seen[o.Cause[0]] = true
				}
				if !yield(at, o) {
					return
				}
			}
		})
		s = next
	}
	for cause := range seen {
		if !strings.Contains(cause, "assertion_") {
			t.Errorf("failed otherwise: %s", cause)
		}
	}
	return len(seen), of
}

// What the module compares with finds assertions that numbers drawn blindly do
// not meet.
func TestMazes(t *testing.T) {
	if testing.Short() {
		t.Skip("many walks, one at a time: what goes on side by side is in TestContract")
	}
	g := engine(t)
	guided, blind := 0, 0
	for seed := range uint64(2) {
		n, of := assertions(t, g, seed, 8_000, true)
		m, _ := assertions(t, g, seed, 8_000, false)
		t.Logf("maze %d: of %d assertions %d guided, %d unguided", seed, of, n, m)
		guided, blind = guided+n, blind+m
	}
	if guided*2 < blind*3 {
		t.Errorf("%d assertions guided, %d unguided", guided, blind)
	}
}

// BenchmarkMazes reports distinct assertions by 100,000 steps over five mazes.
func BenchmarkMazes(b *testing.B) {
	g := engine(b)
	for _, guided := range []bool{true, false} {
		b.Run(map[bool]string{true: "guided", false: "unguided"}[guided], func(b *testing.B) {
			for b.Loop() {
				found, all := 0, 0
				for seed := range uint64(5) {
					n, of := assertions(b, g, seed, 100_000, guided)
					found, all = found+n, all+of
				}
				b.ReportMetric(float64(found), "assertions")
				b.ReportMetric(float64(all), "of")
			}
		})
	}
}
