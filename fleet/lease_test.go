package fleet

import (
	"slices"
	"testing"
)

// A lease names its cases in ranges; they are run from either end, each once.
func TestOrderOfALease(t *testing.T) {
	ranges := [][2]int64{{2, 4}, {7, 8}, {9, 9}, {10, 12}}
	for reverse, want := range map[bool][]int64{false: {2, 3, 7, 10, 11}, true: {11, 10, 7, 3, 2}} {
		g := grant{Ranges: ranges, Reverse: reverse}
		if got := slices.Collect(g.order()); !slices.Equal(got, want) {
			t.Errorf("reverse %t: %v, want %v", reverse, got, want)
		}
		for n := range want { // who stops is given no more
			var some []int64
			for i := range g.order() {
				if some = append(some, i); len(some) > n {
					break
				}
			}
			if !slices.Equal(some, want[:n+1]) {
				t.Errorf("reverse %t, stopped after %d: %v", reverse, n+1, some)
			}
		}
	}
}
