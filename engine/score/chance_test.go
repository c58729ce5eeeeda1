package score

import (
	"math"
	"testing"
)

// The values are sums of exact binomial coefficients.
func TestFisher(t *testing.T) {
	for _, x := range []struct {
		a, na, b, nb int64
		want         float64
	}{
		{18, 20, 14, 20, 0.2351},
		{20, 20, 8, 20, 0.000045095},
		{8, 20, 20, 20, 0.000045095},
		{3, 4, 1, 4, 0.4857},
		{10, 10, 0, 10, 0.0000108251},
		{5, 5, 7, 7, 1},
		{1, 1, 0, 1, 1},
		{500000, 1000000, 500000, 1000000, 1},
		{500000, 1000000, 505000, 1000000, 1.55206e-12},
		{0, 0, 3, 4, 1},
		{5, 4, 3, 4, 1},
		{3, 4, 5, 4, 1},
		{-1, 4, 3, 4, 1},
		{3, 4, -1, 4, 1},
		{3, 4, 0, 0, 1},
	} {
		if got := Fisher(x.a, x.na, x.b, x.nb); math.Abs(got-x.want) > x.want*1e-3 {
			t.Errorf("%d of %d, then %d of %d: %g, want %g", x.a, x.na, x.b, x.nb, got, x.want)
		}
	}
}

// The values are twice the sums of binomial coefficients, over 2 to the sum of both.
func TestMcNemar(t *testing.T) {
	for _, x := range []struct {
		a, b int64
		want float64
	}{{0, 0, 1}, {5, 5, 1}, {5, 0, 0.0625}, {0, 9, 0.00390625}, {2, 10, 0.038574}, {10, 2, 0.038574}, {-1, 3, 1}, {900, 1100, 8.45709e-6}} {
		if got := McNemar(x.a, x.b); math.Abs(got-x.want) > x.want*1e-3 {
			t.Errorf("%d against %d: %g, want %g", x.a, x.b, got, x.want)
		}
	}
}

// Of small tables, all are summed that are no likelier than the one seen.
func TestFisherBySums(t *testing.T) {
	binomial := func(n, k int64) float64 {
		v := 1.0
		for i := range k {
			v = v * float64(n-i) / float64(i+1)
		}
		return v
	}
	for na := range int64(9) {
		for nb := range int64(8) {
			for a := range na + 1 {
				for b := range nb + 1 {
					at := func(k int64) float64 { return binomial(na, k) * binomial(nb, a+b-k) }
					less, all := 0.0, 0.0
					for k := max(0, a+b-nb); k <= min(a+b, na); k++ {
						if all += at(k); at(k) <= at(a)*(1+1e-9) {
							less += at(k)
						}
					}
					if got := Fisher(a, na, b, nb); math.Abs(got-less/all) > 1e-6 {
						t.Fatalf("%d of %d, then %d of %d: %g, want %g", a, na, b, nb, got, less/all)
					}
				}
			}
		}
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("%d: %g, want %g", i, got[i], want)
		}
	}
	if one := Holm([]float64{0.7, 0.9}); one[0] != 1 || one[1] != 1 {
		t.Errorf("never above 1: %v", one)
	}
	if len(Holm(nil)) != 0 {
		t.Error("no test: no value")
	}
}
