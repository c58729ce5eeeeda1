package flakestorm

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
)

// What mutation changed is taken back as far as the agent still fails, never all.
func TestClosest(t *testing.T) {
	for _, tc := range []struct{ original, text, fails, want string }{
		{"Refund order 4711, please.", "Rfund order 47x11, plese.", "47x11", "Refund order 47x11, please."},
		{"Refund order 4711.", "Hurry up! Refund order 4711. ASAP", "Hurry", "Hurry up! Refund order 4711."},
		{"Refund it.", "Refnd it.", "", "Refnd it."},
	} {
		if got := closest(tc.original, tc.text, func(s string) bool { return strings.Contains(s, tc.fails) }); got != tc.want {
			t.Errorf("%q became %q, want %q", tc.text, got, tc.want)
		}
	}
}

// Expectations of prompts and turns go by different names.
func TestNamesOfExpectations(t *testing.T) {
	contains := func() []config.Invariant { return []config.Invariant{{Type: "contains"}} }
	prompts := []config.Prompt{
		{ID: "a", Turns: []config.Said{{Say: "x", Expect: contains()}, {Say: "y", Expect: contains()}}, Expect: contains()},
		{ID: "b", Expect: append(contains(), config.Invariant{ID: "own", Type: "contains"})},
	}
	nameExpectations(prompts)
	var got []string
	for _, v := range expectations(prompts) {
		got = append(got, v.ID)
	}
	if want := "a: turn 1: contains, a: turn 2: contains, a: contains, b: contains, b: own"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}
