package fresnelfir

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/system/wasm"
)

// seeds is how many seeds a fault has to be found from.
func seeds() uint64 {
	switch os.Getenv("THRESH_TEST_LONG") {
	case "":
		return 2
	case "all":
		return 20
	}
	return 8
}

// exampleModule is the module of an example, or the version of it that has a fault.
// tools/modules writes them.
func exampleModule(name, fault string) []byte {
	file := "../../examples/fresnelfir/" + name + ".wasm"
	if fault != "" {
		file = "../../examples/fresnelfir/faulty/" + name + "/" + strings.ReplaceAll(fault, " ", "-") + ".wasm"
	}
	b, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	return b
}

// exampleSystem is an example with the faults of which there are versions.
type exampleSystem struct {
	Name   string
	Faults []string
}

func (s exampleSystem) Module(fault string) []byte { return exampleModule(s.Name, fault) }

func exampleSystems() (list []exampleSystem) {
	for _, name := range []string{"article", "bank", "cache", "queue"} {
		files, err := os.ReadDir("../../examples/fresnelfir/faulty/" + name)
		if err != nil {
			panic(err)
		}
		s := exampleSystem{Name: name}
		for _, f := range files {
			s.Faults = append(s.Faults, strings.ReplaceAll(strings.TrimSuffix(f.Name(), ".wasm"), "-", " "))
		}
		list = append(list, s)
	}
	return list
}

func system(t testing.TB, g *wasm.Engine, s exampleSystem, fault string, seed uint64) *Campaign {
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
	if testing.Short() {
		t.Skip("many walks, one at a time: what goes on side by side is in TestContract")
	}
	g := engine(t)
	for _, s := range exampleSystems() {
		for seed := range seeds() {
			c := system(t, g, s, "", seed)
			if seed > 0 {
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
				t.Errorf("%s from seed %d: %s was never tested", s.Name, seed, c.plan.program.Property(i))
			}
		}
	}
}

// Every fault is found within the default budget from every seed, and comes down
// to few actions: the median is at most 1.2 times the least that any seed came to.
func TestSystemsWithFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("many walks, one at a time: what goes on side by side is in TestContract")
	}
	g := engine(t)
	for _, s := range exampleSystems() {
		var ratios []float64
		for _, fault := range s.Faults {
			lengths := map[string][]int{} // by the finding's title
			for seed := range seeds() {
				c := system(t, g, s, fault, seed)
				_, failing := explore(t, c, firstFailure)
				if len(failing) == 0 {
					t.Errorf("%s: %q is not found from seed %d", s.Name, fault, seed)
				}
				for _, title := range slices.Sorted(maps.Keys(failing)) {
					steps, tests := smallest(t, c, failing[title], title)
					lengths[title] = append(lengths[title], len(steps))
					t.Logf("%s: %s, seed %d: %s: %s (%d executions)", s.Name, fault, seed, title, strings.Join(steps, " "), tests)
				}
			}
			for _, list := range lengths {
				least := float64(slices.Min(list))
				for _, n := range list {
					ratios = append(ratios, float64(n)/least)
				}
			}
		}
		slices.Sort(ratios)
		if median := ratios[len(ratios)/2]; median > 1.2 {
			t.Errorf("%s: results are %.2f times as long as the shortest, by the median", s.Name, median)
		}
		t.Logf("%s: %d results, the longest %.2f times as long as the shortest of its kind", s.Name, len(ratios), ratios[len(ratios)-1])
	}
}

// BenchmarkSystems reports steps by the second of model and module together,
// with every check on and with coverage.
func BenchmarkSystems(b *testing.B) {
	g := engine(b)
	for _, s := range exampleSystems() {
		b.Run(s.Name, func(b *testing.B) {
			x := open(b, system(b, g, s, "", 1))
			actions, n := 0, int64(0)
			for b.Loop() {
				if err := x.c.prepare(x.t, nil, campaign.Case{Index: n}); err != nil {
					b.Fatal(err)
				}
				x.t.run()
				actions += x.t.actions
				n++
			}
			b.ReportMetric(float64(actions)/b.Elapsed().Seconds(), "actions/s")
		})
	}
}
