package model

import (
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Code is a compiled expression. It returns Unset if it has no value; the machine then knows why.
type Code func(m *Machine) Value

// reference is a compiled variable: the instance that it stands for, or None.
type reference func(m *Machine) int32

// compiler compiles expressions of one scope.
type compiler struct {
	p     *Program
	local []local // parameters and quantified variables in scope
	most  int     // the largest number of locals at once
	// action is the action whose effect is compiled; nil: none
	action *Action
	reads  uint64 // columns read so far
}

type local struct {
	name   string
	entity int
}

func (c *compiler) push(name, entity string) {
	c.local = append(c.local, local{name, c.p.Entity(entity)})
	c.most = max(c.most, len(c.local))
}

func (c *compiler) pop() { c.local = c.local[:len(c.local)-1] }

// reference compiles a variable and returns its entity.
func (c *compiler) reference(name string) (reference, int) {
	for i := len(c.local) - 1; i >= 0; i-- {
		if c.local[i].name == name {
			return func(m *Machine) int32 { return m.locals[m.base+i] }, c.local[i].entity
		}
	}
	if slot, ok := c.p.slots[name]; ok {
		c.reads |= variables
		return func(m *Machine) int32 { return m.env[slot] }, c.p.VarEntity(name)
	}
	entity := c.p.newest[name]
	c.reads |= c.p.entities[entity].column(-1)
	return func(m *Machine) int32 {
		list := m.live[entity]
		if len(list) == 0 {
			return None
		}
		return list[len(list)-1]
	}, entity
}

// VarEntity returns the entity of an environment variable; -1 if unknown.
func (p *Program) VarEntity(name string) int {
	if e, ok := p.doc.Vars[name]; ok {
		return p.Entity(e)
	}
	for _, g := range p.doc.Generators {
		for _, s := range g.Steps {
			for _, w := range s.With {
				if (w.Name == name || w.Bind == name) && w.Literal == nil {
					return p.withEntity(g, w)
				}
			}
		}
	}
	return -1
}

// withEntity returns the entity of an instance in a generator's step.
func (p *Program) withEntity(g *ir.Generator, w ir.With) int {
	if w.Generate != "" {
		return p.Entity(w.Generate)
	}
	if e, ok := p.doc.Vars[w.Name]; ok {
		return p.Entity(e)
	}
	for _, s := range g.Steps {
		for _, x := range s.With {
			if x.Bind == w.Bind && (x.Generate != "" || p.doc.Vars[x.Name] != "") {
				return p.withEntity(g, ir.With{Generate: x.Generate, Name: x.Name})
			}
		}
	}
	return -1
}

// literal returns the value of a literal.
func (p *Program) literal(e *ir.Expr) Value {
	switch e.Op {
	case ir.LitBool:
		return truth(e.Bool)
	case ir.LitInt:
		return Number(e.Int)
	}
	return p.symbols.intern(e.Text)
}

// expr compiles an expression.
func (c *compiler) expr(e *ir.Expr) Code {
	switch e.Op {
	case ir.LitBool, ir.LitInt, ir.LitString:
		return constant(c.p.literal(e))
	case ir.FieldOf:
		return c.field(e)
	case ir.Eq:
		return c.direct(e, c.equal(e, true))
	case ir.Neq:
		return c.direct(e, c.equal(e, false))
	case ir.Lt, ir.Lte, ir.Gt, ir.Gte:
		return c.direct(e, c.order(e))
	case ir.And:
		return c.all(e, False)
	case ir.Or:
		return c.all(e, True)
	case ir.Not:
		a := c.expr(e.Args[0])
		return func(m *Machine) Value {
			v := a(m)
			if v.Kind != Bool {
				return m.unfit(v, NotACondition, e)
			}
			return Value{Bool, 1 - v.N}
		}
	case ir.Implies:
		a, b := c.expr(e.Args[0]), c.expr(e.Args[1])
		return func(m *Machine) Value {
			v := a(m)
			if v.Kind != Bool {
				return m.unfit(v, NotACondition, e)
			}
			if v == False {
				return True
			}
			return b(m)
		}
	case ir.Forall, ir.Exists:
		return c.quantifier(e)
	case ir.Is:
		return c.test(e)
	case ir.Derived, ir.Observer:
		return c.invoke(e)
	}
	return c.compileExtended(e)
}

func constant(v Value) Code { return func(*Machine) Value { return v } }

// unfit returns the value of an operation on v: Unset passes through with its cause.
func (m *Machine) unfit(v Value, cause Cause, e *ir.Expr) Value {
	if v.Kind == Unset {
		return v
	}
	return m.failed(cause, e, "")
}

func (c *compiler) field(e *ir.Expr) Code {
	if e.Input {
		d := c.p.Domain(e.Text)
		c.reads |= variables
		return func(m *Machine) Value { return m.inputs[d] }
	}
	ref, entity := c.reference(e.Var)
	x := &c.p.entities[entity]
	field := int32(0)
	for i, f := range x.ir.Fields {
		if f.Name == e.Text {
			field = int32(i)
		}
	}
	c.reads |= x.column(int(field))
	slow := func(m *Machine) Value {
		i := ref(m)
		if i < 0 {
			return m.failed(Unbound, e, e.Var)
		}
		v := m.fields[m.insts[i].base+field]
		if v.Kind == Unset {
			return m.failed(UnsetField, e, "")
		}
		return v
	}
	if len(c.local) == 1 && c.isLocal(e.Var) { // such as the parameter of an observer's derived function
		return func(m *Machine) Value {
			if i := m.locals[m.base]; i >= 0 {
				if v := m.fields[m.insts[i].base+field]; v.Kind != Unset {
					return v
				}
			}
			return slow(m)
		}
	}
	if slot, _, ok := c.variableField(e); ok {
		return func(m *Machine) Value {
			if i := m.env[slot]; i >= 0 {
				if v := m.fields[m.insts[i].base+field]; v.Kind != Unset {
					return v
				}
			}
			return slow(m)
		}
	}
	return slow
}

func (c *compiler) isLocal(name string) bool {
	return slices.ContainsFunc(c.local, func(l local) bool { return l.name == name })
}

func (c *compiler) equal(e *ir.Expr, want bool) Code {
	a := c.expr(e.Args[0])
	if lit := e.Args[1]; lit.Op <= ir.LitString {
		v := c.expr(lit)(nil)
		return func(m *Machine) Value {
			x := a(m)
			if x.Kind == Unset {
				return x
			}
			return truth((x == v) == want)
		}
	}
	b := c.expr(e.Args[1])
	return func(m *Machine) Value {
		x := a(m)
		if x.Kind == Unset {
			return x
		}
		y := b(m)
		if y.Kind == Unset {
			return y
		}
		return truth((x == y) == want)
	}
}

func (c *compiler) order(e *ir.Expr) Code {
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
		switch op {
		case ir.Lt:
			return truth(x.N < y.N)
		case ir.Lte:
			return truth(x.N <= y.N)
		case ir.Gt:
			return truth(x.N > y.N)
		}
		return truth(x.N >= y.N)
	}
}

// all compiles "and" and "or". The first argument that equals stop decides.
func (c *compiler) all(e *ir.Expr, stop Value) Code {
	list := seq.Map(e.Args, c.expr)
	other := truth(stop == False)
	if len(list) == 2 {
		a, b := list[0], list[1]
		return func(m *Machine) Value {
			v := a(m)
			if v.Kind != Bool {
				return m.unfit(v, NotACondition, e)
			}
			if v == stop {
				return stop
			}
			if v = b(m); v.Kind != Bool {
				return m.unfit(v, NotACondition, e)
			}
			return v
		}
	}
	return func(m *Machine) Value {
		for _, a := range list {
			v := a(m)
			if v.Kind != Bool {
				return m.unfit(v, NotACondition, e)
			}
			if v == stop {
				return stop
			}
		}
		return other
	}
}

func (c *compiler) quantifier(e *ir.Expr) Code {
	entity := c.p.Entity(e.Over)
	c.reads |= c.p.entities[entity].column(-1)
	c.push(e.Var, e.Over)
	at := len(c.local) - 1
	body := c.expr(e.Args[0])
	c.pop()
	stop := truth(e.Op == ir.Exists)
	other := Value{Bool, 1 - stop.N}
	return func(m *Machine) Value {
		if len(m.live[entity]) == 0 {
			m.empty = true
		}
		for _, i := range m.live[entity] {
			if m.fuel--; m.fuel < 0 {
				return m.failed(Endless, e, "")
			}
			m.locals[m.base+at] = i
			v := body(m)
			if v.Kind != Bool {
				return m.unfit(v, NotACondition, e)
			}
			if v == stop {
				return stop
			}
		}
		return other
	}
}
