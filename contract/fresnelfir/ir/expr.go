package ir

import (
	"slices"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// Op is the operator of an expression.
type Op uint8

// The operators. Those from Add on are an extension. They are allowed only where existing readers
// allow anything: in the values of effects, answers, arguments, and under "full".
const (
	LitBool Op = iota
	LitInt
	LitString
	FieldOf
	Eq
	Neq
	Lt
	Lte
	Gt
	Gte
	And
	Or
	Not
	Implies
	Forall
	Exists
	Derived
	Observer
	Is
	Add
	Sub
	Mul
	Div // towards negative infinity, as in Starlark
	Mod
	Min
	Max
	If     // a condition, and the values for true and false
	Sum    // of a value over all instances
	Count  // of the instances for which a condition holds
	Old    // the value in the state before the action
	Faulty // could not be read and was reported; the operands are those that could
)

// words maps the written form of operators.
var words = map[string]Op{
	"field": FieldOf, "eq": Eq, "neq": Neq, "lt": Lt, "lte": Lte, "gt": Gt, "gte": Gte, "and": And, "or": Or, "not": Not, "implies": Implies,
	"forall": Forall, "exists": Exists, "derived": Derived, "observer": Observer, "is": Is,
}

var arithmetic = map[string]Op{
	"add": Add, "sub": Sub, "mul": Mul, "div": Div, "mod": Mod, "min": Min, "max": Max, "if": If, "sum": Sum, "count": Count, "old": Old,
}

// String returns the written form of the operator; literals have none.
func (o Op) String() string {
	for _, m := range []map[string]Op{words, arithmetic} {
		for w, x := range m {
			if x == o {
				return w
			}
		}
	}
	return "literal"
}

// Compares reports whether a comparison holds for two values in an order given as by [cmp.Compare].
func (o Op) Compares(order int) bool {
	switch {
	case order < 0:
		return o == Lt || o == Lte || o == Neq
	case order > 0:
		return o == Gt || o == Gte || o == Neq
	}
	return o == Lte || o == Gte || o == Eq
}

// Expr is an expression.
type Expr struct {
	Place
	Op    Op
	Bool  bool       // of a literal
	Input bool       // a field that is an input's value; set by Check
	Int   int64      // likewise
	Text  string     // of a literal; the field, function or refinement otherwise
	Var   string     // of a field, quantifier or refinement test
	Over  string     // of a quantifier: the entity
	Args  []*Expr    // of an operator; the body of a quantifier
	Names []string   // of a function call: variables
	With  []Argument // of a refinement test, by parameter name
}

// Argument binds a parameter of a refinement to a variable.
type Argument struct{ Param, Var string }

// MaxDepth is the maximum nesting depth of operators; the root is at depth 0.
const MaxDepth = 64

// expr reads an expression. Parts with faults become Faulty.
func (d *decoder) expr(n *doctree.Node, path string) *Expr {
	p := exprReader{decoder: d}
	return p.read(n, place(n, path), 0)
}

type exprReader struct {
	*decoder
	arithmetic bool // arithmetic is allowed here
}

func (p *exprReader) read(n *doctree.Node, at Place, depth int) *Expr {
	if e := p.fullExpr(n, at, depth); e != nil {
		return e
	}
	return &Expr{Place: at, Op: Faulty}
}

func (p *exprReader) fullExpr(n *doctree.Node, at Place, depth int) *Expr {
	e := p.newExpr()
	e.Place = at
	if depth > MaxDepth {
		p.fail(e.Place, "depth", "expressions may be nested %d deep", MaxDepth)
		return nil
	}
	switch n.Kind {
	case doctree.Bool:
		e.Op, e.Bool = LitBool, n.Bool
		return e
	case doctree.String:
		e.Op, e.Text = LitString, n.Text
		return e
	case doctree.Int:
		v, ok := n.Int64()
		if !ok {
			p.fail(e.Place, "range", "must be a 64-bit integer, got %s", p.Describe(n))
			return nil
		}
		e.Op, e.Int = LitInt, v
		return e
	case doctree.Seq:
		return p.operator(e, n, depth)
	}
	p.fail(e.Place, "expression", "must be an expression (true, false, an integer, a string or an array that starts with an operator), got %s", p.Describe(n))
	return nil
}

func (p *exprReader) operator(e *Expr, n *doctree.Node, depth int) *Expr {
	if len(n.Items()) == 0 {
		p.fail(e.Place, "expression", "an expression array must start with an operator, got an empty array")
		return nil
	}
	word, ok := n.Items()[0].Str()
	if !ok {
		p.fail(e.below(0), "expression", "an expression array must start with an operator, got %s", p.Describe(&n.Items()[0]))
		return nil
	}
	op, known := words[word]
	if !known && p.arithmetic {
		op, known = arithmetic[word]
	}
	if !known {
		hint := diag.DidYouMean(word, operatorNames())
		if _, is := arithmetic[word]; is {
			hint = `arithmetic, sum, count, old and if are for values of effects, answers and full`
		}
		p.failHint(e.below(0), "unknown-operator", hint, "must be an operator, got %q", word)
		return nil
	}
	e.Op = op
	args := n.Items()[1:]
	arity := func(ok bool, want string) bool {
		if !ok {
			p.fail(e.Place, "arity", "%s takes %s, got %d", word, want, len(args))
		}
		return ok
	}
	switch op {
	case FieldOf:
		return p.words(e, args, arity(len(args) == 2, "a variable and a field"), &e.Var, &e.Text)
	case Forall, Exists, Sum, Count:
		if !arity(len(args) == 3, "a variable, an entity and a body") || p.words(e, args[:2], true, &e.Var, &e.Over) == nil {
			return nil
		}
		return p.operands(e, args[2:], 3, depth)
	case Derived, Observer:
		if !arity(len(args) >= 2, "a function and at least one argument") {
			return nil
		}
		e.Names = make([]string, len(args)-1)
		targets := append(make([]*string, 0, 8), &e.Text)
		for i := range e.Names {
			targets = append(targets, &e.Names[i])
		}
		return p.words(e, args, true, targets...)
	case Is:
		if !arity(len(args) == 2 || len(args) == 3, "a variable, a refinement and perhaps its parameters") || p.words(e, args[:2], true, &e.Var, &e.Text) == nil {
			return nil
		}
		if len(args) == 3 {
			return p.parameters(e, &args[2])
		}
		return e
	case Not, Old:
		ok = arity(len(args) == 1, "exactly 1 argument")
	case And, Or:
		ok = arity(len(args) >= 1, "at least 1 argument")
	case If:
		ok = arity(len(args) == 3, "a condition and two values")
	default:
		ok = arity(len(args) == 2, "exactly 2 arguments")
	}
	if !ok {
		e.Op = Faulty
	}
	return p.operands(e, args, 1, depth)
}

func operatorNames() []string {
	var names []string
	for w := range words {
		names = append(names, w)
	}
	slices.Sort(names)
	return names
}

// words reads arguments that must be strings.
func (p *exprReader) words(e *Expr, args []doctree.Node, ok bool, into ...*string) *Expr {
	if !ok {
		return nil
	}
	for i := range args {
		s, isText := args[i].Str()
		if !isText {
			p.fail(e.below(i+1), "type", "must be a name, got %s", p.Describe(&args[i]))
			ok = false
		}
		*into[i] = s
	}
	if !ok {
		return nil
	}
	return e
}

func (p *exprReader) operands(e *Expr, args []doctree.Node, first, depth int) *Expr {
	e.Args = p.newArgs(len(args))
	for i := range args {
		e.Args[i] = p.read(&args[i], e.below(first+i), depth+1)
	}
	return e
}

func (p *exprReader) parameters(e *Expr, n *doctree.Node) *Expr {
	path := doctree.ItemPath(e.Path(), 3)
	before := len(p.List)
	p.named(n, path, func(name string, at Place, v *doctree.Node) {
		s, ok := v.Str()
		if !ok {
			p.fail(place(v, at.Path()), "type", "must be the name of a variable, got %s", p.Describe(v))
		}
		e.With = append(e.With, Argument{name, s})
	})
	if p.List[before:].HasErrors() {
		return nil
	}
	return e
}

// Walk visits an expression and all expressions in it, outermost first.
func (e *Expr) Walk(visit func(*Expr)) {
	if e == nil {
		return
	}
	visit(e)
	for _, a := range e.Args {
		a.Walk(visit)
	}
}
