package ir

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
)

func (c *checker) protocols() {
	protocolNames := names(c.doc.Protocols, func(p *Protocol) string { return p.Name })
	ids := map[string]Place{}
	for _, p := range c.doc.Protocols {
		p.Root.Walk(func(n *Node) {
			switch n.Kind {
			case Alt:
				c.alternatives(n, ids)
			case Repeat:
				if n.Min > n.Max {
					c.fail(n.Place, "invalid-repeat-bounds", "", "min must not be above max, got %d and %d", n.Min, n.Max)
				} else if n.Max == 0 {
					c.doubt(n.Place, "unreachable-branch", "", "repeats its body 0 times: nothing in it is ever reached")
				}
			case Call:
				c.calls(n.Place, n.Action)
			case RefTo:
				c.checkName(n.Place.Within("protocol"), "dangling-protocol-ref", "a protocol", n.Protocol, protocolNames)
			}
		})
	}
	c.endless()
}

// calls checks an action that a protocol or a generator calls.
func (c *checker) calls(by Place, action string) {
	if !c.known[action] {
		c.fail(by.Within("action"), "missing-effect", diag.DidYouMean(action, c.actionNames), "the action %q has no entry in effects", action)
	}
	if !c.bound[action] {
		bound := names(c.doc.Bindings.Actions, func(b *ActionBinding) string { return b.Action })
		c.fail(by.Within("action"), "missing-binding", diag.DidYouMean(action, bound), "the action %q has no entry in bindings.actions", action)
	}
}

func (c *checker) alternatives(n *Node, ids map[string]Place) {
	if len(n.Branches) == 0 {
		c.fail(n.Place, "empty-alt", "", "an alt must have at least one branch")
		return
	}
	total := uint64(0)
	for _, b := range n.Branches {
		total += uint64(b.Weight)
		if first, twice := ids[b.ID]; twice {
			c.doubt(b.Place, "duplicate-branch", "", "the branch id %q is already used at %s: both share what is learned about it", b.ID, first.Path())
		} else {
			ids[b.ID] = b.Place
		}
		c.predicate(b.Guard, scope{vars: c.doc.Vars, inputs: true, loose: true})
	}
	if total == 0 {
		c.fail(n.Place, "all-zero-weights", "", "at least one branch must have a weight above 0")
		return
	}
	for _, b := range n.Branches {
		if v, constant := Constant(b.Guard); b.Weight == 0 {
			c.doubt(b.Place, "unreachable-branch", "", "the branch %q has weight 0 and is never chosen", b.ID)
		} else if constant && !v {
			c.doubt(b.Guard.Place, "unreachable-branch", "", "the guard of branch %q is always false", b.ID)
		}
	}
}

// Constant returns the value of a condition that does not depend on anything.
func Constant(e *Expr) (value, constant bool) {
	if e == nil {
		return true, true
	}
	switch e.Op {
	case LitBool:
		return e.Bool, true
	case Not:
		v, ok := Constant(e.Args[0])
		return !v, ok
	case And, Or:
		stop := e.Op == Or
		all := true
		for _, a := range e.Args {
			v, ok := Constant(a)
			if ok && v == stop {
				return stop, true
			}
			all = all && ok
		}
		return !stop, all
	case Implies:
		v, ok := Constant(e.Args[0])
		if ok && !v {
			return true, true
		}
		w, both := Constant(e.Args[1])
		return w, both && (ok || w)
	case Eq, Neq, Lt, Lte, Gt, Gte:
		a, b := e.Args[0], e.Args[1]
		if a.Op > LitString || b.Op > LitString {
			return false, false
		}
		if e.Op <= Neq {
			same := a.Op == b.Op && a.Bool == b.Bool && a.Int == b.Int && a.Text == b.Text
			return same == (e.Op == Eq), true
		}
		return e.Op.Compares(cmp.Compare(a.Int, b.Int)), true
	}
	return false, false
}

// endless refuses protocols that cannot end because every way through them leads back to them.
// Other recursion is allowed; its depth is bounded at run time.
func (c *checker) endless() {
	ends := map[string]bool{}
	var can func(n *Node) bool
	can = func(n *Node) bool {
		if n == nil {
			return true
		}
		switch n.Kind {
		case Seq:
			return !slices.ContainsFunc(n.Children, func(x *Node) bool { return !can(x) })
		case Alt:
			open := func(b *Branch) bool { return b.Weight > 0 }
			return !slices.ContainsFunc(n.Branches, open) || slices.ContainsFunc(n.Branches, func(b *Branch) bool { return open(b) && can(b.Body) })
		case Repeat:
			return n.Min == 0 || can(n.Body)
		case RefTo:
			return ends[n.Protocol] || c.doc.Protocol(n.Protocol) == nil
		}
		return true
	}
	for range c.doc.Protocols {
		for _, p := range c.doc.Protocols {
			ends[p.Name] = ends[p.Name] || can(p.Root)
		}
	}
	for _, p := range c.doc.Protocols {
		if !ends[p.Name] {
			c.fail(p.Place, "cyclic-ref", "add an alt or a repeat that leaves the cycle", "every path through the protocol %q leads back to itself: it can never end", p.Name)
		}
	}
}

// Roots returns the protocols that traversals begin with: those that no other protocol refers to,
// or all if each is referred to.
func (d *Document) Roots() []*Protocol {
	used := map[string]bool{}
	for _, p := range d.Protocols {
		p.Root.Walk(func(n *Node) {
			if n.Kind == RefTo && n.Protocol != p.Name {
				used[n.Protocol] = true
			}
		})
	}
	roots := seq.Filter(d.Protocols, func(p *Protocol) bool { return !used[p.Name] })
	if len(roots) == 0 {
		return d.Protocols
	}
	return roots
}

// called returns the actions that protocols or generators call.
func (c *checker) called() map[string]bool {
	set := map[string]bool{}
	for _, p := range c.doc.Protocols {
		p.Root.Walk(func(n *Node) {
			if n.Kind == Call {
				set[n.Action] = true
			}
		})
	}
	for _, g := range c.doc.Generators {
		for _, s := range g.Steps {
			set[s.Action] = true
		}
	}
	return set
}

func (c *checker) properties() {
	for _, p := range c.doc.Properties {
		s := scope{vars: c.doc.Vars, loose: true}
		c.predicate(p.Predicate, scope{vars: c.doc.Vars, loose: true, old: true})
		c.rule(p.Rule, s)
	}
}

func (c *checker) rule(r *Rule, s scope) {
	if r == nil {
		return
	}
	t := r.Trigger
	if t.Action != "" {
		c.checkName(t.Place, "unknown-action", "an action", t.Action, c.actionNames)
	}
	for _, e := range []string{t.Writes, t.Reads} {
		if e != "" {
			c.entity(t.Place, e)
		}
	}
	if r.Same != "" && r.Same != "entity" && r.Same != "actor" {
		c.variable(r.Place, r.Same, scope{vars: s.vars})
	}
	c.predicate(r.Expr, s)
	c.rule(r.Then, s)
}

// Matches reports whether a trigger matches an action.
func (t Trigger) Matches(d *Document, action string) bool {
	if t.Action != "" {
		return t.Action == action
	}
	b := d.Binding(action)
	if b == nil {
		return false
	}
	switch {
	case t.Writes != "":
		return slices.Contains(b.Writes, t.Writes)
	case t.Reads != "":
		return slices.Contains(b.Reads, t.Reads)
	case t.Tag == "mutating":
		return b.Mutates
	case t.Tag == "readonly":
		return !b.Mutates
	}
	return b.Idempotent
}

// triggerExists reports whether what a trigger names exists.
func (c *checker) triggerExists(t Trigger) bool {
	switch {
	case t.Action != "":
		return c.known[t.Action]
	case t.Tag != "":
		return slices.Contains(Tags(), t.Tag)
	}
	return c.doc.Entity(t.Writes+t.Reads) != nil
}

// exercised warns about properties that no traversal can test.
func (c *checker) exercised() {
	called := slices.Sorted(maps.Keys(c.called()))
	exist := map[string]bool{c.doc.Actor: true}
	for _, e := range c.doc.Effects {
		if e.Creates != nil && slices.Contains(called, e.Action) {
			exist[e.Creates.Entity] = true
		}
	}
	for _, g := range c.doc.Generators {
		for _, s := range g.Steps {
			for _, w := range s.With {
				exist[w.Generate] = true
			}
		}
	}
	for _, p := range c.doc.Properties {
		if p.Rule != nil {
			for r := p.Rule; r != nil; r = r.Then {
				t := r.Trigger
				if !slices.ContainsFunc(called, func(a string) bool { return t.Matches(c.doc, a) }) && c.triggerExists(t) {
					c.doubt(r.Trigger.Place, "never-exercised", "", "the property %q is never tested: no protocol and no generator calls an action of its trigger", p.Name)
				}
			}
		}
		if e := p.Predicate; e != nil && (e.Op == Forall || e.Op == Exists) && c.doc.Entity(e.Over) != nil && !exist[e.Over] {
			c.doubt(e.Place, "never-exercised", "", "the property %q is never tested: nothing creates %s", p.Name, diag.A(e.Over))
		}
		if v, constant := Constant(p.Predicate); p.Predicate != nil && constant {
			c.doubt(p.Predicate.Place, "constant-property", "", "the property %q is always %t, whatever happens", p.Name, v)
		}
	}
	for _, f := range c.doc.Functions {
		if !f.Observer || c.asked[f] || c.doc.Pair(f) != nil || c.list.HasErrors() {
			continue
		}
		why := "no derived function has its parameters and its type"
		if fit := c.doc.fitting(f); len(fit) > 1 {
			why = "more than one derived function has its parameters and its type: " + fit[0].Name + ", " + fit[1].Name
		}
		c.doubt(f.Place, "never-compared", `name the derived function that computes its answer: "models"`,
			"the observer's answers are never compared (%q): %s, and no expression uses it", f.Name, why)
	}
	if len(called) > 0 && !c.list.HasErrors() && c.comparesNothing() {
		c.doubt(c.doc.Protocols[0].Place, "vacuous", "write properties, or observers with derived functions", "nothing is compared: there is no property, no observer with a derived function, and no binding with answer, rejects or idempotent; only traps, hangs and values beyond the bounds of a field can be found")
	}
	if c.doc.Bindings.Runtime != "system" {
		for _, b := range c.doc.Bindings.Actions {
			if b.Part != "" {
				c.doubt(b.Place, "part", "", "the part %s is for systems: the answer of a module has no parts", b.Part)
			}
		}
	}
	if len(c.doc.Protocols) > 0 && len(called) == 0 {
		c.doubt(c.doc.Protocols[0].Place, "no-actions", "", "no protocol calls an action: there is nothing to explore")
	}
}

// comparesNothing reports whether no answer of a module could be wrong.
func (c *checker) comparesNothing() bool {
	return len(c.doc.Properties) == 0 &&
		!slices.ContainsFunc(c.doc.Functions, func(f *Function) bool { return c.doc.Pair(f) != nil }) &&
		!slices.ContainsFunc(c.doc.Bindings.Actions, func(b *ActionBinding) bool { return b.Answer != nil || b.Rejects != nil || b.Idempotent })
}

// argumentKind is the kind of an argument's source.
type argumentKind uint8

// ArgumentSource is where the value of a binding's argument comes from.
type ArgumentSource struct {
	Kind   argumentKind
	Var    string // of a handle or a field
	Field  string
	Domain string
	With   string // the name in a generator's step
	Value  *Computed
}

// The sources of arguments, in the order of precedence.
const (
	ArgHandle argumentKind = iota // "doc_id" or "doc": the module's handle of an instance
	ArgField                      // "doc_title" or "doc.title": a field of the model
	ArgInput                      // an input domain
	ArgWith                       // a literal from a generator's step
	ArgValue                      // a value computed by the binding
)

// ArgumentOf is Argument for a binding, which may compute values.
func (d *Document) ArgumentOf(b *ActionBinding, name string) (ArgumentSource, bool) {
	x := b.Computed(name)
	switch {
	case x == nil:
		return d.Argument(name)
	case x.Value == nil:
		return d.Argument(x.Is)
	}
	return ArgumentSource{Kind: ArgValue, Value: x}, true
}

// Argument resolves the name of an argument; false if the name has no meaning.
func (d *Document) Argument(name string) (ArgumentSource, bool) {
	for _, v := range []string{strings.TrimSuffix(name, "_id"), name} {
		if _, ok := d.Vars[v]; ok {
			return ArgumentSource{Kind: ArgHandle, Var: v}, true
		}
	}
	if v, field, ok := d.fieldArgument(name); ok {
		return ArgumentSource{Kind: ArgField, Var: v, Field: field}, true
	}
	if d.Domain(name) != nil {
		return ArgumentSource{Kind: ArgInput, Domain: name}, true
	}
	for _, g := range d.Generators {
		for _, s := range g.Steps {
			for _, w := range s.With {
				if w.Name == name && w.Literal != nil {
					return ArgumentSource{Kind: ArgWith, With: name}, true
				}
			}
		}
	}
	for v := range d.Newest {
		if v == strings.TrimSuffix(name, "_id") {
			return ArgumentSource{Kind: ArgHandle, Var: v}, true
		}
	}
	return ArgumentSource{}, false
}

func (d *Document) fieldArgument(name string) (v, field string, ok bool) {
	for i, c := range name {
		if c != '.' && c != '_' {
			continue
		}
		of, known := d.Vars[name[:i]]
		if e := d.Entity(of); known && e != nil && e.Field(name[i+1:]) != nil {
			return name[:i], name[i+1:], true
		}
	}
	return "", "", false
}

// Expressions visits every expression of the document, outermost first.
func (d *Document) Expressions(visit func(*Expr)) {
	for _, r := range d.Refinements {
		r.Predicate.Walk(visit)
	}
	for _, f := range d.Functions {
		f.Body.Walk(visit)
	}
	for _, p := range d.Protocols {
		p.Root.Walk(func(n *Node) {
			for _, b := range n.Branches {
				b.Guard.Walk(visit)
			}
		})
	}
	for _, e := range d.Effects {
		for _, s := range e.Sets {
			s.Value.Walk(visit)
		}
		for _, x := range e.Picks {
			x.Where.Walk(visit)
		}
		for _, x := range e.Conds {
			x.Walk(visit)
		}
	}
	for _, b := range d.Bindings.Actions {
		for _, x := range b.Values {
			x.Value.Walk(visit)
		}
		b.Answer.Walk(visit)
	}
	for _, p := range d.Properties {
		p.Predicate.Walk(visit)
		for r := p.Rule; r != nil; r = r.Then {
			r.Expr.Walk(visit)
		}
	}
	for _, g := range d.Generators {
		g.Postcondition.Walk(visit)
		for _, s := range g.Steps {
			for _, w := range s.With {
				w.Where.Walk(visit)
			}
		}
	}
	for _, c := range d.Inputs.Constraints {
		c.Rule.Walk(visit)
	}
}
