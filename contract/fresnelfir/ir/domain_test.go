package ir_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// The integers of a domain have numbers, each its own, the nearest to 0 first.
func TestIntegersOfDomains(t *testing.T) {
	for _, c := range []struct {
		low, high int64
		want      []int64
	}{
		{1, 4, []int64{1, 2, 3, 4}},
		{-4, -1, []int64{-1, -2, -3, -4}},
		{-2, 4, []int64{0, 1, -1, 2, -2, 3, 4}},
		{-4, 2, []int64{0, 1, -1, 2, -2, -3, -4}},
		{0, 0, []int64{0}},
	} {
		for i, want := range c.want {
			if got := ir.Integer(c.low, c.high, uint64(i)); got != want {
				t.Errorf("number %d of %d to %d is %d, want %d", i, c.low, c.high, got, want)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Int64().Draw(t, "low")
		high := rapid.Int64Range(low, math.MaxInt64).Draw(t, "high")
		d := ir.Domain{Type: ir.Int, Min: low, Max: high}
		for _, v := range []int64{low, high, rapid.Int64Range(low, high).Draw(t, "value")} {
			i := d.Number(v)
			if d.Integer(i) != v || i >= d.Size() && d.Size() != math.MaxUint64 {
				t.Fatalf("%d is number %d, which is %d", v, i, d.Integer(i))
			}
		}
	})
}
