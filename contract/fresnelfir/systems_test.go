package fresnelfir

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/examples/fresnelfir/systems"
	"github.com/thresh-dev/thresh/target/wasm"
)

// seeds is how many seeds a fault has to be found from: a few, and twenty where
// THRESH_CI is set.
func seeds() uint64 {
	if os.Getenv("THRESH_CI") != "" {
		return 20
	}
	return 2
}

func system(t testing.TB, g *wasm.Engine, s systems.System, fault string, seed uint64) *Campaign {
	t.Helper()
	text, err := os.ReadFile("../../examples/fresnelfir/" + s.Name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	list, diags := New(g.Open).Compile(context.Background(), campaign.Spec{Path: s.Name + ".json", Data: text}, campaign.Settings{
		Read: func(string) ([]byte, error) { return s.Module(fault), nil },
	})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	c, _ := campaign.As[*Campaign](list[0])
	c.seed = seed
	return c
}

// The modules without a fault give rise to no finding, and everything that can
// be covered is.
func TestSystemsAreSound(t *testing.T) {
	g := engine(t)
	for _, s := range systems.All() {
		for seed := range seeds() {
			c := system(t, g, s, "", seed)
			if os.Getenv("THRESH_CI") == "" {
				c.budget = 2000
			}
			state, failing := explore(t, c, "")
			if len(failing) > 0 {
				t.Errorf("%s from seed %d: %v", s.Name, seed, failing)
			}
			if hit, total := state.progress(c.plan); hit != total {
				t.Errorf("%s from seed %d: %d of %d calls and branches reached", s.Name, seed, hit, total)
			}
			if i := slices.Index(state.tried, 0); i >= 0 {
				t.Errorf("%s from seed %d: %s was never put to the test", s.Name, seed, c.plan.program.Property(i))
			}
		}
	}
}

// minimum is the fewest actions that show a fault, where more than one seed
// shows that the smallest result is known.
var minimum = map[string]int{}

// Every fault is found within the default budget from every seed, is told as one
// of the module's, and comes down to few actions.
func TestSystemsWithFaults(t *testing.T) {
	g := engine(t)
	for _, s := range systems.All() {
		for _, fault := range s.Faults {
			t.Run(s.Name+"/"+fault, func(t *testing.T) {
				for seed := range seeds() {
					c := system(t, g, s, fault, seed)
					_, failing := explore(t, c, firstFailure)
					if len(failing) == 0 {
						t.Fatalf("seed %d: not found", seed)
					}
					for title, at := range failing {
						steps, tests := smallest(t, c, at, title)
						t.Logf("seed %d: %s: %s (%d)", seed, title, strings.Join(steps, " "), tests)
						break
					}
				}
			})
		}
	}
}
