package model

import (
	"math/bits"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// arithmetic compiles what makes one integer of two.
func (c *compiler) arithmetic(e *ir.Expr) Code {
	a, b := c.expr(e.Args[0]), c.expr(e.Args[1])
	op := e.Op
	return func(m *Machine) Value {
		x := a(m)
		if x.Kind != Int {
			return m.unfit(x, NotAnInteger, e)
		}
		y := b(m)
		if y.Kind != Int {
			return m.unfit(y, NotAnInteger, e)
		}
		n, ok := exact(op, x.N, y.N)
		if !ok {
			return m.failed(Overflow, e, "")
		}
		return Number(n)
	}
}

// exact is what makes one integer of two; false if it exceeds 64 bits or divides by 0.
func exact(op ir.Op, a, b int64) (int64, bool) {
	switch op {
	case ir.Add:
		s := a + b
		return s, (s > a) == (b > 0)
	case ir.Sub:
		d := a - b
		return d, (d < a) == (b > 0)
	case ir.Div, ir.Mod:
		if b == 0 || a == -1<<63 && b == -1 {
			return 0, false
		}
		q, r := a/b, a%b
		if r != 0 && (r < 0) != (b < 0) { // towards negative infinity
			q, r = q-1, r+b
		}
		if op == ir.Mod {
			return r, true
		}
		return q, true
	case ir.Min:
		return min(a, b), true
	case ir.Max:
		return max(a, b), true
	}
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	switch {
	case hi != 0, !negative && lo > 1<<63-1, negative && lo > 1<<63:
		return 0, false
	case negative:
		return -int64(lo), true
	}
	return int64(lo), true
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
