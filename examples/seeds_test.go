// Package examples_test holds the examples to what they say of themselves,
// whatever the seed.
package examples_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh"
	"github.com/thresh-dev/thresh/internal/testproc"
)

func TestMain(m *testing.M) {
	testproc.Ready(2)
	os.Exit(m.Run())
}

// What is correct has no finding and what has planted bugs has exactly these,
// with every seed: a verdict that depends on luck would show here.
func TestVerdictsWithManySeeds(t *testing.T) {
	seeds := int64(1)
	switch os.Getenv("THRESH_TEST_LONG") {
	case "":
	case "all":
		seeds = 20
	default:
		seeds = 6
	}
	var running sync.WaitGroup
	room := make(chan struct{}, 4) // some of the agents mostly wait
	_, missing := exec.LookPath("python3")
	option := func(name, value string) map[string][]string { return map[string][]string{name: {value}} }
	for _, x := range []struct {
		path    string
		options map[string][]string
		python  bool
		want    []string // findings
	}{
		{"fresnelfir/bank.json", nil, false, nil},
		{"fresnelfir/cache.json", nil, false, nil},
		{"fresnelfir/queue.json", nil, false, nil},
		{"fresnelfir/article.json", nil, false, nil},
		{"fresnelfir/bank.json", option("module", "fresnelfir/faulty/bank.wasm"), false, []string{"F-ee2d84effa"}},
		{"systems/orders.json", option("system", "systems/mended.system.yaml"), false, nil},
		{"operator/operators.json", nil, true, nil},
		{"operator/flawed/operators.json", nil, false, []string{"F-9495c183ae", "F-d25feefe3f"}},
		{"spectest", nil, true, nil},
		{"flakestorm/desk/fixed.yaml", nil, true, nil},
		{"flakestorm/desk/flakestorm.yaml", nil, true, []string{
			"F-389a6a5320", "F-45c210c569", "F-aa311e8c74", "F-ba5ab1d5f4", "F-c08938cb91", "F-f159ee91ab", "F-fdcd569af0",
		}},
	} {
		if x.python && missing != nil {
			t.Logf("%s is not run: there is no python3", x.path)
			continue
		}
		for seed := range seeds {
			if testing.Short() && strings.HasPrefix(x.path, "flakestorm") {
				break // its faults are delays
			}
			room <- struct{}{}
			running.Go(func() {
				defer func() { <-room }()
				holds(t, thresh.Job{Paths: []string{x.path}, Store: t.TempDir(), Seed: &seed, Options: x.options}, x.want)
			})
		}
	}
	running.Wait()
}

// holds runs a job and compares its findings.
func holds(t *testing.T, job thresh.Job, want []string) {
	rec, err := thresh.Run(t.Context(), job)
	if err != nil {
		t.Errorf("%s, seed %d: %v", job.Paths, *job.Seed, err)
		return
	}
	var found []string
	for _, f := range rec.Findings {
		found = append(found, f.ID)
		if !slices.Contains(want, f.ID) {
			t.Logf("%s %s: %+v", f.ID, f.Title, f.Evidence)
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, want) || (rec.Verdict == "pass") != (len(want) == 0) || !rec.Complete {
		t.Errorf("%s, seed %d: %s, complete %t, findings %q, want %q", job.Paths, *job.Seed, rec.Verdict, rec.Complete,
			found, want)
	}
}
