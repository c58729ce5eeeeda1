package lang

import (
	"maps"
	"slices"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// scope says what names mean in an expression.
type scope struct {
	vars     map[string]string  // variables, with their entities; "": unknown
	others   map[string]string  // variables of all actions, after vars in precedence; shared
	rename   map[string]string  // in an action: names in the IR
	values   map[string]*local  // in an action: names of values
	wrote    map[string]int     // in an action: how often each field was assigned so far
	calling  bool               // in the arguments of call, which are evaluated before all assignments
	bound    map[string]bool    // parameters of the surrounding lambdas
	elements map[string]element // variables for elements of a collection
	inputs   bool               // in a rule over inputs, where names are inputs
}

func (s scope) withVariable(name, entity string) scope {
	vars := map[string]string{name: entity}
	for k, v := range s.vars {
		if k != name {
			vars[k] = v
		}
	}
	s.vars = vars
	s.bound = maps.Clone(s.bound)
	if s.bound == nil {
		s.bound = map[string]bool{}
	}
	s.bound[name] = true
	if s.values[name] != nil {
		s.values = maps.Clone(s.values)
		delete(s.values, name)
	}
	return s
}

// variable returns the entity of a variable; "" if unknown.
func (s scope) variable(name string) (entity string, ok bool) {
	if entity, ok = s.vars[name]; !ok {
		entity, ok = s.others[name]
	}
	return entity, ok
}

// name returns a variable's name in the IR.
func (s scope) name(name string) string {
	if n, ok := s.rename[name]; ok {
		return n
	}
	return name
}

var compared = map[syntax.Token]string{
	syntax.EQL: "eq", syntax.NEQ: "neq", syntax.LT: "lt", syntax.LE: "lte", syntax.GT: "gt", syntax.GE: "gte",
}

// computed maps tokens to arithmetic operators of the IR. They are all extensions, listed in
// further.
var computed = map[syntax.Token]string{
	syntax.PLUS: "add", syntax.MINUS: "sub", syntax.STAR: "mul", syntax.SLASHSLASH: "div", syntax.PERCENT: "mod",
}

// further lists the operators that the published format lacks.
var further = []string{"add", "sub", "mul", "div", "mod", "min", "max", "if", "sum", "count", "old"}

// builtins lists the functions of expressions.
var builtins = []string{"forall", "exists", "sum", "count", "old", "implies", "min", "max", "len"}

// expr translates an expression.
func (c *compiler) expr(e syntax.Expr, s scope) node {
	at := c.position(e)
	before := len(c.list)
	if p := c.place(e, s); p != nil {
		return c.read(p, at)
	} else if len(c.list) > before {
		return truth(at, true)
	}
	switch x := e.(type) {
	case *syntax.ParenExpr:
		return c.expr(x.X, s)
	case *syntax.Literal:
		n := c.literal(x)
		if n.Kind == doctree.Float {
			c.fail(e, "type", "", "must be an integer, got %s: models have no fractions", n.Text)
		}
		return n
	case *syntax.Ident:
		return c.named(x, s)
	case *syntax.DotExpr:
		return c.field(x.X, x.Name.Name, at, s)
	case *syntax.IndexExpr:
		if key := c.literal(x.Y); key.Kind == doctree.String {
			return c.field(x.X, key.Text, at, s)
		}
	case *syntax.UnaryExpr:
		switch x.Op {
		case syntax.NOT:
			return op(at, "not", c.expr(x.X, s))
		case syntax.MINUS:
			if v := c.literalOrNone(x.X); v.Kind == doctree.Int {
				return number(at, "-"+v.Text)
			}
			return c.markExtended(op(at, "sub", integer(at, 0), c.expr(x.X, s)))
		}
	case *syntax.BinaryExpr:
		return c.binary(x, s)
	case *syntax.CondExpr:
		return c.markExtended(op(at, "if", c.expr(x.Cond, s), c.expr(x.True, s), c.expr(x.False, s)))
	case *syntax.CallExpr:
		return c.call(x, s)
	case *syntax.ListExpr: // an expression of the IR
		n := c.literal(x)
		if len(n.Items()) > 0 && slices.Contains(further, n.Items()[0].Text) {
			return c.markExtended(n)
		}
		return n
	}
	c.failUnlessVague(e, "expression", "", "cannot be used in a model's expression")
	return truth(at, true)
}

// markExtended notes that an expression needs an extension of the published format.
func (c *compiler) markExtended(n node) node {
	c.beyond = true
	return n
}

func (c *compiler) named(x *syntax.Ident, s scope) node {
	at := c.position(x)
	switch x.Name {
	case "True", "False":
		return c.literal(x)
	}
	if v, ok := s.elements[x.Name]; ok {
		return v.is
	}
	if v, ok := s.values[x.Name]; ok {
		return c.local(x, v, s)
	}
	if _, ok := s.variable(x.Name); ok {
		return c.instance(x.Name, at, s)
	}
	if _, ok := c.decls[declInput][x.Name]; ok {
		if s.inputs {
			return text(at, x.Name)
		}
		return op(at, "field", text(at, "input"), text(at, x.Name))
	}
	if c.broken(x.Name, at) {
		return truth(at, true)
	}
	c.fail(x, "unbound-variable", c.nearVariable(x.Name, s), "%q is neither an input nor a variable here; put texts in quotes", x.Name)
	return truth(at, true)
}

func (c *compiler) field(of syntax.Expr, name string, at doctree.Pos, s scope) node {
	x, ok := of.(*syntax.Ident)
	if !ok {
		c.fail(of, "expression", "", "must be a variable: only VARIABLE.FIELD can be read")
		return truth(at, true)
	}
	return op(at, "field", text(at, s.name(x.Name)), text(c.position(of), name))
}

func (c *compiler) binary(x *syntax.BinaryExpr, s scope) node {
	at := c.position(x)
	if x.Op == syntax.EQL || x.Op == syntax.NEQ {
		before := len(c.list)
		if a, b := c.place(x.X, s), c.place(x.Y, s); a != nil && b != nil && a.shape != nil && b.shape != nil && a.word != "" {
			n := c.equal(a, b, at)
			if x.Op == syntax.NEQ {
				return op(at, "not", n)
			}
			return n
		}
		c.list = c.list[:before] // reported again below
	}
	if word, ok := compared[x.Op]; ok {
		return op(at, word, c.expr(x.X, s), c.expr(x.Y, s))
	}
	if word, ok := computed[x.Op]; ok {
		return c.markExtended(op(at, word, c.expr(x.X, s), c.expr(x.Y, s)))
	}
	switch x.Op {
	case syntax.AND, syntax.OR:
		word := x.Op.String()
		left := c.expr(x.X, s)
		if y, ok := x.X.(*syntax.BinaryExpr); ok && y.Op == x.Op { // a and b and c
			left.Add(c.expr(x.Y, s))
			return left
		}
		return op(at, word, left, c.expr(x.Y, s))
	case syntax.IN, syntax.NOT_IN:
		if p := c.place(x.Y, s); p != nil && p.shape != nil && slices.Contains([]string{"list", "map", "set"}, p.word) {
			n := c.contains(p, x.X, at, s)
			if x.Op == syntax.NOT_IN {
				return op(at, "not", n)
			}
			return n
		}
		items, ok := elements(x.Y)
		if !ok || len(items) == 0 {
			c.failUnlessVague(x.Y, "expression", "", "must be a list of values")
			return truth(at, true)
		}
		word, each := "or", "eq"
		if x.Op == syntax.NOT_IN {
			word, each = "and", "neq"
		}
		n := op(at, word)
		for _, i := range items {
			n.Add(op(c.position(i), each, c.expr(x.X, s), c.expr(i, s)))
		}
		return n
	}
	c.fail(x, "unknown-operator", "", "%s is not an operator of models", x.Op)
	return truth(at, true)
}

func elements(e syntax.Expr) ([]syntax.Expr, bool) {
	switch x := e.(type) {
	case *syntax.ListExpr:
		return x.List, true
	case *syntax.TupleExpr:
		return x.List, true
	case *syntax.ParenExpr:
		return elements(x.X)
	}
	return nil, false
}

// call translates a call in an expression.
func (c *compiler) call(x *syntax.CallExpr, s scope) node {
	at := c.position(x)
	fn, ok := x.Fn.(*syntax.Ident)
	if !ok {
		c.fail(x, "unknown-function", "", "must be the name of a function")
		return truth(at, true)
	}
	for _, kind := range []declKind{declDerived, declObserver} {
		if d, ok := c.decls[kind][fn.Name]; ok {
			word := "derived"
			if kind == declObserver {
				word = "observer"
			}
			if d.def != nil && slices.ContainsFunc(d.def.Params, c.brokenParameter) {
				c.vague(at) // the type of its value is unknown
			}
			n := op(at, word, text(c.position(fn), fn.Name))
			for _, a := range x.Args {
				n.Add(c.variable(a, s))
			}
			return n
		}
	}
	if _, ok := c.decls[declRefinement][fn.Name]; ok {
		return c.test(x, fn.Name, s)
	}
	pos, _ := c.arguments(x)
	many := func(n int) bool {
		if len(pos) != n {
			c.fail(x, "arity", "", "%s takes %s, got %d", fn.Name, diag.Plural(n, "argument"), len(pos))
		}
		return len(pos) == n
	}
	switch fn.Name {
	case "forall", "exists", "sum", "count":
		return c.compileQuantifier(x, fn.Name, pos, s)
	case "len":
		if many(1) {
			before := len(c.list)
			if p := c.place(pos[0], s); p != nil && p.shape != nil && slices.Contains([]string{"list", "map", "set"}, p.word) {
				return c.length(p, at)
			} else if len(c.list) > before {
				break
			}
			c.failUnlessVague(x, "type", "count(ENTITY) counts instances", "len takes a list, a set or a map")
		}
	case "old":
		if many(1) {
			return c.markExtended(op(at, "old", c.expr(pos[0], s)))
		}
	case "implies", "min", "max":
		if many(2) {
			n := op(at, fn.Name, c.expr(pos[0], s), c.expr(pos[1], s))
			if fn.Name != "implies" {
				c.markExtended(n)
			}
			return n
		}
	default:
		if c.broken(fn.Name, at) {
			break
		}
		known := slices.Concat(builtins, c.names(declDerived), c.names(declObserver), c.names(declRefinement))
		hint := diag.DidYouMean(fn.Name, known)
		if python := map[string]string{"all": "forall", "any": "exists"}[fn.Name]; python != "" {
			hint = "did you mean " + python + "?"
		}
		c.fail(x, "unknown-function", hint, "%q is not a function of the model", fn.Name)
	}
	return truth(at, true)
}

// brokenParameter reports whether a parameter's entity could not be read.
func (c *compiler) brokenParameter(p syntax.Expr) bool {
	_, of := parameter(p)
	entity, ok := of.(*syntax.Ident)
	return ok && c.model.Broken[entity.Name]
}

// variable translates the name of a variable passed to a function.
func (c *compiler) variable(e syntax.Expr, s scope) node {
	switch x := e.(type) {
	case *syntax.Ident:
		return text(c.position(e), s.name(x.Name))
	case *syntax.Literal:
		return c.literal(x)
	}
	c.fail(e, "argument-type", "compare it with an instance: exists(ENTITY, lambda x: x == o.FIELD and ...)", "must be a variable that stands for an instance")
	return text(c.position(e), "")
}

// test translates a test of a refinement: Editable(article, by = actor).
func (c *compiler) test(x *syntax.CallExpr, name string, s scope) node {
	at := c.position(x)
	pos, named := c.arguments(x)
	if len(pos) != 1 {
		c.fail(x, "arity", "", "%s takes one instance, got %d", name, len(pos))
		return truth(at, true)
	}
	n := op(at, "is", c.variable(pos[0], s), text(c.position(x.Fn), name))
	if len(named) > 0 {
		with := object(at)
		for _, a := range named {
			set(with, c.position(a.at), a.name, c.variable(a.value, s))
		}
		n.Add(*with)
	}
	return n
}

// compileQuantifier translates a quantifier: forall(Order, lambda o: ...) or forall([... for o in
// Order]).
func (c *compiler) compileQuantifier(x *syntax.CallExpr, word string, pos []syntax.Expr, s scope) node {
	at := c.position(x)
	if word == "sum" || word == "count" {
		defer func() { c.beyond = true }()
	}
	if n, ok := c.overElements(x, word, pos, s); ok {
		return n
	}
	if len(pos) == 1 {
		if y, ok := pos[0].(*syntax.Comprehension); ok {
			return c.comprehension(x, y, word, s)
		}
		if word == "count" {
			if e, ok := pos[0].(*syntax.Ident); ok {
				return op(at, word, text(at, "x"), text(c.position(e), e.Name), truth(at, true))
			}
		}
	}
	if len(pos) == 2 {
		e, is := pos[0].(*syntax.Ident)
		f, fn := pos[1].(*syntax.LambdaExpr)
		if is && fn && len(f.Params) == 1 {
			if v, ok := f.Params[0].(*syntax.Ident); ok {
				return op(at, word, text(c.position(v), v.Name), text(c.position(e), e.Name), c.expr(f.Body, s.bind(v.Name, e.Name)))
			}
		}
	}
	c.failUnlessVague(x, "arity", "", "must be %s(ENTITY, lambda x: ...)", word)
	return truth(at, true)
}

// bind returns a scope in which a name is a variable of an expression.
func (s scope) bind(name, entity string) scope {
	s = s.withVariable(name, entity)
	if _, ok := s.rename[name]; ok {
		rename := map[string]string{}
		for k, v := range s.rename {
			if k != name {
				rename[k] = v
			}
		}
		s.rename = rename
	}
	return s
}

func (c *compiler) comprehension(x *syntax.CallExpr, y *syntax.Comprehension, word string, s scope) node {
	at := c.position(x)
	bad := func() node {
		c.failUnlessVague(y, "expression", "", "must be [... for x in ENTITY if ...]")
		return truth(at, true)
	}
	f, ok := y.Clauses[0].(*syntax.ForClause)
	if !ok || y.Curly {
		return bad()
	}
	v, is := f.Vars.(*syntax.Ident)
	e, of := f.X.(*syntax.Ident)
	if !is || !of {
		return bad()
	}
	s = s.bind(v.Name, e.Name)
	body := truth(at, true)
	if id, ok := y.Body.(*syntax.Ident); !ok || word != "count" || id.Name != v.Name || len(y.Clauses) == 1 {
		body = c.expr(y.Body, s)
	}
	for _, k := range slices.Backward(y.Clauses[1:]) {
		cond, ok := k.(*syntax.IfClause)
		if !ok {
			return bad()
		}
		by := c.expr(cond.Cond, s)
		switch word {
		case "forall":
			body = op(body.Pos, "implies", by, body)
		case "sum":
			body = op(body.Pos, "if", by, body, integer(body.Pos, 0))
		default:
			body = op(body.Pos, "and", by, body)
		}
	}
	return op(at, word, text(c.position(v), v.Name), text(c.position(e), e.Name), body)
}
