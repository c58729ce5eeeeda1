package model

import (
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// call compiles a call of a function.
func (c *compiler) call(e *ir.Expr, fn *function, args []reference, names []string) Code {
	return func(m *Machine) Value {
		if m.fuel--; m.fuel < 0 {
			return m.failed(Endless, e, "")
		}
		next := m.base + c.most
		for need := next + fn.size; need > len(m.locals); {
			m.locals = append(m.locals, make([]int32, need)...)
		}
		for k, a := range args {
			i := a(m)
			if i < 0 {
				return m.failed(Unbound, e, names[k])
			}
			m.locals[next+k] = i
		}
		was := m.base
		m.base = next
		v := fn.body(m)
		m.base = was
		return v
	}
}

func (c *compiler) arguments(names []string) []reference {
	list := make([]reference, len(names))
	for i, n := range names {
		list[i], _ = c.reference(n)
	}
	return list
}

// tested returns the variables that a test of a refinement is about: the tested one and the
// refinement's parameters.
func (p *Program) tested(e *ir.Expr) []string {
	names := []string{e.Var}
	for _, x := range p.doc.Refinement(e.Text).Params {
		name := x.Name
		for _, a := range e.With {
			if a.Param == x.Name {
				name = a.Var
			}
		}
		names = append(names, name)
	}
	return names
}

func (c *compiler) test(e *ir.Expr) Code {
	fn, names := c.p.refined[e.Text], c.p.tested(e)
	c.reads |= fn.reads
	return c.call(e, fn, c.arguments(names), names)
}

func (c *compiler) invoke(e *ir.Expr) Code {
	fn := &c.p.functions[c.p.function(e.Text)]
	args := c.arguments(e.Names)
	c.reads |= fn.reads
	if e.Op == ir.Derived {
		return c.call(e, fn, args, e.Names)
	}
	c.reads = ^uint64(0)
	var model Code
	if fn.pair != nil {
		model = c.call(e, fn.pair, args, e.Names)
	}
	most := c.most
	alone := func(m *Machine) Value {
		if model == nil {
			return m.failed(Unobservable, e, fn.name)
		}
		return model(m)
	}
	return func(m *Machine) Value {
		if m.observer == nil || m.alone {
			return alone(m)
		}
		next := m.base + most
		for need := next + len(args); need > len(m.locals); {
			m.locals = append(m.locals, make([]int32, need)...)
		}
		for k, a := range args {
			i := a(m)
			if i < 0 {
				return m.failed(Unbound, e, e.Names[k])
			}
			m.locals[next+k] = i
		}
		if !m.observer.Knows(m.locals[next : next+len(args)]...) {
			return alone(m)
		}
		v, err := m.observer.Observe(fn.index, m.locals[next:next+len(args)])
		if err != nil {
			m.failed(Unanswered, e, fn.name)
			return Value{}
		}
		return v
	}
}

// Call compiles a call of a derived function with the instances passed to [Machine.EvalWith].
func (p *Program) Call(name string) Code {
	return p.functions[p.function(name)].body
}

// Refined compiles a refinement, for [Machine.Is].
func (p *Program) Refined(name string) Code { return p.refined[name].body }

// Is reports whether an instance belongs to a refinement without parameters.
func (m *Machine) Is(refined Code, i int32) bool {
	m.locals[0] = i
	v, ok := m.Modelled(refined)
	return ok && v == True
}

// ValueWith evaluates the code of [Program.Call] with arguments, as Value does.
func (m *Machine) ValueWith(c Code, args []int32) (Value, bool) {
	for need := 2*len(args) + 64; need > len(m.locals); {
		m.locals = append(m.locals, make([]int32, need)...)
	}
	copy(m.locals, args)
	return m.Value(c)
}
