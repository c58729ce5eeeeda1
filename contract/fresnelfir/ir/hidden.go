package ir

import (
	"slices"
	"sync"
)

// Hidden returns a function that finds the part of a guard that the system cannot know; "" if there
// is none. That is an input that no call passes, or a field of the actor that no action sets if no
// call says who acts. A system cannot refuse what only such a part forbids.
func (d *Document) Hidden() func(guard *Expr) string {
	told := d.told()
	return func(guard *Expr) string { return told.hides(d, guard, []string{"actor"}) }
}

// hides looks for such a part of an expression and of the refinements and functions that it asks,
// where the actor has these names.
func (t told) hides(d *Document, e *Expr, actor []string) (hidden string) {
	known := func(field string) bool {
		return t.actor || t.fields[field] || t.inputs[field] || t.inputs[d.Actor+"_"+field] || t.inputs["actor_"+field]
	}
	e.Walk(func(x *Expr) {
		switch {
		case hidden != "":
		case x.Op == FieldOf && x.Input:
			if !t.inputs[x.Text] {
				hidden = "input." + x.Text
			}
		case x.Op == FieldOf:
			if slices.Contains(actor, x.Var) && !known(x.Text) {
				hidden = "actor." + x.Text
			}
		default:
			body, names := d.within(x, actor)
			hidden = t.hides(d, body, names)
		}
	})
	return hidden
}

// within returns the body of the refinement or function that an expression asks, and which of its
// parameters are among some variables; nil: it asks none.
func (d *Document) within(x *Expr, vars []string) (body *Expr, names []string) {
	pass := func(param, v string) {
		if slices.Contains(vars, v) {
			names = append(names, param)
		}
	}
	switch x.Op {
	case Is:
		pass("self", x.Var)
		r := d.Refinement(x.Text)
		for _, p := range r.Params {
			v := p.Name
			if i := slices.IndexFunc(x.With, func(a Argument) bool { return a.Param == p.Name }); i >= 0 {
				v = x.With[i].Var
			}
			pass(p.Name, v)
		}
		return r.Predicate, names
	case Derived, Observer:
		f := d.Function(x.Text)
		if f.Observer {
			f = d.Pair(f)
		}
		if f == nil {
			return nil, nil
		}
		for i, p := range f.Params {
			pass(p.Name, x.Names[i])
		}
		return f.Body, names
	}
	return nil, nil
}

// told is what calls tell the system, or change in it.
type told struct {
	actor          bool
	fields, inputs map[string]bool // fields of the actor that actions set
}

func (d *Document) told() told {
	t := told{fields: map[string]bool{}, inputs: map[string]bool{}}
	see := func(e *Expr) {
		e.Walk(func(x *Expr) {
			t.inputs[x.Text] = t.inputs[x.Text] || x.Input
			t.actor = t.actor || x.Var == "actor" || slices.Contains(x.Names, "actor")
		})
	}
	for _, b := range d.Bindings.Actions {
		for _, name := range b.Args {
			x, _ := d.ArgumentOf(b, name)
			t.actor = t.actor || x.Var == "actor"
			if x.Kind == ArgInput {
				t.inputs[x.Domain] = true
			}
			if x.Value != nil {
				see(x.Value.Value)
			}
		}
	}
	for _, e := range d.Effects {
		t.actor = t.actor || e.Creates != nil && e.Creates.Entity == d.Actor
		for _, s := range e.Sets {
			t.fields[s.Field] = t.fields[s.Field] || s.Var == "actor"
			s.Value.Walk(func(x *Expr) { t.inputs[x.Text] = t.inputs[x.Text] || x.Input }) // a call may pass the field
		}
	}
	return t
}

// first returns the action that a node begins with; "" if that is not fixed.
func (n *Node) first() string {
	for n != nil && n.Kind == Seq && len(n.Children) > 0 {
		n = n.Children[0]
	}
	if n == nil {
		return ""
	}
	return n.Action
}

// guards warns about guards that no system can enforce, because Thresh does not try what they
// forbid.
func (c *checker) guards() {
	if c.list.HasErrors() {
		return
	}
	hides := sync.OnceValue(c.doc.Hidden) // most documents have no binding with rejects
	for _, p := range c.doc.Protocols {
		p.Root.Walk(func(n *Node) {
			for _, b := range n.Branches {
				call := c.doc.Binding(b.Body.first())
				if call == nil || call.Rejects == nil {
					continue
				}
				if hidden := hides()(b.Guard); hidden != "" {
					c.doubt(b.Guard.Place, "hidden-guard", "pass it as an argument of a call",
						"the guard of %q depends on %s, which no call passes to the system: Thresh does not try what it forbids", b.ID, hidden)
				}
			}
		})
	}
}
