package glibm

import "math/big"

// Tables are computed with numbers of this many binary places, which are
// integers: v stands for v / 2**places.
const places = 192

func one() *big.Int { return new(big.Int).Lsh(big.NewInt(1), places) }

func times(a, b *big.Int) *big.Int {
	p := new(big.Int).Mul(a, b)
	return p.Rsh(p, places)
}

// nearest is the float64 nearest to v.
func nearest(v *big.Int) float64 {
	f := new(big.Float).SetInt(v)
	x, _ := f.SetMantExp(f, -places).Float64()
	return x
}

// fixed is x, which must have no more than so many binary places.
func fixed(x float64) *big.Int {
	f := new(big.Float).SetFloat64(x)
	v, _ := f.SetMantExp(f, places).Int(nil)
	return v
}

// split is the float64 nearest to v and the one nearest to the rest.
func split(v *big.Int) (head, tail float64) {
	head = nearest(v)
	return head, nearest(new(big.Int).Sub(v, fixed(head)))
}

// splitAt is v rounded to a number of binary places, and the float64 nearest to
// the rest.
func splitAt(v *big.Int, bits uint) (head, tail float64) {
	r := new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), places-bits-1))
	r.Lsh(r.Rsh(r, places-bits), places-bits)
	return nearest(r), nearest(new(big.Int).Sub(v, r))
}

// minusLog is the logarithm of 1/x, for x near 1: twice the inverse hyperbolic
// tangent of (1-x)/(1+x).
func minusLog(x float64) *big.Int {
	v, unit := fixed(x), one()
	t := new(big.Int).Sub(unit, v)
	t.Quo(t.Lsh(t, places), v.Add(v, unit))
	square, sum := times(t, t), new(big.Int)
	for n := int64(1); t.BitLen() > 1; n += 2 {
		sum.Add(sum, new(big.Int).Quo(t, big.NewInt(n)))
		t = times(t, square)
	}
	return sum.Lsh(sum, 1)
}

// sinCosOfStep is the sine and cosine of 1/128, by their series.
func sinCosOfStep() (sin, cos *big.Int) {
	sin, cos = new(big.Int), new(big.Int)
	term := one()
	for n := int64(0); term.Sign() != 0; {
		cos.Add(cos, term)
		n++
		term.Quo(term.Rsh(term, 7), big.NewInt(n))
		sin.Add(sin, term)
		n++
		term.Quo(term.Rsh(term, 7), big.NewInt(-n)) // signs change every two terms
	}
	return sin, cos
}
