package glibm

import (
	"math"
	"math/big"
	"sync"
)

const (
	steps    = 128 // tables divide an octave into so many steps
	stepBits = 7

	exponentBits = 52 // where the exponent of a float64 begins
)

// power is 2**(i/128): the bits of the nearest float64, less the i/128 that
// are added to the exponent with k, and how much of it that float64 lacks.
type power struct {
	tail  float64
	scale uint64
}

var powers = sync.OnceValue(func() *[steps]power {
	step := new(big.Int).Lsh(big.NewInt(1), places+1)
	for range stepBits {
		step.Sqrt(step.Lsh(step, places))
	}
	table := new([steps]power)
	v := one()
	for i := range table {
		head, _ := split(v)
		rest := new(big.Int).Sub(v, fixed(head))
		rest.Quo(rest.Lsh(rest, places), fixed(head))
		table[i] = power{nearest(rest), math.Float64bits(head) - uint64(i)<<(exponentBits-stepBits)}
		v = times(v, step)
	}
	return table
})

// Exp is e to the power of x.
func Exp(x float64) float64 {
	if math.IsNaN(x) {
		return x
	}
	return exp(x, 0)
}

// exp is e to the power of x+tail, where tail is less than a step.
func exp(x, tail float64) float64 {
	const (
		stepsPerUnit = 0x1.71547652b82fep0 * steps // 128 / log 2
		stepHead     = -0x1.62e42fefa0000p-8       // minus a step, in two parts
		stepTail     = -0x1.cf79abc9e3b3ap-47
		toInteger    = 0x1.8p52 // added to a number, leaves it as an integer in the low bits

		c2 = 0x1.ffffffffffdbdp-2
		c3 = 0x1.555555555543cp-3
		c4 = 0x1.55555cf172b91p-5
		c5 = 0x1.1111167a4d017p-7
	)
	size := math.Abs(x)
	switch {
	case size < 0x1p-54:
		return 1 + x
	case size < 1024:
	case x < 0:
		return 0
	default:
		return math.Inf(1)
	}
	// x = k/128 * log 2 + r
	shifted := math.FMA(x, stepsPerUnit, toInteger)
	k := math.Float64bits(shifted)
	kd := shifted - toInteger
	r := math.FMA(kd, stepTail, math.FMA(kd, stepHead, x)) + tail
	p := &powers()[k%steps]
	scale := p.scale + k<<(exponentBits-stepBits)
	square := float64(r * r)
	fourth := float64(square * square)
	y := math.FMA(math.FMA(r, c3, c2), square, p.tail+r)
	y = math.FMA(fourth, math.FMA(r, c5, c4), y)
	if size >= 512 {
		return scaled(scale, y, int32(k) < 0)
	}
	s := math.Float64frombits(scale)
	return math.FMA(s, y, s)
}

// scaled is scale*(1+y) where the scale may be too large or too small for a
// float64, so that its exponent has run into the sign.
func scaled(scale uint64, y float64, small bool) float64 {
	if !small {
		s := math.Float64frombits(scale - 1009<<exponentBits)
		return 0x1p1009 * math.FMA(s, y, s)
	}
	s := math.Float64frombits(scale + 1022<<exponentBits)
	more := float64(s * y)
	z := s + more
	if z < 1 { // the result is subnormal: round once, where its last bit is
		lo := s - z + more
		hi := 1 + z
		lo = 1 - hi + z + lo
		z = hi + lo - 1
	}
	return 0x1p-1022 * z
}
