package run

import (
	"strconv"
	"testing"
)

// A run says why cases have no verdict: the most frequent reasons, and the first
// cases of each where the document names them.
func TestReasons(t *testing.T) {
	for name, x := range map[string]struct {
		add  func(r *reasons)
		want string
	}{
		"one needs no count": {func(r *reasons) { r.add("down", ""); r.add("down", "") }, "down"},
		"counts":             {func(r *reasons) { r.add("a", ""); r.add("b\nmore", ""); r.add("b\nelse", "") }, "b (2 cases); a (1 case)"},
		"names, not said twice": {func(r *reasons) {
			r.add("A: no such capability", "A")
			r.add("B: no such capability", "B")
		}, "no such capability (A, B)"},
		"many names": {func(r *reasons) {
			for i := range 7 {
				r.add("down", strconv.Itoa(i))
			}
		}, "down (0, 1, 2, 3, 4 and 2 more)"},
		"five names": {func(r *reasons) {
			for i := range 5 {
				r.add("down", strconv.Itoa(i))
			}
		}, "down (0, 1, 2, 3, 4)"},
		"three reasons": {func(r *reasons) { r.add("a", ""); r.add("b", ""); r.add("c", "") }, "a (1 case); b (1 case); c (1 case)"},
		"many reasons": {func(r *reasons) {
			for i := range 100 {
				r.add("reason "+strconv.Itoa(i), "")
			}
			r.add("reason 63", "")
			r.add("reason 64", "") // not kept
		}, "reason 63 (2 cases); reason 0 (1 case); reason 1 (1 case); and 61 other reasons"},
	} {
		var r reasons
		if x.add(&r); r.String() != x.want {
			t.Errorf("%s: %q, want %q", name, r.String(), x.want)
		}
	}
}
