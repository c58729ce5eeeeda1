package fresnelfir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/engine/walk"
)

// A branch is unreachable if no values that its guard reads make the guard hold: inputs that the
// constraints allow, and fields with the values that anything ever assigns to them. Parts that the
// proof does not analyse (quantifiers, observers, arithmetic, comparisons of two numbers) may be
// true or false, so that whatever it calls unreachable really is.

// settings returns, by entity and field, the literals that a field may hold. A field that is
// missing may hold any value of its type.
func (p *plan) settings() map[[2]string][]*ir.Expr {
	open := map[[2]string]bool{}
	values := map[[2]string][]*ir.Expr{}
	made := map[string]bool{p.doc.Actor: true} // entities that the harness creates instances of
	for _, s := range p.starts {
		for _, x := range s.steps {
			for _, b := range x.binds {
				if b.entity >= 0 {
					made[p.doc.Entities[b.entity].Name] = true
				}
			}
		}
	}
	for _, e := range p.doc.Entities {
		for _, f := range e.Fields {
			k := [2]string{e.Name, f.Name}
			open[k] = made[e.Name] || f.Name == "id"
			if f.Default != nil {
				values[k] = append(values[k], f.Default)
			}
		}
	}
	for _, e := range p.doc.Effects {
		for _, s := range e.Sets {
			for _, k := range p.targets(s.Var, s.Field) {
				if s.Value.Op <= ir.LitString {
					values[k] = append(values[k], s.Value)
				} else {
					open[k] = true
				}
			}
		}
	}
	for k, is := range open {
		if is {
			delete(values, k)
		} else if values[k] == nil {
			values[k] = []*ir.Expr{}
		}
	}
	return values
}

// targets returns the fields that a variable's field may be: a single one if the variable's entity
// is known.
func (p *plan) targets(name, field string) [][2]string {
	var list [][2]string
	of := p.entityOf(name)
	for _, e := range p.doc.Entities {
		if of == "" || e.Name == of {
			list = append(list, [2]string{e.Name, field})
		}
	}
	return list
}

// entityOf returns the entity of an environment variable; "" if unknown.
func (p *plan) entityOf(name string) string {
	if e := p.doc.Newest[name]; e != "" {
		return e
	}
	if name == "actor" {
		return p.doc.Actor
	}
	if i := p.program.VarEntity(name); i >= 0 {
		return p.doc.Entities[i].Name
	}
	return ""
}

// proof is the proof for one guard.
type proof struct {
	p      *plan
	values map[[2]string][]*ir.Expr
	terms  map[string]int // solver variables for terms of the guard
	rows   [][]*ir.Expr   // the values of each variable, in the solver's order
	sizes  []int
	atoms  map[*ir.Expr]int // solver variables for expressions
}

// unreachable returns why a guard never holds; "" if it may.
func (p *plan) unreachable(guard *ir.Expr, values map[[2]string][]*ir.Expr) string {
	x := &proof{p: p, values: values, terms: map[string]int{}, atoms: map[*ir.Expr]int{}}
	for i := range p.space.domains {
		x.sizes, x.rows = append(x.sizes, len(p.space.domains[i].values)), append(x.rows, nil)
	}
	inputs := len(x.sizes)
	if missing := x.read(guard); missing != "" {
		return missing
	}
	row := append(slices.Clone(p.space.first), make([]int, len(x.sizes)-inputs)...) // inputs that are allowed
	for v := inputs; v < len(row); v++ {
		row[v] = x.sizes[v] - 1 // free expressions are true
	}
	if x.eval(guard, row) == solve.True {
		return "" // covers most guards, without the solver
	}
	var vars []int
	for _, v := range x.atoms {
		vars = append(vars, v)
	}
	slices.Sort(vars)
	vars = slices.Compact(vars)
	conds := append(slices.Clip(p.space.conds), solve.Cond{Vars: vars, Eval: func(row []int) solve.Truth { return x.eval(guard, row) }})
	a := solve.New(x.sizes, conds).Solve(solve.Query{Order: vars})
	if a.Status != solve.Unsat {
		return ""
	}
	var by []string
	for _, c := range a.Core {
		if c < len(p.space.names) {
			by = append(by, p.space.names[c])
		}
	}
	switch {
	case len(by) > 0:
		return "its guard is excluded by " + strings.Join(by, ", ")
	case len(x.sizes) > inputs:
		return "no values that the fields can get make its guard hold"
	}
	return "no inputs make its guard hold"
}

// read creates solver variables for what a condition depends on. missing describes something that
// never has a value.
func (x *proof) read(e *ir.Expr) (missing string) {
	switch e.Op {
	case ir.LitBool:
		return ""
	case ir.And, ir.Or, ir.Not, ir.Implies:
		for _, a := range e.Args {
			if why := x.read(a); e.Op == ir.And && missing == "" {
				missing = why
			}
		}
		return missing
	case ir.Eq, ir.Neq, ir.Lt, ir.Lte, ir.Gt, ir.Gte:
		if v, literal := e.Args[0], e.Args[1]; v.Op == ir.FieldOf && literal.Op <= ir.LitString {
			return x.compared(e, v)
		}
	case ir.FieldOf:
		return x.compared(e, e)
	}
	x.free(e)
	return ""
}

// free makes an expression true or false, independently.
func (x *proof) free(e *ir.Expr) {
	x.atoms[e] = len(x.sizes)
	x.sizes, x.rows = append(x.sizes, 2), append(x.rows, nil)
}

// compared reads a comparison of a field with a literal. If the field's values can be listed, they
// become a variable.
func (x *proof) compared(e, v *ir.Expr) (missing string) {
	if v.Input {
		if d := x.p.program.Domain(v.Text); x.p.space.domains[d].whole {
			x.atoms[e] = d
		} else { // the distinguished values are not all values
			x.free(e)
		}
		return ""
	}
	entity := x.p.entityOf(v.Var)
	list, listed := x.values[[2]string{entity, v.Text}]
	if entity == "" || !listed {
		x.free(e)
		return ""
	}
	if len(list) == 0 {
		x.free(e)
		return fmt.Sprintf("nothing ever gives %s.%s a value", v.Var, v.Text)
	}
	name := v.Var + "." + v.Text
	if _, known := x.terms[name]; !known {
		x.terms[name] = len(x.sizes)
		x.sizes, x.rows = append(x.sizes, len(list)), append(x.rows, list)
	}
	x.atoms[e] = x.terms[name]
	return ""
}

// eval evaluates a condition in Kleene's logic.
func (x *proof) eval(e *ir.Expr, row []int) solve.Truth {
	switch e.Op {
	case ir.LitBool:
		return solve.Of(e.Bool)
	case ir.Not:
		return x.eval(e.Args[0], row).Not()
	case ir.Implies:
		return disjunction(x.eval(e.Args[0], row).Not(), x.eval(e.Args[1], row))
	case ir.And, ir.Or:
		all := solve.Of(e.Op == ir.And)
		for _, a := range e.Args {
			if v := x.eval(a, row); e.Op == ir.Or {
				all = disjunction(all, v)
			} else {
				all = disjunction(all.Not(), v.Not()).Not()
			}
		}
		return all
	}
	v := x.atoms[e]
	at := row[v]
	if at == solve.Open {
		return solve.Unknown
	}
	if v < len(x.p.space.domains) || x.rows[v] != nil {
		field, literal := e, &ir.Expr{Op: ir.LitBool, Bool: true}
		if e.Op != ir.FieldOf {
			field, literal = e.Args[0], e.Args[1]
		}
		r := relation{domains: x.p.space.domains, named: map[*ir.Expr]int{field: v}}
		if x.rows[v] != nil {
			field, r.named = x.rows[v][at], nil
		}
		op := e.Op
		if op == ir.FieldOf {
			op = ir.Eq
		}
		return solve.Of(r.eval(&ir.Expr{Op: op, Args: []*ir.Expr{field, literal}}, row).truth)
	}
	return solve.Of(at == 1)
}

func disjunction(a, b solve.Truth) solve.Truth {
	switch {
	case a == solve.True || b == solve.True:
		return solve.True
	case a == solve.False && b == solve.False:
		return solve.False
	}
	return solve.Unknown
}

// prove finds the branches that are never taken and the nodes that nothing leads to.
func (p *plan) prove() {
	values := p.settings()
	for at := range p.nodes {
		for i := range p.nodes[at].branches {
			b := &p.nodes[at].branches[i]
			switch {
			case b.weight == 0:
				b.unreachable = "its weight is 0"
			case !b.open && (p.space.first != nil || len(p.space.domains) == 0): // otherwise no input is allowed at all, which is reported elsewhere
				b.unreachable = p.unreachable(b.guard.Expr, values)
				if _, constant := ir.Constant(b.guard.Expr); b.unreachable != "" && !constant { // constant guards are reported elsewhere
					p.space.faults = append(p.space.faults, fault{at: b.guard.Expr.Place, code: "unreachable-branch", doubt: true,
						message: fmt.Sprintf("the branch %q is never taken: %s", b.id, b.unreachable)})
				}
			}
		}
	}
	reached := make([]bool, len(p.nodes))
	var visit func(at int)
	visit = func(at int) {
		if reached[at] {
			return
		}
		reached[at] = true
		n := &p.grammar.Nodes[at]
		if n.Kind == walk.Refer {
			visit(p.grammar.Rules[n.Rule])
		}
		for i, child := range n.Children {
			if n.Kind == walk.Alt && p.nodes[at].branches[i].unreachable != "" || n.Kind == walk.Repeat && n.Max == 0 {
				continue
			}
			visit(child)
		}
	}
	for _, r := range p.roots {
		visit(p.grammar.Rules[r])
	}
	for at := range p.nodes {
		n := &p.nodes[at]
		if reached[at] {
			continue
		}
		n.unreachable = "only branches that are never taken lead to it"
		for i := range n.branches {
			if n.branches[i].unreachable == "" {
				n.branches[i].unreachable = n.unreachable
			}
		}
	}
}
