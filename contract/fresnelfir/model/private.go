package model

import (
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// private returns which variables are read only by the actions that choose them, so that their last
// values do not matter.
func (p *Program) private() []bool {
	list := make([]bool, len(p.vars))
	for _, e := range p.doc.Effects {
		for _, x := range e.Picks {
			if slot := p.Slot(x.Var); slot >= 0 {
				list[slot] = !p.read(x.Var)
			}
		}
	}
	return list
}

// read reports whether anything but the actions that choose a variable reads it.
func (p *Program) read(name string) bool {
	found := false
	look := func(list ...*ir.Expr) {
		for _, e := range list {
			found = found || names(e, name)
		}
	}
	for _, x := range p.doc.Protocols {
		x.Root.Walk(func(n *ir.Node) {
			for _, b := range n.Branches {
				look(b.Guard)
			}
		})
	}
	for _, e := range p.doc.Effects {
		if slices.ContainsFunc(e.Picks, func(x ir.Pick) bool { return x.Var == name }) {
			continue
		}
		look(e.Conds...)
		for _, x := range e.Picks {
			look(x.Where)
		}
		for _, s := range e.Sets {
			look(s.Value)
			found = found || s.Var == name && (e.Creates == nil || e.Creates.Assign != name)
		}
		if b := p.doc.Binding(e.Action); b != nil {
			look(b.Answer)
			for _, x := range b.Args {
				src, _ := p.doc.ArgumentOf(b, x)
				if found = found || src.Var == name; src.Value != nil {
					look(src.Value.Value)
				}
			}
		}
	}
	for _, x := range p.doc.Properties {
		look(x.Predicate)
		for r := x.Rule; r != nil; r = r.Then {
			look(r.Expr)
			found = found || r.Same == name
		}
	}
	for _, g := range p.doc.Generators {
		look(g.Postcondition)
		for _, s := range g.Steps {
			found = found || slices.ContainsFunc(s.With, func(w ir.With) bool { return w.Name == name || w.Bind == name })
		}
	}
	return found
}

// names reports whether an expression reads a variable of the environment.
func names(e *ir.Expr, name string) bool {
	switch {
	case e == nil:
		return false
	case e.Var == name:
		return e.Op == ir.FieldOf || e.Op == ir.Is // for other operators, it is a quantifier's own variable
	case slices.Contains(e.Names, name), slices.ContainsFunc(e.With, func(a ir.Argument) bool { return a.Var == name }):
		return true
	case e.Op == ir.Is: // parameters that are not given have their own names
		return true
	}
	return slices.ContainsFunc(e.Args, func(a *ir.Expr) bool { return names(a, name) })
}
