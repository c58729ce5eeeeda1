package model

import (
	"math/bits"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// arithmetic compiles an operation on two integers.
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

// exact computes an operation on two integers; false if the result exceeds 64 bits or the divisor
// is 0.
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
		if r != 0 && (r < 0) != (b < 0) { // round towards negative infinity
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

// Guards mostly compare a field of a variable's instance with a number, and every alternative of
// every step evaluates several. Compiling such a comparison to one function instead of four saves
// calls.

// direct compiles a comparison of a variable's field with a number. slow is the same comparison
// compiled in the general way. It handles everything but two integers, and all other comparisons.
func (c *compiler) direct(e *ir.Expr, slow Code) Code {
	slot, field, ok := c.variableField(e.Args[0])
	if !ok || e.Args[1].Op != ir.LitInt {
		return slow
	}
	n := e.Args[1].Int
	less := truth(e.Op == ir.Lt || e.Op == ir.Lte || e.Op == ir.Neq)
	same := truth(e.Op == ir.Eq || e.Op == ir.Lte || e.Op == ir.Gte)
	more := truth(e.Op == ir.Gt || e.Op == ir.Gte || e.Op == ir.Neq)
	return func(m *Machine) Value {
		if i := m.env[slot]; i >= 0 {
			if v := &m.fields[m.insts[i].base+field]; v.Kind == Int {
				switch {
				case v.N < n:
					return less
				case v.N > n:
					return more
				}
				return same
			}
		}
		return slow(m)
	}
}

// variableField returns the slot of a variable and the index of a field of its instance, if an
// expression is that.
func (c *compiler) variableField(e *ir.Expr) (slot int, field int32, ok bool) {
	if e.Op != ir.FieldOf || e.Input || c.isLocal(e.Var) {
		return 0, 0, false
	}
	if slot, ok = c.p.slots[e.Var]; !ok {
		return 0, 0, false
	}
	fields := c.p.entities[c.p.VarEntity(e.Var)].ir.Fields
	at := slices.IndexFunc(fields, func(f *ir.Field) bool { return f.Name == e.Text })
	return slot, int32(at), at >= 0
}
