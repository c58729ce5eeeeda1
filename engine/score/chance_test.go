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
	} {
		if got := Fisher(x.a, x.na, x.b, x.nb); math.Abs(got-x.want) > x.want*1e-3 {
			t.Errorf("%d of %d, then %d of %d: %g, want %g", x.a, x.na, x.b, x.nb, got, x.want)
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
