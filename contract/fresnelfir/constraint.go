package fresnelfir

import (
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/solve"
)

// answer is what is known about an expression over inputs of which some have no value yet.
type answer struct {
	known bool
	op    ir.Op // LitBool, LitInt or LitString
	truth bool
	n     int64
	text  string
}

func (a answer) equal(b answer) bool {
	return a.op == b.op && a.truth == b.truth && a.n == b.n && a.text == b.text
}

// constraint converts a rule over input domains into a condition of the solver. A string that names
// a domain stands for the input's value, unless it is also one of the values it is compared with.
func constraint(domains []domain, rule *ir.Expr) solve.Cond {
	var vars []int
	named := map[*ir.Expr]int{}
	at := func(name string) int {
		return slices.IndexFunc(domains, func(d domain) bool { return d.source.Name == name })
	}
	var visit func(e *ir.Expr, beside []string)
	visit = func(e *ir.Expr, beside []string) {
		d := -1
		switch {
		case e.Op == ir.FieldOf:
			d = at(e.Text)
		case e.Op == ir.LitString && !slices.Contains(beside, e.Text):
			d = at(e.Text)
		}
		if d >= 0 {
			named[e], vars = d, append(vars, d)
		}
		for i, a := range e.Args {
			var other []string
			if i == 1 && e.Op <= ir.Gte {
				if k, ok := named[e.Args[0]]; ok {
					other = domains[k].source.Values
				}
			}
			visit(a, other)
		}
	}
	visit(rule, nil)
	slices.Sort(vars)
	vars = slices.Compact(vars)
	r := relation{domains: domains, named: named}
	return solve.Cond{Vars: vars, Eval: func(row []int) solve.Truth {
		a := r.eval(rule, row)
		if !a.known {
			return solve.Unknown
		}
		return solve.Of(a.truth)
	}}
}

// relation evaluates rules in Kleene's logic: an unknown operand matters only if the other operands
// do not decide.
type relation struct {
	domains []domain
	named   map[*ir.Expr]int
}

func boolAnswer(b bool) answer { return answer{known: true, op: ir.LitBool, truth: b} }

func (r relation) eval(e *ir.Expr, row []int) answer {
	if d, ok := r.named[e]; ok {
		if row[d] == solve.Open {
			return answer{}
		}
		return r.value(d, row[d])
	}
	switch e.Op {
	case ir.LitBool, ir.LitInt, ir.LitString:
		return answer{true, e.Op, e.Bool, e.Int, e.Text}
	case ir.Not:
		a := r.eval(e.Args[0], row)
		a.truth = !a.truth
		return a
	case ir.And, ir.Or:
		return r.all(e.Args, row, e.Op == ir.Or)
	case ir.Implies:
		a, b := r.eval(e.Args[0], row), r.eval(e.Args[1], row)
		switch {
		case a.known && !a.truth || b.known && b.truth:
			return boolAnswer(true)
		case a.known && b.known:
			return boolAnswer(false)
		}
		return answer{}
	}
	a, b := r.eval(e.Args[0], row), r.eval(e.Args[1], row)
	if !a.known || !b.known {
		return answer{}
	}
	if e.Op <= ir.Neq {
		return boolAnswer(a.equal(b) == (e.Op == ir.Eq))
	}
	return boolAnswer(e.Op.Compares(cmp.Compare(a.n, b.n)))
}

func (r relation) all(args []*ir.Expr, row []int, stop bool) answer {
	open := false
	for _, x := range args {
		a := r.eval(x, row)
		if a.known && a.truth == stop {
			return boolAnswer(stop)
		}
		open = open || !a.known
	}
	if open {
		return answer{}
	}
	return boolAnswer(!stop)
}

func (r relation) value(d, place int) answer {
	x := r.domains[d].source
	at := r.domains[d].values[place]
	switch x.Type {
	case ir.Bool:
		return boolAnswer(at == 1)
	case ir.Enum, ir.String:
		return answer{known: true, op: ir.LitString, text: x.Values[at]}
	}
	return answer{known: true, op: ir.LitInt, n: x.Integer(at)}
}
