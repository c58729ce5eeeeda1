package fresnelfir

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/testproc"
	"github.com/thresh-dev/thresh/system/wasm"
)

// withModule compiles the example with a module.
func withModule(t testing.TB, g *wasm.Engine, text string, module []byte) *Campaign {
	t.Helper()
	return withModuleNamed(t, g, "article.json", text, module)
}

func withModuleNamed(t testing.TB, g *wasm.Engine, name, text string, module []byte) *Campaign {
	t.Helper()
	list, diags := New(g.Open).Compile(context.Background(), campaign.Spec{Path: name, Data: []byte(text)}, campaign.Settings{
		Read: func(path string) ([]byte, error) {
			if path != strings.TrimSuffix(strings.TrimSuffix(name, ".json"), ".model.star")+".wasm" {
				t.Errorf("%s is read", path)
			}
			return module, nil
		},
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c, _ := campaign.As[*Campaign](list[0])
	return c
}

func engine(t testing.TB) *wasm.Engine {
	t.Helper()
	g, err := wasm.NewEngine("")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestSoundModule(t *testing.T) {
	g := engine(t)
	for seed := range uint64(3) {
		c := withModule(t, g, article(t), exampleModule("article", ""))
		c.seed, c.budget = seed, 2000
		if _, failing := explore(t, c, ""); len(failing) > 0 {
			t.Errorf("seed %d: %v", seed, failing)
		}
	}
}

// Every planted fault of the module is found from every seed, told as what it
// is, and comes down to the fewest actions that show it.
func TestFaultyModules(t *testing.T) {
	if testing.Short() {
		t.Skip("many walks, one at a time: what goes on side by side is in TestContract")
	}
	g := engine(t)
	write, submit, publish := "write_article", " submit_article", " publish_article"
	live := write + submit + publish
	want := map[string][2]string{
		"publishing leaves the article where it is":       {"shown differs from the model after publish_article", live},
		"a withdrawn article stays live":                  {"shown differs from the model after withdraw_article", live + " withdraw_article"},
		"sending an article back puts it live":            {"shown differs from the model after return_article", write + submit + " return_article"},
		"a submitted article is live at once":             {"shown differs from the model after submit_article", write + submit},
		"a revision counts twice":                         {"counted differs from the model after revise_article", write + " revise_article"},
		"the third revision is lost":                      {"counted differs from the model after revise_article", write + " revise_article revise_article revise_article"},
		"a revision counts for the article before":        {"counted differs from the model after revise_article", write + " revise_article"},
		"submitting forgets the revisions":                {"counted differs from the model after submit_article", write + " revise_article" + submit},
		"publishing fails once something was withdrawn":   {"publish_article fails: ", live + " withdraw_article " + live},
		"withdrawing never ends":                          {"withdraw_article does not end within its fuel", live + " withdraw_article"},
		"returning counts as a revision":                  {"counted differs from the model after return_article", write + submit + " return_article"},
		"the third article gets the number of the second": {"shown differs", ""},
	}
	for _, fault := range slices.Sorted(maps.Keys(want)) {
		t.Run(fault, func(t *testing.T) {
			for seed := range uint64(testproc.Times(4, 2)) {
				c := withModule(t, g, article(t), exampleModule("article", fault))
				c.seed = seed
				_, failing := explore(t, c, want[fault][0])
				title := ""
				for found := range failing {
					if strings.HasPrefix(found, want[fault][0]) {
						title = found
					}
				}
				if title == "" {
					t.Fatalf("seed %d: not found; found %v", seed, failing)
				}
				steps, tests := smallest(t, c, failing[title], title)
				// Two threads may take their steps in more than one order.
				least := strings.Fields(want[fault][1])
				got := slices.Clone(steps)
				slices.Sort(least)
				slices.Sort(got)
				if want[fault][1] != "" && !slices.Equal(got, least) {
					t.Errorf("seed %d: made small: %v, want %s", seed, steps, want[fault][1])
				}
				if tests > 250 {
					t.Errorf("seed %d: %d executions to make it small", seed, tests)
				}
			}
		})
	}
}

func BenchmarkLockstep(b *testing.B) {
	c := withModule(b, engine(b), article(b), exampleModule("article", ""))
	x := open(b, c)
	actions, n := 0, int64(0)
	for b.Loop() {
		if err := c.prepare(x.t, nil, campaign.Case{Index: n}); err != nil {
			b.Fatal(err)
		}
		x.t.run()
		actions += x.t.actions
		n++
	}
	b.ReportMetric(float64(actions)/b.Elapsed().Seconds(), "actions/s")
}
