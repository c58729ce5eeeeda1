package model

import (
	"math"
	"math/big"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// Arithmetic is exact or fails: held against integers without bounds, division
// towards negative infinity.
func TestExactArithmetic(t *testing.T) {
	numbers := []int64{0, 1, 2, 3, 7, 10, 1 << 31, 3037000500, 1 << 62, math.MaxInt64 - 1, math.MaxInt64}
	for _, n := range numbers {
		numbers = append(numbers, -n)
	}
	numbers = append(numbers, math.MinInt64)
	floored := func(a, b *big.Int) (q, r *big.Int) {
		q, r = new(big.Int).QuoRem(a, b, new(big.Int))
		if r.Sign() != 0 && r.Sign() != b.Sign() {
			q.Sub(q, big.NewInt(1))
			r.Add(r, b)
		}
		return q, r
	}
	for _, op := range []ir.Op{ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Mod, ir.Min, ir.Max} {
		for _, x := range numbers {
			for _, y := range numbers {
				a, b, want := big.NewInt(x), big.NewInt(y), new(big.Int)
				possible := true
				switch op {
				case ir.Add:
					want.Add(a, b)
				case ir.Sub:
					want.Sub(a, b)
				case ir.Mul:
					want.Mul(a, b)
				case ir.Div, ir.Mod:
					// The one quotient that has no room takes its remainder with it.
					if possible = y != 0 && (x != math.MinInt64 || y != -1); !possible {
						break
					}
					q, r := floored(a, b)
					if want = q; op == ir.Mod {
						want = r
					}
				case ir.Min:
					want.SetInt64(min(x, y))
				case ir.Max:
					want.SetInt64(max(x, y))
				}
				possible = possible && want.IsInt64()
				if got, ok := exact(op, x, y); ok != possible || ok && got != want.Int64() {
					t.Errorf("%v of %d and %d: %d, %t; want %s, %t", op, x, y, got, ok, want, possible)
				}
			}
		}
	}
}
