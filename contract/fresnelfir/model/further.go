package model

import (
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// compileExtended compiles the operators that the published format lacks.
func (c *compiler) compileExtended(e *ir.Expr) Code {
	switch e.Op {
	case ir.If:
		when, a, b := c.expr(e.Args[0]), c.expr(e.Args[1]), c.expr(e.Args[2])
		return func(m *Machine) Value {
			switch v := when(m); v {
			case True:
				return a(m)
			case False:
				return b(m)
			default:
				return m.unfit(v, NotACondition, e)
			}
		}
	case ir.Sum, ir.Count:
		return c.total(e)
	case ir.Old:
		of := c.expr(e.Args[0])
		if c.action != nil {
			c.action.old = true
			return func(m *Machine) Value { return m.evalIn(&m.found, of) }
		}
		return func(m *Machine) Value { return m.evalIn(&m.past, of) }
	}
	return c.arithmetic(e)
}

// total compiles a sum over all instances, or the number of instances for which a condition holds.
func (c *compiler) total(e *ir.Expr) Code {
	entity := c.p.Entity(e.Over)
	c.reads |= c.p.entities[entity].column(-1)
	c.push(e.Var, e.Over)
	at := len(c.local) - 1
	body := c.expr(e.Args[0])
	c.pop()
	return func(m *Machine) Value {
		sum := int64(0)
		for _, i := range m.live[entity] {
			if m.fuel--; m.fuel < 0 {
				return m.failed(Endless, e, "")
			}
			m.locals[m.base+at] = i
			v := body(m)
			switch {
			case e.Op == ir.Count && v.Kind == Bool:
				sum += v.N
			case e.Op == ir.Count:
				return m.unfit(v, NotACondition, e)
			case v.Kind != Int:
				return m.unfit(v, NotAnInteger, e)
			default:
				var ok bool
				if sum, ok = exact(ir.Add, sum, v.N); !ok {
					return m.failed(Overflow, e, "")
				}
			}
		}
		return Number(sum)
	}
}

// past is the state before an action, for expressions that compare two states.
type past struct {
	known  bool
	fields []Value
	live   []int // number of instances, by entity
	view   []Value
}

// keep stores the current state.
func (m *Machine) keep(p *past) {
	p.known, p.fields, p.live = true, append(p.fields[:0], m.fields...), p.live[:0]
	for _, l := range m.live {
		p.live = append(p.live, len(l))
	}
}

// evalIn evaluates code in the state before the action. An instance that the action created has its
// initial fields there. It is not among all instances, but expressions may refer to it.
func (m *Machine) evalIn(p *past, of Code) Value {
	if !p.known {
		return of(m)
	}
	now, live := m.fields, m.live
	n := len(p.fields)
	p.view = append(append(p.view[:0], p.fields...), now[min(n, len(now)):]...)
	m.fields, m.live = p.view, make([][]int32, len(live))
	for e := range live {
		m.live[e] = live[e][:min(p.live[e], len(live[e]))]
	}
	v := of(m)
	m.fields, m.live = now, live
	return v
}

// pick is an instance that an action chooses.
type pick struct {
	slot, entity int
	where        Code // nil: any instance
}

func (p *Program) pick(x ir.Pick) pick {
	k := pick{slot: p.Slot(x.Var), entity: p.Entity(x.Entity)}
	if x.Where != nil {
		k.where = (&compiler{p: p}).expr(x.Where)
	}
	return k
}

// Picks returns how many instances an action chooses.
func (a *Action) Picks() int { return len(a.picks) }

// PickSlot returns the variable of choice k.
func (a *Action) PickSlot(k int) int { return a.picks[k].slot }

// Fits appends to list, for each instance of the entity of choice k in order of creation, 1 if it
// may be chosen and 0 if not. The choices before k must be bound.
func (m *Machine) Fits(action, k int, list []float64) []float64 {
	x := &m.p.actions[action].picks[k]
	was := m.env[x.slot]
	for _, i := range m.live[x.entity] {
		m.env[x.slot] = i
		fit := 1.0
		if x.where != nil {
			if v, ok := m.Modelled(x.where); !ok || v != True {
				fit = 0
			}
		}
		list = append(list, fit)
	}
	m.env[x.slot] = was
	return list
}

// Choices returns the instances of the entity of choice k.
func (m *Machine) Choices(action, k int) []int32 { return m.live[m.p.actions[action].picks[k].entity] }
