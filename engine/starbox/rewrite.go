package starbox

import (
	"go.starlark.net/syntax"
)

// The guards. A name that begins with a dollar sign cannot be written in a
// program, so no program can shadow or call them.
const (
	guardCall    = "$call"    // x.name(...): the method's cost depends on x and its arguments
	guardAttr    = "$attr"    // x.name as a value
	guardSlice   = "$slice"   // x in x[a:b]: a list is copied
	guardStride  = "$stride"  // x in x[a:b:c]: a string is copied as well
	guardSpread  = "$spread"  // x in f(*x): becomes a tuple
	guardAugment = "$augment" // a[i] op= y
)

// guarded maps the operators whose cost depends on their operands to guards.
// Comparisons are not guarded: they allocate nothing, and the size of values is
// bounded.
var guarded = map[syntax.Token]string{
	syntax.PLUS: "$add", syntax.STAR: "$mul", syntax.PERCENT: "$mod", syntax.LTLT: "$shl",
	syntax.PIPE: "$or", syntax.AMP: "$and", syntax.CIRCUMFLEX: "$xor",
	syntax.IN: "$in", syntax.NOT_IN: "$notin",
}

// augmented maps the assigning operators to their operators.
var augmented = map[syntax.Token]syntax.Token{
	syntax.PLUS_EQ: syntax.PLUS, syntax.MINUS_EQ: syntax.MINUS, syntax.STAR_EQ: syntax.STAR,
	syntax.SLASH_EQ: syntax.SLASH, syntax.SLASHSLASH_EQ: syntax.SLASHSLASH, syntax.PERCENT_EQ: syntax.PERCENT,
	syntax.AMP_EQ: syntax.AMP, syntax.PIPE_EQ: syntax.PIPE, syntax.CIRCUMFLEX_EQ: syntax.CIRCUMFLEX,
	syntax.LTLT_EQ: syntax.LTLT, syntax.GTGT_EQ: syntax.GTGT,
}

// chargeOf returns the guard that charges x op y and returns y, for x op= y,
// which must stay an assignment, since it changes a list in place.
func chargeOf(op syntax.Token) string {
	return guarded[op] + "="
}

// rewriter puts guards into a syntax tree.
type rewriter struct {
	loads []syntax.Position // load statements, which are refused
}

func (r *rewriter) statements(list []syntax.Stmt) {
	for i := range list {
		list[i] = r.statement(list[i])
	}
}

func (r *rewriter) statement(s syntax.Stmt) syntax.Stmt {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		return r.assign(s)
	case *syntax.DefStmt:
		r.params(s.Params)
		r.statements(s.Body)
	case *syntax.ExprStmt:
		s.X = r.expr(s.X)
	case *syntax.IfStmt:
		s.Cond = r.expr(s.Cond)
		r.statements(s.True)
		r.statements(s.False)
	case *syntax.LoadStmt:
		r.loads = append(r.loads, s.Load)
	case *syntax.ReturnStmt:
		s.Result = r.expr(s.Result)
	case *syntax.ForStmt:
		r.target(s.Vars)
		s.X = r.expr(s.X)
		r.statements(s.Body)
	case *syntax.WhileStmt:
		s.Cond = r.expr(s.Cond)
		r.statements(s.Body)
	}
	return s
}

func (r *rewriter) assign(s *syntax.AssignStmt) syntax.Stmt {
	if s.Op == syntax.EQ {
		r.target(s.LHS)
		s.RHS = r.expr(s.RHS)
		return s
	}
	op := augmented[s.Op]
	lhs := s.LHS
	for {
		p, ok := lhs.(*syntax.ParenExpr)
		if !ok {
			break
		}
		lhs = p.X
	}
	switch lhs := lhs.(type) {
	case *syntax.Ident:
		small := literal(s.RHS, syntax.INT) && op != syntax.STAR && op != syntax.LTLT
		s.RHS = r.expr(s.RHS)
		if guarded[op] != "" && !small {
			s.RHS = call(s.OpPos, chargeOf(op), ident(s.OpPos, lhs.Name), s.RHS)
		}
	case *syntax.IndexExpr:
		word := &syntax.Literal{Token: syntax.STRING, TokenPos: s.OpPos, Raw: op.String(), Value: op.String()}
		return &syntax.ExprStmt{X: call(s.OpPos, guardAugment, r.expr(lhs.X), r.expr(lhs.Y), word, r.expr(s.RHS))}
	default:
		r.target(s.LHS)
		s.RHS = r.expr(s.RHS)
	}
	return s
}

// target rewrites the inside of the target of an assignment, but not the target
// itself.
func (r *rewriter) target(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		r.target(e.X)
	case *syntax.TupleExpr:
		for _, x := range e.List {
			r.target(x)
		}
	case *syntax.ListExpr:
		for _, x := range e.List {
			r.target(x)
		}
	case *syntax.IndexExpr:
		e.X, e.Y = r.expr(e.X), r.expr(e.Y)
	case *syntax.DotExpr:
		e.X = r.expr(e.X)
	}
}

// params rewrites the default values of parameters.
func (r *rewriter) params(list []syntax.Expr) {
	for _, p := range list {
		if b, ok := p.(*syntax.BinaryExpr); ok {
			b.Y = r.expr(b.Y)
		}
	}
}

func (r *rewriter) exprs(list []syntax.Expr) {
	for i := range list {
		list[i] = r.expr(list[i])
	}
}

func (r *rewriter) expr(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		return r.binary(e)
	case *syntax.CallExpr:
		return r.callExpr(e)
	case *syntax.DotExpr:
		return call(e.NamePos, guardAttr, r.expr(e.X), text(e.NamePos, e.Name.Name))
	case *syntax.SliceExpr:
		guard := guardSlice
		if e.Step != nil {
			guard = guardStride
		}
		e.X = call(e.Lbrack, guard, r.expr(e.X))
		e.Lo, e.Hi, e.Step = r.expr(e.Lo), r.expr(e.Hi), r.expr(e.Step)
	case *syntax.IndexExpr:
		e.X, e.Y = r.expr(e.X), r.expr(e.Y)
	case *syntax.ParenExpr:
		e.X = r.expr(e.X)
	case *syntax.UnaryExpr:
		e.X = r.expr(e.X)
	case *syntax.ListExpr:
		r.exprs(e.List)
	case *syntax.TupleExpr:
		r.exprs(e.List)
	case *syntax.DictExpr:
		r.exprs(e.List)
	case *syntax.DictEntry:
		e.Key, e.Value = r.expr(e.Key), r.expr(e.Value)
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = r.expr(e.Cond), r.expr(e.True), r.expr(e.False)
	case *syntax.LambdaExpr:
		r.params(e.Params)
		e.Body = r.expr(e.Body)
	case *syntax.Comprehension:
		e.Body = r.expr(e.Body)
		for _, c := range e.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				r.target(c.Vars)
				c.X = r.expr(c.X)
			case *syntax.IfClause:
				c.Cond = r.expr(c.Cond)
			}
		}
	}
	return e
}

func (r *rewriter) binary(e *syntax.BinaryExpr) syntax.Expr {
	if e.Op == syntax.EQ { // name=value in an argument list
		e.Y = r.expr(e.Y)
		return e
	}
	cheap := false
	switch e.Op {
	case syntax.PLUS:
		cheap = literal(e.X, syntax.INT) || literal(e.Y, syntax.INT)
	case syntax.PERCENT:
		cheap = literal(e.Y, syntax.INT) && !literal(e.X, syntax.STRING)
	case syntax.IN, syntax.NOT_IN:
		cheap = literal(e.Y, syntax.STRING) || display(e.Y)
	}
	e.X, e.Y = r.expr(e.X), r.expr(e.Y)
	if guard := guarded[e.Op]; guard != "" && !cheap {
		return call(e.OpPos, guard, e.X, e.Y)
	}
	return e
}

func (r *rewriter) callExpr(e *syntax.CallExpr) syntax.Expr {
	for i, a := range e.Args {
		if u, ok := a.(*syntax.UnaryExpr); ok && u.Op == syntax.STAR {
			u.X = call(u.OpPos, guardSpread, r.expr(u.X))
			continue
		}
		e.Args[i] = r.expr(a)
	}
	d, ok := e.Fn.(*syntax.DotExpr)
	if !ok {
		e.Fn = r.expr(e.Fn)
		return e
	}
	e.Args = append([]syntax.Expr{r.expr(d.X), text(d.NamePos, d.Name.Name)}, e.Args...)
	e.Fn = ident(d.NamePos, guardCall)
	return e
}

// literal reports whether e is a literal of a kind.
func literal(e syntax.Expr, kind syntax.Token) bool {
	l, ok := e.(*syntax.Literal)
	return ok && l.Token == kind
}

// display reports whether e lists its elements in the source.
func display(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.ListExpr, *syntax.TupleExpr:
		return true
	case *syntax.ParenExpr:
		return display(e.X)
	}
	return false
}

func ident(pos syntax.Position, name string) *syntax.Ident {
	return &syntax.Ident{NamePos: pos, Name: name}
}

func text(pos syntax.Position, s string) *syntax.Literal {
	return &syntax.Literal{Token: syntax.STRING, TokenPos: pos, Raw: s, Value: s}
}

func call(pos syntax.Position, guard string, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: ident(pos, guard), Lparen: pos, Args: args, Rparen: pos}
}
