package model

import (
	"math"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
)

// Distance returns how far a state of the model is from giving an expression the wanted value: 0 if
// it has it, and more the more parts lack it. For comparisons of numbers, the gap counts. Whatever
// depends on inputs counts as 0, because inputs can be chosen. Distances only guide searches, which
// test their results, so a poor distance costs moves but nothing else.
type Distance func(m *Machine) float64

// Distance compiles the distance to a truth value of an expression over the environment's
// variables.
func (p *Program) Distance(e *ir.Expr, want bool) Distance {
	c := &distanceCompiler{compiler: compiler{p: p}, known: map[body]*Distance{}}
	return withoutObservers(c.of(e, want))
}

// Breaking compiles the distance to a breach of a property.
func (p *Program) Breaking(property int) Distance {
	x := p.doc.Properties[property]
	if x.Predicate != nil {
		return p.Distance(x.Predicate, false)
	}
	for i := range p.rules {
		if p.rules[i].property == property {
			return p.breakingRule(i)
		}
	}
	return func(*Machine) float64 { return 1 }
}

// breakingRule compiles the distance to a breach of a temporal rule. For a rule with a condition,
// it is the distance to the condition being false with the relevant variables; for a rule that
// forbids an action, it says whether the action is forbidden yet.
func (p *Program) breakingRule(r int) Distance {
	x := &p.rules[r]
	if x.kind == ir.Before {
		return p.Distance(x.source.Expr, false)
	}
	far := func(*Machine) float64 { return farness(0) }
	if x.condition.Code != nil {
		far = p.Distance(x.condition.Expr, false)
	}
	return func(m *Machine) float64 {
		least := far(m)
		if x.kind == ir.After {
			least = nothing
		}
		env := m.env
		for i := range m.marks {
			k := &m.marks[i]
			if int(k.rule) != r {
				continue
			}
			if k.env != nil {
				m.env = k.env
			}
			least = min(least, far(m))
			m.env = env
		}
		return least
	}
}

// nothing is the distance to a property of an instance if there is none.
const nothing = 2

// farness maps the gap between two numbers to a distance from 0.5 to 1.
func farness(gap float64) float64 { return (gap + 1) / (gap + 2) }

// withoutObservers evaluates a distance with the model's answers for observers.
func withoutObservers(d Distance) Distance {
	return func(m *Machine) float64 {
		m.begin()
		was := m.alone
		m.alone = true
		far := d(m)
		m.alone = was
		return far
	}
}

// distanceCompiler compiles distances.
type distanceCompiler struct {
	compiler
	known map[body]*Distance // distances of bodies of functions and refinements
}

type body struct {
	of   *ir.Expr
	want bool
}

func (c *distanceCompiler) of(e *ir.Expr, want bool) Distance {
	switch e.Op {
	case ir.Not:
		return c.of(e.Args[0], !want)
	case ir.And, ir.Or:
		var list []Distance
		for _, a := range e.Args {
			list = append(list, c.of(a, want))
		}
		return joined(list, (e.Op == ir.And) == want)
	case ir.Implies:
		return joined([]Distance{c.of(e.Args[0], !want), c.of(e.Args[1], want)}, !want)
	case ir.Forall, ir.Exists:
		return c.quantifierDistance(e, want)
	case ir.Eq, ir.Neq, ir.Lt, ir.Lte, ir.Gt, ir.Gte:
		return c.compared(e, want)
	case ir.Is:
		r := c.p.doc.Refinement(e.Text)
		names, params := c.p.tested(e), []local{{"self", c.p.Entity(r.Base)}}
		for _, x := range r.Params {
			params = append(params, local{x.Name, c.p.Entity(x.Entity)})
		}
		return c.bodyDistance(r.Predicate, names, params, c.p.refined[e.Text].size, want)
	case ir.Derived, ir.Observer:
		f := c.p.doc.Function(e.Text)
		if f.Observer {
			f = c.p.doc.Pair(f)
		}
		if f == nil {
			break
		}
		var params []local
		for _, x := range f.Params {
			params = append(params, local{x.Name, c.p.Entity(x.Entity)})
		}
		return c.bodyDistance(f.Body, e.Names, params, c.p.functions[c.p.function(f.Name)].size, want)
	case ir.FieldOf:
		if c.chosen(e) {
			return func(*Machine) float64 { return 0 }
		}
	}
	code := c.expr(e)
	return func(m *Machine) float64 {
		if code(m) == truth(want) {
			return 0
		}
		return 1
	}
}

// joined combines distances: their sum if all must reach 0, else the smallest.
func joined(list []Distance, all bool) Distance {
	if all {
		return func(m *Machine) float64 {
			sum := 0.0
			for _, d := range list {
				sum += d(m)
			}
			return sum
		}
	}
	return func(m *Machine) float64 {
		least := math.Inf(1)
		for _, d := range list {
			least = min(least, d(m))
		}
		return least
	}
}

// quantifierDistance returns the distance of a quantifier: that of the nearest instance, or the sum
// over all.
func (c *distanceCompiler) quantifierDistance(e *ir.Expr, want bool) Distance {
	entity := c.p.Entity(e.Over)
	c.push(e.Var, e.Over)
	at := len(c.local) - 1
	each := c.of(e.Args[0], want)
	c.pop()
	all := (e.Op == ir.Forall) == want
	return func(m *Machine) float64 {
		sum, least := 0.0, float64(nothing)
		for _, i := range m.live[entity] {
			if m.fuel--; m.fuel < 0 {
				break
			}
			m.locals[m.base+at] = i
			far := each(m)
			sum, least = sum+far, min(least, nothing*far/(far+1))
		}
		if all {
			return sum
		}
		return least
	}
}

// compared returns the distance of a comparison.
func (c *distanceCompiler) compared(e *ir.Expr, want bool) Distance {
	if c.chosen(e) {
		return func(*Machine) float64 { return 0 }
	}
	code, left, right := c.expr(e), c.expr(e.Args[0]), c.expr(e.Args[1])
	return func(m *Machine) float64 {
		if code(m) == truth(want) {
			return 0
		}
		if a, b := left(m), right(m); a.Kind == Int && b.Kind == Int {
			return farness(math.Abs(float64(a.N) - float64(b.N)))
		}
		return 1
	}
}

// chosen reports whether an expression depends on inputs.
func (c *distanceCompiler) chosen(e *ir.Expr) bool {
	found := false
	e.Walk(func(x *ir.Expr) {
		found = found || x.Input
	})
	return found
}

// bodyDistance returns the distance of a function's or a refinement's body with arguments.
func (c *distanceCompiler) bodyDistance(inside *ir.Expr, names []string, params []local, size int, want bool) Distance {
	args := c.arguments(names)
	k := body{inside, want}
	if c.known[k] == nil {
		c.known[k] = new(Distance)
		x := &distanceCompiler{compiler: compiler{p: c.p, local: params, most: len(params)}, known: c.known}
		*c.known[k] = x.of(inside, want)
	}
	far, frame := c.known[k], &c.most
	return func(m *Machine) float64 {
		if m.fuel--; m.fuel < 0 {
			return 1
		}
		next := m.base + *frame
		for need := next + size; need > len(m.locals); {
			m.locals = append(m.locals, make([]int32, need)...)
		}
		for i, a := range args {
			x := a(m)
			if x < 0 {
				return nothing
			}
			m.locals[next+i] = x
		}
		was := m.base
		m.base = next
		d := (*far)(m)
		m.base = was
		return d
	}
}
