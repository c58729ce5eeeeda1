package pyrand

import "math"

// Elementary functions from additions and products alone. Those of package math
// differ in their last bits between processors, and equal runs must be equal
// everywhere. The errors are some units in the last place, like those of C
// libraries.

// ln2 has two parts, the first with zeros at its end, so that small multiples are
// exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// A right angle, in two parts likewise.
const (
	rightHigh = 1.57079632673412561417e+00
	rightLow  = 6.07710050650619224932e-11
)

// factors are the inverse factorials, from 1/0! on.
var factors = func() (list [20]float64) {
	list[0] = 1
	for i := 1; i < len(list); i++ {
		list[i] = list[i-1] / float64(i)
	}
	return list
}()

func exp(x float64) float64 {
	if x > 710 || x < -746 || x != x {
		return math.Exp(x) // too large, 0, or NaN
	}
	k := math.Round(x / math.Ln2)
	x = x - float64(k*ln2High) - float64(k*ln2Low)
	sum := 0.0
	for i := len(factors) - 1; i >= 0; i-- {
		sum = float64(sum*x) + factors[i]
	}
	return math.Ldexp(sum, int(k))
}

func log(x float64) float64 {
	if x <= 0 || x > math.MaxFloat64 || x != x {
		return math.Log(x) // infinite, or NaN
	}
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	s := (m - 1) / (m + 1)
	square, sum := s*s, 0.0
	for i := 23; i > 1; i -= 2 {
		sum = float64((sum + 1/float64(i)) * square)
	}
	return float64(float64(k)*ln2High) + (float64(2*s) + (float64(2*s*sum) + float64(float64(k)*ln2Low)))
}

func pow(x, y float64) float64 { return exp(float64(y * log(x))) }

// sincos is for angles of a few turns.
func sincos(x float64) (sin, cos float64) {
	k := math.Round(x / (math.Pi / 2))
	x = x - float64(k*rightHigh) - float64(k*rightLow)
	square := -x * x
	for i := len(factors) - 1; i > 0; i -= 2 {
		sin = float64(sin*square) + factors[i]
		cos = float64(cos*square) + factors[i-1]
	}
	sin = float64(sin * x)
	switch int(k) & 3 {
	case 1:
		return cos, -sin
	case 2:
		return -sin, -cos
	case 3:
		return -cos, sin
	}
	return sin, cos
}
