package glibm

import (
	"fmt"
	"math"
	"math/big"
	"sync"
)

// angle is the sine and the cosine of k/128, each as a float64 and the rest.
type angle struct{ sin, sinTail, cos, cosTail float64 }

// angles are enough for what is left after reduction: less than 109.5/128.
var angles = sync.OnceValue(func() *[110]angle {
	stepSin, stepCos := sinCosOfStep()
	table := new([110]angle)
	sin, cos := new(big.Int), one()
	for k := range table {
		a := &table[k]
		a.sin, a.sinTail = split(sin)
		a.cos, a.cosTail = split(cos)
		next := times(sin, stepCos)
		next.Add(next, times(cos, stepSin))
		cos = times(cos, stepCos)
		cos.Sub(cos, times(sin, stepSin))
		sin = next
	}
	// The published table (sincostab.c) was made with somewhat fewer digits: these
	// rests are so many units in the last place off.
	for k, units := range map[int]int64{2: 1, 10: 1, 23: 39, 27: 1, 33: 1, 34: 1, 36: 1, 40: -2, 75: 1, 85: 1, 90: -2, 94: 1, 107: 1} {
		table[k].sinTail = moved(table[k].sinTail, units)
	}
	for k, units := range map[int]int64{26: 1, 44: 1, 70: 1, 75: -2, 79: 1} {
		table[k].cosTail = moved(table[k].cosTail, units)
	}
	return table
})

// moved is x made larger in size by units in the last place.
func moved(x float64, units int64) float64 {
	return math.Float64frombits(math.Float64bits(x) + uint64(units))
}

const (
	halfPiHead = 0x1.921fb54442d18p0
	halfPiTail = 0x1.1a62633145c07p-54

	direct = 0x1.b6p-1      // up to here an angle is taken as it is,
	around = 0x1.368fdp1    // up to here by its distance from pi/2,
	most   = 0x1.921fbp26   // and up to here less a multiple of pi/2
	short  = 0.126          // up to here the series of the sine is enough
	toStep = 0x1.8p52 / 128 // added to a number, leaves its nearest step in the low bits
)

// Sin is the sine of x, which must be less than 105414336 in size.
func Sin(x float64) float64 {
	size := math.Abs(x)
	switch {
	case size < 0x1p-26:
		return x
	case size < direct:
		return sinOf(x, 0)
	case size < around:
		return math.Copysign(cosOf(halfPiHead-size, halfPiTail), x)
	}
	quadrant, a, tail := reduce(x)
	return inQuadrant(quadrant, a, tail)
}

// Cos is the cosine of x, which must be less than 105414336 in size.
func Cos(x float64) float64 {
	size := math.Abs(x)
	switch {
	case size < 0x1p-27:
		return 1
	case size < direct:
		return cosOf(x, 0)
	case size < around:
		y := halfPiHead - size
		a := y + halfPiTail
		return sinOf(a, y-a+halfPiTail)
	}
	quadrant, a, tail := reduce(x)
	return inQuadrant(quadrant+1, a, tail)
}

// reduce takes a multiple of pi/2 off x: what is left, in two parts, and the
// multiple.
func reduce(x float64) (quadrant uint64, a, tail float64) {
	const (
		perQuadrant = 0x1.45f306dc9c883p-1 // 2/pi
		toInteger   = 0x1.8p52

		// pi/2 in four parts
		p1 = 0x1.921fb58p0
		p2 = -0x1.dde973cp-27
		p3 = -0x1.cb3b398p-55
		p4 = -0x1.d747f23e32ed7p-83
	)
	if math.Abs(x) >= most {
		panic(fmt.Sprintf("glibm: sine or cosine of %v: expected less than 105414336 in size", x))
	}
	t := math.FMA(x, perQuadrant, toInteger)
	n := t - toInteger
	y := math.FMA(-n, p2, math.FMA(-n, p1, x))
	b := math.FMA(-n, p3, y)
	tail = math.FMA(-n, p3, y-b)
	a = math.FMA(-n, p4, b)
	tail += math.FMA(-n, p4, b-a)
	return math.Float64bits(t), a, tail
}

// inQuadrant is the sine of a+tail that many quadrants on.
func inQuadrant(quadrant uint64, a, tail float64) float64 {
	var y float64
	if quadrant&1 != 0 {
		y = cosOf(a, tail)
	} else {
		y = sinOf(a, tail)
	}
	if quadrant&2 != 0 {
		return -y
	}
	return y
}

// Coefficients for the distance from a step.
const (
	sn3 = -0x1.5555555555515p-3
	sn5 = 0x1.11110e829872fp-7
	cs2 = 0x1p-1
	cs4 = -0x1.5555555555535p-5
	cs6 = 0x1.6c16bedd9e239p-10
)

// nearestStep is the distance of x >= 0 from the nearest step, and that step.
func nearestStep(x float64) (float64, *angle) {
	t := x + toStep
	return x - (t - toStep), &angles()[math.Float64bits(t)&0xff]
}

// sinOf is the sine of x+tail.
func sinOf(x, tail float64) float64 {
	if math.Abs(x) < short {
		return sinShort(x, tail)
	}
	if x <= 0 {
		tail = -tail
	}
	d, at := nearestStep(math.Abs(x))
	square := float64(d * d)
	cube := float64(d * square)
	s := d + math.FMA(cube, math.FMA(square, sn5, sn3), tail)
	c := float64(square * math.FMA(square, math.FMA(square, cs6, cs4), cs2))
	c = math.FMA(d, tail, c)
	y := math.FMA(s, at.cosTail, at.sinTail)
	y = math.FMA(-c, at.sin, y)
	y = math.FMA(s, at.cos, y)
	return math.Copysign(at.sin+y, x)
}

// sinShort is the sine of x+tail for a small x, by its series.
func sinShort(x, tail float64) float64 {
	const (
		s1 = -0x1.5555555555555p-3
		s2 = 0x1.1111111110ecep-7
		s3 = -0x1.a01a019db08b8p-13
		s4 = 0x1.71de27b9a7ed9p-19
		s5 = -0x1.addffc2fcdf59p-26
	)
	square := float64(x * x)
	p := math.FMA(square, s5, s4)
	p = math.FMA(square, p, s3)
	p = math.FMA(square, p, s2)
	p = math.FMA(square, p, s1)
	half := float64(0.5 * tail)
	return x + math.FMA(square, math.FMA(p, x, -half), tail)
}

// cosOf is the cosine of x+tail.
func cosOf(x, tail float64) float64 {
	if x < 0 {
		tail = -tail
	}
	d, at := nearestStep(math.Abs(x))
	d += tail
	square := float64(d * d)
	cube := float64(d * square)
	s := math.FMA(cube, math.FMA(square, sn5, sn3), d)
	c := float64(square * math.FMA(square, math.FMA(square, cs6, cs4), cs2))
	y := math.FMA(-s, at.sinTail, at.cosTail)
	y = math.FMA(-c, at.cos, y)
	y = math.FMA(-s, at.sin, y)
	return at.cos + y
}
