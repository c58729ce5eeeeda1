package model

import (
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// property is an invariant or a temporal property.
type property struct {
	name      string
	invariant Condition
	has       bool // has an invariant
	old       bool // compares two states
}

// same says what a rule's scope compares.
type same uint8

const (
	anything same = iota
	sameEntity
	sameActor
	sameVariable
)

// rule is a temporal rule:
//
//	before  trigger -> condition, in the state before
//	never   forbid, within the scope
//	after   trigger -> remember; then a forbidden action or a broken condition
type rule struct {
	property  int
	kind      ir.RuleKind
	trigger   []bool // by action
	condition Condition
	forbid    []bool
	same      same
	slot      int // for sameVariable
	source    *ir.Rule
}

// Property returns the name of a property. Properties are numbered as in the document's list.
func (p *Program) Property(i int) string { return p.properties[i].name }

// Properties returns the number of properties.
func (p *Program) Properties() int { return len(p.properties) }

// Observes reports whether a property uses observers.
func (p *Program) Observes(i int) bool {
	found := false
	see := func(e *ir.Expr) { found = found || e.Op == ir.Observer }
	x := p.doc.Properties[i]
	x.Predicate.Walk(see)
	for r := x.Rule; r != nil; r = r.Then {
		r.Expr.Walk(see)
	}
	return found
}

func (p *Program) compileProperties() {
	for i, x := range p.doc.Properties {
		prop := property{name: x.Name}
		if x.Predicate != nil {
			prop.invariant, prop.has = p.Condition(x.Predicate), true
			x.Predicate.Walk(func(e *ir.Expr) { prop.old = prop.old || e.Op == ir.Old })
			p.old = p.old || prop.old
		}
		p.properties = append(p.properties, prop)
		if x.Rule != nil {
			p.compileRule(i, x.Rule)
		}
	}
	for r := range p.rules {
		x := &p.rules[r]
		for a := range p.actions {
			if x.kind == ir.Before && x.trigger[a] {
				p.actions[a].before = append(p.actions[a].before, r)
			}
			if x.kind != ir.Before && (x.trigger != nil && x.trigger[a] || x.forbid != nil && x.forbid[a]) {
				p.actions[a].after = append(p.actions[a].after, r)
			}
		}
	}
}

func (p *Program) compileRule(property int, x *ir.Rule) {
	r := rule{property: property, kind: x.Kind, source: x}
	never := x
	if x.Kind != ir.Never {
		r.trigger = p.matching(x.Trigger)
		never = x.Then
	}
	if x.Expr != nil {
		r.condition = p.Condition(x.Expr)
	}
	if never != nil {
		r.forbid = p.matching(never.Trigger)
		switch never.Same {
		case "":
		case "entity":
			r.same = sameEntity
		case "actor":
			r.same = sameActor
		default:
			r.same, r.slot = sameVariable, p.Slot(never.Same)
		}
	}
	p.rules = append(p.rules, r)
}

func (p *Program) matching(t ir.Trigger) []bool {
	set := make([]bool, len(p.actions))
	for i := range p.actions {
		set[i] = t.Matches(p.doc, p.actions[i].Name)
	}
	return set
}

// Breach is a property that does not hold.
type Breach struct {
	Property int
	Instance int32 // the instance that a temporal rule is about, or None
	Fault    Fault // why the property could not be evaluated, if that is so
}

// Check checks the invariants that may have changed since the last Check, and appends the broken
// ones to breaches.
func (m *Machine) Check(breaches []Breach) []Breach {
	for i := range m.p.properties {
		x := &m.p.properties[i]
		if !x.has || x.old && !m.past.known || !x.old && x.invariant.reads&m.dirty == 0 && m.Tried[i] > 0 {
			continue
		}
		breaches = m.verdict(breaches, i, None, x.invariant)
	}
	m.dirty = 0
	return breaches
}

// verdict evaluates a property's condition. It does not count as a test if a variable has no
// instance yet, if the condition holds only because there is no instance to check, or if only a
// module could answer.
func (m *Machine) verdict(breaches []Breach, property int, about int32, c Condition) []Breach {
	m.empty = false
	v, ok := m.Value(c.Code)
	if ok && v.Kind == Bool {
		if v == False || !m.empty {
			m.Tried[property]++
		}
		if v == False {
			breaches = append(breaches, Breach{Property: property, Instance: about})
		}
		return breaches
	}
	f := m.fault
	switch {
	case f.Cause == Unbound || f.Cause == Unobservable:
		return breaches
	case ok:
		f = Fault{Cause: NotACondition, Expr: c.Expr}
	}
	m.Tried[property]++
	return append(breaches, Breach{property, about, f})
}

// Against lists the instances that make a false condition false: the first one for each forall that
// it depends on.
func (m *Machine) Against(e *ir.Expr) []int32 {
	return m.against(&compiler{p: m.p}, e, nil)
}

func (m *Machine) against(c *compiler, e *ir.Expr, list []int32) []int32 {
	fails := func(e *ir.Expr) bool {
		v, ok := m.Modelled(c.expr(e))
		return ok && v == False
	}
	switch e.Op {
	case ir.Forall:
		c.push(e.Var, e.Over)
		defer c.pop()
		for _, i := range m.live[c.p.Entity(e.Over)] {
			if m.locals[len(c.local)-1] = i; fails(e.Args[0]) {
				if !slices.Contains(list, i) {
					list = append(list, i)
				}
				return m.against(c, e.Args[0], list)
			}
		}
	case ir.And:
		for _, a := range e.Args {
			if fails(a) {
				return m.against(c, a, list)
			}
		}
	case ir.Or:
		for _, a := range e.Args {
			list = m.against(c, a, list)
		}
	case ir.Implies:
		return m.against(c, e.Args[1], list)
	}
	return list
}

// Before checks what must hold before an action of the acting thread, in the state before it.
func (m *Machine) Before(action int, breaches []Breach) []Breach {
	if m.p.old {
		m.keep(&m.past)
	}
	for _, r := range m.p.actions[action].before {
		x := &m.p.rules[r]
		breaches = m.verdict(breaches, x.property, m.subjectOf(action), x.condition)
	}
	return breaches
}

func (m *Machine) subjectOf(action int) int32 {
	if s := m.p.actions[action].subject; s >= 0 {
		return m.env[s]
	}
	return None
}

// After checks an action that the acting thread has carried out against rules that forbid it,
// checks the conditions that earlier actions require, and remembers the action itself.
func (m *Machine) After(action int, breaches []Breach) []Breach {
	subject := m.subjectOf(action)
	for _, r := range m.p.actions[action].after {
		x := &m.p.rules[r]
		if x.forbid != nil && x.forbid[action] {
			key := m.key(x, subject)
			if x.kind == ir.Never {
				m.Tried[x.property]++
			}
			if x.kind == ir.Never || m.remembers(int32(r), key) {
				breaches = m.forbidden(breaches, x, key, subject)
			}
		}
		if x.trigger != nil && x.trigger[action] {
			m.Tried[x.property]++
			m.remember(int32(r), x, m.key(x, subject))
		}
	}
	for i := range m.marks {
		k := &m.marks[i]
		if k.env == nil {
			continue
		}
		env := m.env
		m.env = k.env
		x := &m.p.rules[k.rule]
		breaches = m.verdict(breaches, x.property, k.key, x.condition)
		m.env = env
	}
	return breaches
}

// forbidden adds a breach. A never rule with a scope applies only to an instance: without one,
// there is nothing to compare.
func (m *Machine) forbidden(breaches []Breach, x *rule, key, subject int32) []Breach {
	if x.same != anything && key == None {
		return breaches
	}
	return append(breaches, Breach{Property: x.property, Instance: subject})
}

func (m *Machine) key(x *rule, subject int32) int32 {
	switch x.same {
	case sameEntity:
		return subject
	case sameActor:
		if s, ok := m.p.slots["actor"]; ok {
			return m.env[s]
		}
		return None
	case sameVariable:
		return m.env[x.slot]
	}
	if x.condition.Code != nil {
		return subject
	}
	return None
}

func (m *Machine) remembers(rule, key int32) bool {
	return slices.ContainsFunc(m.marks, func(k mark) bool { return k.rule == rule && k.key == key })
}

// remember notes that a rule was triggered and, if it has a condition, the current variables.
func (m *Machine) remember(r int32, x *rule, key int32) {
	k := mark{rule: r, key: key}
	if x.condition.Code != nil {
		for i := range m.marks {
			if m.marks[i].rule == r && slices.Equal(m.marks[i].env, m.env) {
				return
			}
		}
		k.env = slices.Clone(m.env)
	} else if m.remembers(r, key) {
		return
	}
	m.marks = append(m.marks, k)
	m.undo = append(m.undo, change{kind: marked})
}
