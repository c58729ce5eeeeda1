package model

import (
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// Chosen reports whether the instances bound by all choices of an action satisfy the choices'
// conditions.
func (m *Machine) Chosen(action int) bool {
	for _, x := range m.p.actions[action].picks {
		if m.env[x.slot] == None {
			return false
		}
		if x.where != nil {
			if v, ok := m.Modelled(x.where); !ok || v != True {
				return false
			}
		}
	}
	return true
}

// Touched returns the variables whose instances an action reads or changes, and the variables whose
// instances it changes. all means that it also reads instances that no variable stands for.
func (p *Program) Touched(action int) (slots, written []int, all bool) {
	a := &p.actions[action]
	met := map[string]bool{}
	f := &footprint{p: p, names: map[string]bool{}, met: met}
	for _, s := range a.Effect.Sets {
		f.names[s.Var] = true
		f.expr(s.Value)
		written = append(written, p.Slot(s.Var))
	}
	for _, x := range a.Effect.Picks {
		f.names[x.Var] = true
		f.expr(x.Where)
	}
	for _, x := range a.Effect.Conds {
		f.expr(x)
	}
	if b := a.Binding; b != nil {
		f.expr(b.Answer)
		for _, name := range b.Args {
			if src, ok := p.doc.ArgumentOf(b, name); ok && src.Kind <= ir.ArgField {
				f.names[src.Var] = true
			}
		}
		for _, x := range b.Values {
			f.expr(x.Value)
		}
	}
	if a.assign >= 0 {
		f.names[p.vars[a.assign]] = true
		written = append(written, a.assign)
	}
	for name := range f.names {
		if slot := p.Slot(name); slot >= 0 {
			slots = append(slots, slot)
		} else if p.doc.Newest[name] != "" {
			f.all = true
		}
	}
	slices.Sort(slots)
	return slots, written, f.all
}

// footprint collects what expressions read.
type footprint struct {
	p     *Program
	names map[string]bool
	met   map[string]bool // functions and refinements already visited
	all   bool
}

func (f *footprint) expr(e *ir.Expr) {
	e.Walk(func(x *ir.Expr) {
		switch x.Op {
		case ir.Forall, ir.Exists, ir.Sum, ir.Count:
			f.all = true
		case ir.Observer:
			f.all = true // its derived function may read anything
		case ir.FieldOf:
			if !x.Input {
				f.names[x.Var] = true
			}
		case ir.Is, ir.Derived:
			body := (*ir.Expr)(nil)
			if x.Op == ir.Is {
				for _, name := range f.p.tested(x) {
					f.names[name] = true
				}
				body = f.p.doc.Refinement(x.Text).Predicate
			} else {
				for _, name := range x.Names {
					f.names[name] = true
				}
				body = f.p.doc.Function(x.Text).Body
			}
			if key := x.Text; !f.met[key] {
				f.met[key] = true
				body.Walk(func(y *ir.Expr) {
					switch y.Op {
					case ir.Forall, ir.Exists, ir.Sum, ir.Count, ir.Observer:
						f.all = true
					case ir.Is, ir.Derived:
						f.expr(&ir.Expr{Op: y.Op, Text: y.Text}) // names in the body are its own parameters
					}
				})
			}
		}
	})
}

// Touches adds the variables that a condition reads to slots.
func (p *Program) Touches(e *ir.Expr, slots []int) (_ []int, all bool) {
	f := &footprint{p: p, names: map[string]bool{}, met: map[string]bool{}}
	f.expr(e)
	for name := range f.names {
		if slot := p.Slot(name); slot >= 0 && !slices.Contains(slots, slot) {
			slots = append(slots, slot)
		}
	}
	slices.Sort(slots)
	return slots, f.all
}

// Sees reports whether a derived function reads instances beyond its parameters.
func (p *Program) Sees(fn *ir.Function) bool {
	f := &footprint{p: p, names: map[string]bool{}, met: map[string]bool{}}
	f.expr(&ir.Expr{Op: ir.Derived, Text: fn.Name})
	return f.all
}
