package model

import (
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Actions returns the compiled actions, ordered by name.
func (p *Program) Actions() []Action { return p.actions }

// Action returns the number of an action; -1 if there is none of that name.
func (p *Program) Action(name string) int {
	if i, ok := p.numbers[name]; ok {
		return i
	}
	return -1
}

func (p *Program) compileActions() {
	p.actions, p.numbers = make([]Action, 0, len(p.doc.Effects)), make(map[string]int, len(p.doc.Effects))
	for _, e := range p.doc.Effects {
		a := Action{Name: e.Action, Effect: e, Binding: p.doc.Binding(e.Action), creates: -1, assign: -1, subject: -1}
		c := compiler{p: p, action: &a}
		if e.Creates != nil {
			a.creates, a.assign = p.Entity(e.Creates.Entity), p.Slot(e.Creates.Assign)
		}
		for _, x := range e.Conds {
			a.conds = append(a.conds, c.expr(x))
		}
		for _, x := range e.Picks {
			a.picks = append(a.picks, p.pick(x))
		}
		for _, s := range e.Sets {
			x := set{value: c.expr(s.Value), source: s}
			var entity int
			x.target, entity = c.reference(s.Var)
			declared := p.entities[entity].ir
			x.field = slices.IndexFunc(declared.Fields, func(f *ir.Field) bool { return f.Name == s.Field })
			x.declared = declared.Fields[x.field]
			x.entity, x.enum = declared.Name, x.declared.Type == ir.Enum
			if x.enum {
				for _, v := range x.declared.Values {
					x.allow = append(x.allow, p.symbols.index[v])
				}
			}
			a.sets = append(a.sets, x)
		}
		a.subject, a.steady = p.subject(&a), orderIndependent(e)
		p.numbers[a.Name] = len(p.actions)
		p.actions = append(p.actions, a)
	}
}

// subject returns the variable that an action is about: the instance it creates, else the target of
// its first set, else the first argument of its binding that is an instance. It prefers an instance
// other than the actor.
func (p *Program) subject(a *Action) int {
	if a.assign >= 0 {
		return a.assign
	}
	names := seq.Map(a.Effect.Sets, func(s ir.Set) string { return s.Var })
	if a.Binding != nil {
		for _, arg := range a.Binding.Args {
			if x, ok := p.doc.ArgumentOf(a.Binding, arg); ok && x.Kind <= ir.ArgField {
				names = append(names, x.Var)
			}
		}
	}
	actor := -1
	for _, n := range names {
		slot := p.Slot(n)
		if slot >= 0 && n != "actor" {
			return slot
		}
		actor = max(actor, slot)
	}
	return actor
}

// Assigns returns the variable that the action's new instance is bound to, or -1.
func (a *Action) Assigns() int { return a.assign }

// Excess is a value that an effect assigned to a field although the field's declaration excludes
// it.
type Excess struct {
	Set    *ir.Set
	Entity string
	Why    string // "above its max of 10", "to none of red, green"
}

// Excesses returns the excluded values that the last applied effect assigned. The model continues
// with these values, so they may also break a property.
func (m *Machine) Excesses() []Excess { return m.excesses }

// Apply applies the effect of an action for the acting thread, completely or not at all.
func (m *Machine) Apply(action int) Fault {
	a := &m.p.actions[action]
	start := len(m.undo)
	m.excesses = m.excesses[:0]
	if a.old {
		m.keep(&m.found)
	}
	if a.creates >= 0 {
		m.Bind(a.assign, m.Create(a.creates))
	}
	if !m.carry(a) {
		m.Undo(start)
		return m.fault
	}
	return Fault{}
}

// carry performs the sets of an action, conditional ones only if their conditions hold.
func (m *Machine) carry(a *Action) bool {
	m.held = append(m.held[:0], make([]Value, len(a.conds))...)
sets:
	for k := range a.sets {
		for _, u := range a.sets[k].source.Under {
			if v := &m.held[u.Cond]; v.Kind == Unset {
				var ok bool
				if *v, ok = m.Value(a.conds[u.Cond]); !ok {
					return false
				}
			}
			if m.held[u.Cond] != truth(u.Want) {
				continue sets
			}
		}
		if !m.assign(&a.sets[k]) {
			return false
		}
	}
	return true
}

// Settled reports whether applying the effect of the action that was just applied again would
// change nothing. It ignores the creation of instances.
func (m *Machine) Settled(action int) bool {
	a := &m.p.actions[action]
	if a.creates >= 0 || a.steady {
		return true
	}
	start, dirty, beyond := len(m.undo), m.dirty, len(m.excesses)
	if a.old {
		m.keep(&m.found)
	}
	settled := m.carry(a)
	for i, c := range m.undo[start:] {
		again := slices.ContainsFunc(m.undo[start:start+i], func(x change) bool { return x.at == c.at })
		settled = settled && (again || m.fields[c.at] == c.was)
	}
	m.Undo(start)
	m.dirty, m.excesses = dirty, m.excesses[:beyond]
	return settled
}

// orderIndependent reports whether no value in an effect depends on a field that the effect sets.
func orderIndependent(e *ir.Effect) bool {
	set := seq.SetOf(e.Sets, func(s ir.Set) string { return s.Field })
	clean := len(e.Conds) == 0
	for _, s := range e.Sets {
		s.Value.Walk(func(x *ir.Expr) {
			clean = clean && (x.Op <= ir.LitString || x.Op == ir.FieldOf && !set[x.Text] || x.Op >= ir.Add)
		})
	}
	return clean
}

// assign performs a set. False means that it failed; the machine's fault says why.
func (m *Machine) assign(s *set) bool {
	v, ok := m.Value(s.value)
	if !ok {
		return false
	}
	i := s.target(m)
	if i < 0 {
		m.fault = Fault{Cause: Unbound, Expr: s.source.Value, Detail: s.source.Var}
		return false
	}
	if why := s.excludes(v); why != "" && !s.nearer(m.Get(i, s.field), v) {
		m.excesses = append(m.excesses, Excess{Set: &s.source, Entity: s.entity, Why: why})
	}
	m.Set(i, s.field, v)
	return true
}

// Exceeds reports whether some effect assigns a literal that the field's declaration excludes.
func (p *Program) Exceeds() bool {
	m := p.New(1)
	return slices.ContainsFunc(p.actions, func(a Action) bool {
		return slices.ContainsFunc(a.sets, func(s set) bool {
			return s.source.Value.Op <= ir.LitString && s.excludes(s.value(m)) != ""
		})
	})
}

// Bounded reports whether some effect assigns a computed value to a field whose declaration
// excludes values.
func (p *Program) Bounded() bool {
	return slices.ContainsFunc(p.actions, func(a Action) bool {
		return slices.ContainsFunc(a.sets, func(s set) bool {
			return s.source.Value.Op > ir.LitString && (s.enum || s.declared.Min != nil || s.declared.Max != nil)
		})
	})
}

// nearer reports whether a value is no further beyond a bound than the previous one. Another effect
// was then responsible for exceeding it.
func (s *set) nearer(was, v Value) bool {
	beyond := s.excludes(was)
	return beyond != "" && beyond == s.excludes(v) && (v == was || !s.enum && (v.N < was.N) == (s.declared.Max != nil && was.N > *s.declared.Max))
}

// excludes returns why the field's declaration excludes a value; "" if it does not.
func (s *set) excludes(v Value) string {
	switch d := s.declared; {
	case v.Kind == Int && d.Max != nil && v.N > *d.Max:
		return "above its max of " + strconv.FormatInt(*d.Max, 10)
	case v.Kind == Int && d.Min != nil && v.N < *d.Min:
		return "below its min of " + strconv.FormatInt(*d.Min, 10)
	case s.enum && !slices.Contains(s.allow, v.N):
		return "to none of " + strings.Join(d.Values, ", ")
	}
	return ""
}
