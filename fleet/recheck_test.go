package fleet_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/fleet"
)

// A worker that lies is found out by another one, and excluded.
func TestLyingWorkerIsExcluded(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	c := &tally{rounds: 6, perRound: 100}
	want := y.must(c, false, nil)
	dir := enrolled(t, "honest", "liar")
	lying := *c
	lying.lie = true
	y.worker(c, 2, func(w *fleet.Worker) { w.Keys = keysOf(t, dir, fleet.RoleWorker, "honest") })
	y.worker(&lying, 2, func(w *fleet.Worker) { w.Keys = keysOf(t, dir, fleet.RoleWorker, "liar") })
	got := y.must(c, true, func(s *fleet.Settings) {
		s.Keys, s.Recheck = keysOf(t, dir, fleet.RoleCoordinator, "coordinator"), 1
	})
	notes := strings.Join(got.Environment.Notes, "\n")
	if !strings.Contains(notes, "was excluded: it answered") || !strings.Contains(notes, "executed again by another worker") {
		t.Errorf("notes: %s", notes)
	}
	if len(got.Findings) <= len(want.Findings) {
		t.Errorf("%d findings, %d without a fleet: the lie is not among them", len(got.Findings), len(want.Findings))
	}
}

// A case that changes what it reaches is not executed again to check a worker.
func TestWhatChangesSomethingIsNotRechecked(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	dir := enrolled(t, "one", "two")
	c := &tally{rounds: 3, perRound: 60, once: true}
	for _, name := range []string{"one", "two"} {
		y.worker(c, 2, func(w *fleet.Worker) { w.Keys = keysOf(t, dir, fleet.RoleWorker, name) })
	}
	got := y.must(c, true, func(s *fleet.Settings) {
		s.Keys, s.Recheck = keysOf(t, dir, fleet.RoleCoordinator, "coordinator"), 1
	})
	if notes := strings.Join(got.Environment.Notes, "\n"); strings.Contains(notes, "executed again") {
		t.Errorf("notes: %s", notes)
	}
}

// Whoever has one key is one, whatever names it gives itself, and is excluded
// for good the second time.
func TestNamesOfOneKey(t *testing.T) {
	keys := map[string]string{"a@1": "A", "a@2": "A", "b@1": "B"}
	for _, c := range []struct {
		keys map[string]string
		a, b string
		one  bool
	}{
		{keys, "a@1", "a@1", true},
		{keys, "a@1", "a@2", true},
		{keys, "a@1", "b@1", false},
		{map[string]string{"a@1": "A", "a@2": "A"}, "a@1", "a@2", false}, // there is nobody else to ask
		{map[string]string{"one": "", "two": ""}, "one", "two", false},   // without keys
	} {
		if one := fleet.Crowd(c.keys).MaybeOne(c.a, c.b); one != c.one {
			t.Errorf("%s and %s of %v: one is %v", c.a, c.b, c.keys, one)
		}
	}
	crowd := fleet.Crowd(map[string]string{"a@1": "A", "a@2": "A", "a@3": "A", "b@1": "B"})
	if out := crowd.Exclude("a@1"); !slices.Equal(out, []string{"a@1"}) {
		t.Errorf("excluded: %v", out)
	}
	if out := crowd.Exclude("a@2"); !slices.Equal(out, []string{"a@1", "a@2", "a@3"}) {
		t.Errorf("excluded: %v", out)
	}
	if out := fleet.Crowd(keys).Exclude("b@1"); !slices.Equal(out, []string{"b@1"}) {
		t.Errorf("excluded: %v", out)
	}
}
