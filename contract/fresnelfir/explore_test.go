package fresnelfir

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/testproc"
)

func compileText(t testing.TB, text string) *Campaign {
	t.Helper()
	list, diags := New(nil).Compile(context.Background(), campaign.Spec{Path: "model.json", Data: []byte(text)}, campaign.Settings{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c, ok := campaign.As[*Campaign](list[0])
	if !ok {
		t.Fatal("not a campaign of this package")
	}
	return c
}

func article(t testing.TB, edits ...string) string {
	t.Helper()
	b, err := os.ReadFile("../../examples/fresnelfir/article.json")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the example does not hold %s", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	return text
}

func open(t testing.TB, c *Campaign) *executor {
	t.Helper()
	x, err := c.open(context.Background())
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

// firstFailure ends an exploration with the epoch in which anything failed.
const firstFailure = "*"

// explore runs a campaign to its end, or to the end of the epoch in which a
// title that begins with until was found, and returns its state and the first failing case of every title.
func explore(t testing.TB, c *Campaign, until string) (*state, map[string]campaign.Case) {
	t.Helper()
	x := open(t, c)
	s := c.Start(campaign.Facts{})
	failing := map[string]campaign.Case{}
	for {
		r, more := c.Round(s)
		for title := range failing {
			more = more && until != firstFailure && (until == "" || !strings.HasPrefix(title, until))
		}
		if !more {
			return s, failing
		}
		first := s.cases
		s = c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i := range r.Len {
				at := campaign.Case{Index: first + i, Payload: r.Payload(i)}
				o, err := x.Execute(context.Background(), s, at)
				if err != nil {
					t.Fatal(err)
				}
				if _, known := failing[o.Title]; o.Verdict == campaign.VerdictFail && !known {
					at.Payload = c.Input(context.Background(), s, at)
					failing[o.Title] = at
				}
				if !yield(at, o) {
					return
				}
			}
		})
	}
}

// smallest shrinks a failing case the way a run does.
func smallest(t testing.TB, c *Campaign, at campaign.Case, title string) (steps []string, tests int) {
	t.Helper()
	x := open(t, c)
	run := func(payload []byte) campaign.Outcome {
		o, err := x.Execute(context.Background(), nil, campaign.Case{Payload: payload})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	small, _ := c.Reduce(context.Background(), at.Payload, func(payload []byte) (bool, error) {
		tests++
		return run(payload).Title == title, nil
	})
	o := run(small)
	if o.Title != title {
		t.Fatalf("made small, %q became %q", title, o.Title)
	}
	var tr trace
	if err := json.Unmarshal(o.Attached("steps"), &tr); err != nil {
		t.Fatal(err)
	}
	for _, s := range tr.Steps {
		steps = append(steps, s.Action)
	}
	return steps, tests
}

func TestNothingIsFoundInASoundModel(t *testing.T) {
	for seed := range uint64(testproc.Times(8, 3)) {
		c := compileText(t, article(t))
		c.seed, c.budget = seed, 2000
		s, failing := explore(t, c, "")
		if len(failing) > 0 {
			t.Errorf("seed %d: %v", seed, failing)
		}
		if hit, total := s.progress(c.plan); hit != total {
			t.Errorf("seed %d: %d of %d calls and branches reached", seed, hit, total)
		}
		if i := slices.Index(s.reached, false); i >= 0 {
			t.Errorf("seed %d: no traversal had %s", seed, c.plan.space.targets[i].label)
		}
		if i := slices.Index(s.tried, 0); i >= 0 {
			t.Errorf("seed %d: %s was never tested", seed, c.plan.program.Property(i))
		}
	}
}

// Every planted fault is found from every seed, and comes down to the fewest
// actions that show it.
func TestPlantedFaults(t *testing.T) {
	for _, f := range []struct {
		name, from, to string
		title          string
		want           string
	}{
		{"a lock forgotten", `, { "target": ["article", "locked"], "value": true }`, ``,
			"withdrawn_is_locked does not hold after withdraw_article", "write_article submit_article publish_article withdraw_article"},
		{"anybody decides", `["and", ["is", "actor", "Editor"], ["eq", ["field", "article", "state"], "review"]]`, `["eq", ["field", "article", "state"], "review"]`,
			"only_editors_publish does not hold before publish_article", "write_article submit_article publish_article"},
		{"withdrawn, and back to review", `{ "target": ["article", "state"], "value": "withdrawn" }, { "target": ["article", "locked"], "value": true }`, `{ "target": ["article", "state"], "value": "review" }`,
			"withdrawal_is_final does not hold after publish_article", "write_article submit_article publish_article withdraw_article publish_article"},
		{"a field that nobody sets", `"value": 0 }`, `"value": ["add", ["field", "article", "revision"], 0] }`,
			"the effect of write_article cannot be evaluated: article.revision is read before it has a value", "write_article"},
		{"beyond the bounds", `"max": 1000 }`, `"max": 2 }`,
			"revise_article sets Article.revision above its max of 2", "write_article revise_article revise_article revise_article"},
	} {
		t.Run(f.name, func(t *testing.T) {
			for seed := range uint64(testproc.Times(20, 5)) {
				c := compileText(t, article(t, f.from, f.to))
				c.seed = seed
				_, failing := explore(t, c, f.title)
				at, found := failing[f.title]
				if !found {
					t.Errorf("seed %d: not found; found %v", seed, failing)
					continue
				}
				steps, tests := smallest(t, c, at, f.title)
				if got := strings.Join(steps, " "); got != f.want {
					t.Errorf("seed %d: made small: %s, want %s", seed, got, f.want)
				}
				if tests > 250 {
					t.Errorf("seed %d: %d executions to make it small", seed, tests)
				}
			}
		})
	}
}

// A tape means the same in every state, and its replay is itself.
func TestReplayIsExact(t *testing.T) {
	c := compileText(t, article(t, `["is", "actor", "Editor"], ["eq", ["field", "article", "state"], "review"]`, `true, ["eq", ["field", "article", "state"], "review"]`))
	s, failing := explore(t, c, "")
	x := open(t, c)
	for title, at := range failing {
		for _, state := range []*state{nil, s, c.Start(campaign.Facts{})} {
			o, err := x.Execute(context.Background(), state, at)
			if err != nil || o.Title != title {
				t.Errorf("%q came out as %q, %v", title, o.Title, err)
			}
		}
	}
	if len(failing) == 0 {
		t.Error("nothing failed")
	}
}

func BenchmarkTraversals(b *testing.B) {
	c := compileText(b, article(b))
	t := newTraversal(c.plan)
	actions, n := 0, int64(0)
	for b.Loop() {
		if err := c.prepare(t, nil, campaign.Case{Index: n}); err != nil {
			b.Fatal(err)
		}
		t.run()
		actions += t.actions
		n++
	}
	b.ReportMetric(float64(actions)/b.Elapsed().Seconds(), "actions/s")
}

// An alternative may have any number of branches: one that is open opens no other.
func TestManyBranches(t *testing.T) {
	var branches, actions, effects []string
	for i := range 130 {
		guard := "true"
		if i < 66 {
			guard = "false"
		}
		name := fmt.Sprint("a", i)
		branches = append(branches, `{"id": "`+name+`", "weight": 1, "guard": ["eq", `+guard+`, true], "body": {"type": "call", "action": "`+name+`"}}`)
		actions = append(actions, `"`+name+`": `+binding(name, "", "void", `"mutates": true, "idempotent": false, "reads": [], "writes": []`))
		effects = append(effects, `"`+name+`": {}`)
	}
	c := compileText(t, document(map[string]string{
		"protocols": `{"p": {"root": {"type": "repeat", "min": 1, "max": 9, "body": {"type": "alt", "branches": [` + strings.Join(branches, ", ") + `]}}}}`,
		"effects":   "{" + strings.Join(effects, ", ") + "}", "bindings": "{" + strings.Join(actions, ", ") + "}",
	}))
	c.budget = 500
	s, failing := explore(t, c, "")
	if len(failing) > 0 {
		t.Error(failing)
	}
	taken := 0
	for at := range c.plan.nodes {
		for i := range c.plan.nodes[at].branches {
			hits := s.branchHits(at, i)
			if i < 66 && hits > 0 {
				t.Errorf("branch %d is closed and was taken", i)
			}
			if hits > 0 {
				taken++
			}
		}
	}
	if taken != 64 {
		t.Errorf("%d branches were taken of 64 that are open", taken)
	}
}

// With vary, what a traversal has done already loses weight, repetitions last longer, and
// nothing that is kept between cases changes a result.
func TestVary(t *testing.T) {
	model := func(vary string) *Campaign {
		c := alone(t, "shop.model.star", `
Shelf = entity(n = int(0, 9))
explore(budget = 1000`+vary+`)
def build():
    require(count(Shelf) == 0)
    s = new(Shelf, n = 0)
def restock():
    s = any(Shelf)
    weight(5)
    s.n = 9
def sell():
    s = any(Shelf)
    require(s.n > 0)
    s.n -= 1
def lock():
    s = any(Shelf)
    s.n = 0
use = protocol(repeat(0, 12, alt(build, restock, sell, lock)))
`)
		c.budget = 1000
		return c
	}
	measure := func(c *Campaign) (share, length float64) {
		s, failing := explore(t, c, "")
		if len(failing) > 0 {
			t.Fatal(failing)
		}
		var restock, all int64
		for at := range c.plan.nodes {
			for i, b := range c.plan.nodes[at].branches {
				n := s.branchHits(at, i)
				if all += n; b.id == "restock" {
					restock = n
				}
			}
		}
		return float64(restock) / float64(all), float64(s.actions) / float64(s.cases)
	}
	share, length := measure(model(", vary = False"))
	varied, longer := measure(model(""))
	t.Logf("restock: %.2f and %.2f of the actions; %.1f and %.1f actions", share, varied, length, longer)
	if varied > share*0.9 || longer < length*1.2 {
		t.Errorf("restock: %.2f and %.2f of the actions; %.1f and %.1f actions", share, varied, length, longer)
	}
}
