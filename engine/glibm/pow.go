package glibm

import (
	"math"
	"sync"
)

// Both logarithms add k times log 2 in two parts, of which the first has so few
// bits that its multiples are exact.
const (
	ln2Head = 0x1.62e42fefa3800p-1
	ln2Tail = 0x1.ef35793c76730p-45
	ln2Bits = 43 // binary places of what is added to ln2Head
)

// shortInverse is the inverse of about the middle of a step, of so few bits
// that z*inverse-1 is exact, and its logarithm, negated, in two parts.
type shortInverse struct{ inverse, head, tail float64 }

const firstShortStep = 0x3fe6955500000000 // bits of the float64 at which the steps of powLog begin

var shortInverses = sync.OnceValue(func() *[steps]shortInverse {
	table := new([steps]shortInverse)
	for i := range table {
		at := firstShortStep + uint64(i)<<(exponentBits-stepBits)
		middle := math.Float64frombits(at) + math.Float64frombits(at+1<<(exponentBits-stepBits))
		grain := 128.0
		if middle > 2 {
			grain = 256
		}
		inverse := math.RoundToEven(2/middle*grain) / grain
		head, tail := splitAt(minusLog(inverse), ln2Bits)
		table[i] = shortInverse{inverse, head, tail}
	}
	return table
})

// Pow is x to the power of y, for x not below 0; for others it is NaN.
func Pow(x, y float64) float64 {
	switch {
	case x < 0:
		return math.NaN()
	case x == 0 || x == 1 || y == 0 || x-x != 0 || y-y != 0:
		return math.Pow(x, y) // a matter of definition
	case math.Abs(y) < 0x1p-65:
		return 1
	case math.Abs(y) >= 0x1p63:
		if (x > 1) == (y > 0) {
			return math.Inf(1)
		}
		return 0
	}
	head, tail := powLog(x)
	z := float64(y * head)
	return exp(z, math.FMA(y, tail, math.FMA(y, head, -z)))
}

// powLog is the logarithm of x with some 15 bits more than a float64 has.
func powLog(x float64) (head, tail float64) {
	const (
		a0 = -0x1p-1
		a1 = 0x1.5555555555560p-2 * -2
		a2 = -0x1.0000000000006p-2 * -2
		a3 = 0x1.999999959554ep-3 * 4
		a4 = -0x1.555555529a47ap-3 * 4
		a5 = 0x1.2495b9b4845e9p-3 * -8
		a6 = -0x1.0002b8b263fc3p-3 * -8
	)
	k, i, z := octave(x, firstShortStep)
	t := &shortInverses()[i]
	r := math.FMA(z, t.inverse, -1)
	// k log 2 + log c + r, and what the sums have lost.
	t1 := math.FMA(k, ln2Head, t.head)
	t2 := t1 + r
	lo1 := math.FMA(k, ln2Tail, t.tail)
	lo2 := t1 - t2 + r
	// r*r/2 likewise.
	ar := float64(a0 * r)
	ar2 := float64(r * ar)
	ar3 := float64(r * ar2)
	hi := t2 + ar2
	lo3 := math.FMA(ar, r, -ar2)
	lo4 := t2 - hi + ar2
	p := math.FMA(r, a6, a5)
	p = math.FMA(p, ar2, math.FMA(a4, r, a3))
	p = math.FMA(ar2, p, math.FMA(a2, r, a1))
	lo := math.FMA(ar3, p, lo1+lo2+lo3+lo4)
	head = hi + lo
	return head, hi - head + lo
}

// octave takes x > 0 apart: x = 2**k * z, where z lies in the octave that
// begins at the float64 with the bits first, in its step i.
func octave(x float64, first uint64) (k float64, i int, z float64) {
	bits := math.Float64bits(x)
	if bits < 1<<exponentBits { // subnormal
		bits = math.Float64bits(x*0x1p52) - 52<<exponentBits
	}
	from := bits - first
	k = float64(int64(from) >> exponentBits)
	i = int(from >> (exponentBits - stepBits) % steps)
	return k, i, math.Float64frombits(bits - from&(0xfff<<exponentBits))
}
