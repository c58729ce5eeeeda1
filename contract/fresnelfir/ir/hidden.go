package ir

import "slices"

// Hidden returns a function that finds the part of a guard that the system cannot know; "" if there
// is none. That is an input that no call passes, or a field of the actor that no action sets if no
// call says who acts. A system cannot refuse what only such a part forbids.
func (d *Document) Hidden() func(guard *Expr) string {
	told := d.told()
	return func(guard *Expr) (hidden string) {
		if guard == nil {
			return ""
		}
		guard.Walk(func(e *Expr) {
			switch {
			case e.Op != FieldOf || hidden != "":
			case e.Input && !told.inputs[e.Text]:
				hidden = "input." + e.Text
			case e.Var == "actor" && !e.Input && !told.actor && !told.fields[e.Text] &&
				!told.inputs[e.Text] && !told.inputs[d.Actor+"_"+e.Text] && !told.inputs["actor_"+e.Text]:
				hidden = "actor." + e.Text
			}
		})
		return hidden
	}
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
	hides := c.doc.Hidden()
	for _, p := range c.doc.Protocols {
		p.Root.Walk(func(n *Node) {
			for _, b := range n.Branches {
				call := c.doc.Binding(b.Body.first())
				if call == nil || call.Rejects == nil {
					continue
				}
				if hidden := hides(b.Guard); hidden != "" {
					c.doubt(b.Guard.Place, "hidden-guard", "pass it as an argument of a call",
						"the guard of %q depends on %s, which no call passes to the system: Thresh does not try what it forbids", b.ID, hidden)
				}
			}
		})
	}
}
