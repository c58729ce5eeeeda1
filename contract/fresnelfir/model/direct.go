package model

import (
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// Guards mostly compare a field of a variable's instance with a number, and
// every alternative of every step asks several. Such a comparison is one
// function that is called and not four.

// direct compiles a comparison of a variable's field with a number. slow is the
// same compiled otherwise: it is left all that is not two integers, and what
// any other comparison is.
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

// variableField is the place of a variable and of a field of what it stands for,
// if an expression is that.
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
