package lang

import (
	"maps"
	"slices"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// action is a function of the source that declares an action.
type action struct {
	d      *decl
	vars   map[string]string // variables of chosen and created instances, with their entities
	args   []string          // parameters without a default, which are arguments of the export
	guard  *node             // the condition required; nil: none
	beyond bool              // the guard needs an extension of the published format
	picks  []node
	weight node
	branch *node // cached branch for the place of the declaration; nil until needed
}

// survey collects the variables of an action.
func (c *compiler) survey(d *decl) *action {
	a := &action{d: d, vars: map[string]string{}}
	note := func(name string, e syntax.Expr) {
		if !isCall(e, "any") && !isCall(e, "new") {
			return
		}
		if pos, _ := c.arguments(e.(*syntax.CallExpr)); len(pos) > 0 {
			if id, ok := pos[0].(*syntax.Ident); ok {
				a.vars[name] = id.Name
				if c.vars[name] == nil {
					c.vars[name] = map[string]bool{}
				}
				c.vars[name][id.Name] = true
			}
		}
	}
	for _, p := range d.def.Params {
		if name, is := parameter(p); is != nil {
			note(name, is)
		} else if name != "" {
			a.args = append(a.args, name)
		}
	}
	for _, s := range d.def.Body {
		if x, ok := s.(*syntax.AssignStmt); ok {
			if id, is := x.LHS.(*syntax.Ident); is {
				note(id.Name, x.RHS)
			}
		}
	}
	return a
}

// body is an action during its translation.
type body struct {
	*action
	c               *compiler
	s               scope
	conds           []requirement // in order
	made            *node         // the "creates" entry
	sets            []node
	steps           bool // the action contains an if
	wrote           map[string]bool
	call            *syntax.CallExpr
	at              doctree.Pos
	locals          []*local
	effect, binding node
}

// requirement is a condition or, if it names a variable, an instance to choose.
type requirement struct {
	cond   node
	beyond bool
	name   string
	entity node
	at     doctree.Pos
}

// action translates an action.
func (c *compiler) action(a *action, at doctree.Pos) *body {
	before := len(c.list)
	b := &body{action: a, c: c, at: at, wrote: map[string]bool{}, conds: make([]requirement, 0, 4)}
	b.s = scope{vars: a.vars, others: c.everywhere(), rename: map[string]string{}, values: map[string]*local{}, wrote: map[string]int{}}
	for v := range a.vars {
		if len(c.vars[v]) > 1 { // in the IR, a variable has one entity
			b.s.rename[v] = v + "_of_" + a.d.name
		}
	}
	for _, p := range a.d.def.Params {
		if name, is := parameter(p); is != nil {
			b.assign(p, name, is)
		} else if name == "" {
			c.fail(p, "expression", "write its name", "a parameter of an action is NAME or NAME = VALUE")
		}
	}
	for _, s := range statementsOf(a.d.def) {
		b.statement(s, &b.sets, true)
	}
	b.finish()
	b.unused(before)
	return b
}

// statement translates a statement of an action.
func (b *body) statement(s syntax.Stmt, into *[]node, top bool) {
	c := b.c
	near := ""
	switch x := s.(type) {
	case *syntax.BranchStmt:
		if x.Token == syntax.PASS {
			return
		}
	case *syntax.AssignStmt:
		if _, name := x.LHS.(*syntax.Ident); !name && b.place(x, into) {
			return
		}
		switch left := x.LHS.(type) {
		case *syntax.Ident:
			if x.Op == syntax.EQ {
				if !top && (isCall(x.RHS, "any") || isCall(x.RHS, "new")) {
					c.fail(s, "expression", "write another action for it", "instances are chosen and made at the top of an action, not within if")
					return
				}
				b.assign(s, left.Name, x.RHS)
				return
			}
			if by, ok := computing[x.Op]; ok {
				b.name(s, left.Name, &syntax.BinaryExpr{X: left, OpPos: x.OpPos, Op: by, Y: x.RHS})
				return
			}
		case *syntax.DotExpr:
			b.set(x, left.X, left.Name.Name, into)
			return
		case *syntax.IndexExpr:
			if key := c.literalOrNone(left.Y); key.Kind == doctree.String {
				b.set(x, left.X, key.Text, into)
				return
			}
		}
	case *syntax.IfStmt:
		b.branch(x, into)
		return
	case *syntax.ReturnStmt:
		if x.Result != nil && isCall(x.Result, "call") {
			b.called(x.Result.(*syntax.CallExpr), top)
			return
		}
		c.fail(s, "expression", "write answer = EXPRESSION in call(...)", "an action can return only call(...)")
		return
	case *syntax.ExprStmt:
		if lit, ok := x.X.(*syntax.Literal); ok && lit.Token == syntax.STRING {
			return
		}
		if call, ok := x.X.(*syntax.CallExpr); ok {
			if b.method(call, into) {
				return
			}
			if fn, ok := call.Fn.(*syntax.Ident); ok {
				if b.does(call, fn.Name, top) {
					return
				}
				if near = diag.DidYouMean(fn.Name, []string{"require", "weight", "call"}); fn.Name == "new" || fn.Name == "any" {
					near = "give the instance a name: x = " + fn.Name + "(...)"
				}
			}
		}
	}
	c.failUnlessVague(s, "expression", near, "an action has require(...), any(...), new(...), assignments to fields, if, weight(...) and call(...)")
}

// does translates a call used as a statement.
func (b *body) does(call *syntax.CallExpr, name string, top bool) bool {
	c := b.c
	pos, _ := c.arguments(call)
	switch name {
	case "require":
		if !top || len(b.sets) > 0 || b.steps {
			c.fail(call, "expression", "", "write require before the first assignment: it says in which states the action is allowed")
			return true
		}
		for _, e := range pos {
			v, beyond := c.condition(e, b.requiring())
			b.conds = append(b.conds, requirement{cond: v, beyond: beyond})
		}
	case "weight":
		if len(pos) != 1 {
			c.fail(call, "arity", "", "weight takes one number")
			return true
		}
		if b.weight = c.literal(pos[0]); b.weight.Kind != doctree.Int {
			c.fail(pos[0], "type", "", "must be an integer")
		}
	case "call":
		b.called(call, top)
	default:
		return false
	}
	return true
}

func (b *body) called(call *syntax.CallExpr, top bool) {
	if b.call != nil || !top {
		b.c.fail(call, "expression", "", "an action calls exactly one export, unconditionally")
		return
	}
	b.call = call
}

// assign translates NAME = any(...), new(...) or a value.
func (b *body) assign(at syntax.Node, name string, e syntax.Expr) {
	c := b.c
	anew, choice := isCall(e, "new"), isCall(e, "any")
	if !anew && !choice {
		b.name(at, name, e)
		return
	}
	pos, named := c.arguments(e.(*syntax.CallExpr))
	if len(pos) == 0 || len(pos) > 2 || anew && len(pos) > 1 {
		c.fail(e, "arity", "", "must be any(ENTITY, FIELD = VALUE) or new(ENTITY, FIELD = VALUE)")
		return
	}
	entity, here := c.reading(pos[0]), c.position(at)
	if choice {
		if len(b.sets) > 0 {
			c.fail(e, "expression", "", "write any before the first assignment")
		}
		b.conds = append(b.conds, requirement{name: name, entity: entity, at: here})
		for _, a := range named {
			v, beyond := c.condition(a.value, b.requiring())
			of := op(c.position(a.at), "field", text(c.position(a.at), b.s.name(name)), text(c.position(a.at), a.name))
			b.conds = append(b.conds, requirement{cond: op(c.position(a.at), "eq", of, v), beyond: beyond})
		}
		if len(pos) == 2 {
			f, ok := pos[1].(*syntax.LambdaExpr)
			if !ok || len(f.Params) != 1 {
				c.fail(pos[1], "expression", "", "must be lambda x: CONDITION")
				return
			}
			param, _ := parameter(f.Params[0])
			s := b.requiring().withVariable(param, entity.Text)
			s.rename = map[string]string{param: b.s.name(name)}
			for k, v := range b.s.rename {
				if k != param {
					s.rename[k] = v
				}
			}
			v, beyond := c.condition(f.Body, s)
			b.conds = append(b.conds, requirement{cond: v, beyond: beyond})
		}
		return
	}
	if b.made != nil {
		c.fail(e, "expression", "", "an action makes at most one instance")
		return
	}
	b.made, b.wrote[name] = object(here), true
	b.s.wrote[making(entity.Text)]++ // arguments are computed before the instance exists
	set(b.made, here, "entity", entity)
	set(b.made, here, "assign", text(here, b.s.name(name)))
	for _, a := range named {
		if d := c.decls[declEntity][entity.Text]; d != nil {
			if x := (&shape{parts: c.shapes(d)}).part(a.name); x != nil && x.word != "" {
				of := &place{x, b.s.name(name), name, []alternative{{name: a.name}}, a.name}
				b.replace(of, a.value, c.position(a.at), &b.sets)
				continue
			}
		}
		b.addSet(c.position(a.at), name, a.name, b.argumentOfNew(a.value, entity.Text), &b.sets)
	}
}

// requiring returns the scope of conditions evaluated before the action changes anything.
func (b *body) requiring() scope {
	s := b.s
	s.calling = true
	return s
}

// argumentOfNew translates a value with which an instance is created. What it says about all
// instances of the entity is evaluated before the new one exists.
func (b *body) argumentOfNew(e syntax.Expr, entity string) node {
	v, _ := b.c.condition(e, b.s)
	counts := false
	b.c.reads(e, &local{values: b.s.values}, func(_, what string) { counts = counts || what == making(entity) })
	if counts {
		return b.c.markExtended(op(b.c.position(e), "old", v))
	}
	return v
}

// addSet adds an assignment to a field.
func (b *body) addSet(at doctree.Pos, name, field string, v node, into *[]node) {
	*into = append(*into, *object(at, member(at, "target", texts(at, b.s.name(name), field)), member(v.Pos, "value", v)))
	b.wrote[name] = true
	b.s.wrote[field]++
}

// assigning maps compound assignments to operators of the IR.
var assigning = map[syntax.Token]string{
	syntax.PLUS_EQ: "add", syntax.MINUS_EQ: "sub", syntax.STAR_EQ: "mul", syntax.SLASHSLASH_EQ: "div", syntax.PERCENT_EQ: "mod",
}

// computing maps compound assignments to operators of the source, for names of values.
var computing = map[syntax.Token]syntax.Token{
	syntax.PLUS_EQ: syntax.PLUS, syntax.MINUS_EQ: syntax.MINUS, syntax.STAR_EQ: syntax.STAR, syntax.SLASHSLASH_EQ: syntax.SLASHSLASH, syntax.PERCENT_EQ: syntax.PERCENT,
}

// place translates an assignment to a place of a collection; false: it is something else.
func (b *body) place(x *syntax.AssignStmt, into *[]node) bool {
	c := b.c
	before := len(c.list)
	p := c.place(x.LHS, b.s)
	if p == nil || p.shape == nil {
		return len(c.list) > before
	}
	at := c.position(x)
	by, computes := assigning[x.Op]
	switch {
	case x.Op == syntax.EQ:
		b.replace(p, x.RHS, at, into)
	case computes && p.word == "":
		v, _ := c.condition(x.RHS, b.s)
		b.store(p, at, func(name string) node { return op(at, by, p.field(at)(name), v) }, into)
	default:
		c.fail(x, "unknown-operator", "", "%s is not an operator of a %s", x.Op, orPlain(p.word))
	}
	return true
}

// set translates VARIABLE.FIELD = VALUE, and compound assignments such as +=.
func (b *body) set(x *syntax.AssignStmt, of syntax.Expr, field string, into *[]node) {
	c := b.c
	id, ok := of.(*syntax.Ident)
	if !ok {
		c.fail(x, "target", "", "must be VARIABLE.FIELD = VALUE")
		return
	}
	v, _ := c.condition(x.RHS, b.s)
	if by, ok := assigning[x.Op]; ok {
		v = op(c.position(x), by, c.field(of, field, c.position(x), b.s), v)
	} else if x.Op != syntax.EQ {
		c.fail(x, "unknown-operator", "", "%s is not an operator of models", x.Op)
	}
	b.addSet(c.position(x), id.Name, field, v, into)
}

// branch translates if, elif and else.
func (b *body) branch(x *syntax.IfStmt, into *[]node) {
	at := b.c.pos(x.If)
	v, _ := b.c.condition(x.Cond, b.s)
	n := object(at)
	set(n, at, "if", v)
	before := b.s
	before.wrote = maps.Clone(before.wrote)
	side := func(key string, stmts []syntax.Stmt) scope {
		b.s.values, b.s.wrote = before.values, maps.Clone(before.wrote)
		inner := []node{}
		for _, s := range stmts {
			b.statement(s, &inner, false)
		}
		if len(inner) > 0 {
			set(n, at, key, list(at, inner...))
		}
		return b.s
	}
	yes, no := side("then", x.True), side("else", x.False)
	b.s.values, b.s.wrote = b.c.decided(x.Cond, before, yes.values, no.values), maps.Clone(yes.wrote)
	for field, times := range no.wrote {
		b.s.wrote[field] = max(b.s.wrote[field], times)
	}
	if n.Get("then") == nil && n.Get("else") == nil {
		return // the branches only name values
	}
	b.steps = true
	ordered(n)
	*into = append(*into, *n)
}

// conjunction combines conditions into one; nil if there are none.
func conjunction(conds []node) *node {
	switch len(conds) {
	case 0:
		return nil
	case 1:
		return &conds[0]
	}
	n := op(conds[0].Pos, "and", conds...)
	return &n
}

// require builds the guard and the picks from requirements and choices. A choice requires that an
// instance exists for which everything that follows holds, and chooses among such instances.
func (b *body) require() {
	var rest []node
	for _, r := range slices.Backward(b.conds) {
		b.beyond = b.beyond || r.beyond
		if r.name == "" {
			rest = append([]node{r.cond}, rest...)
			continue
		}
		pick := append(make([]doctree.Member, 0, 3), member(r.at, "entity", r.entity), member(r.at, "var", text(r.at, b.s.name(r.name))))
		where := truth(r.at, true)
		if all := conjunction(rest); all != nil {
			where = *all
			pick = append(pick, member(where.Pos, "where", where))
		}
		b.picks = append([]node{*object(r.at, pick...)}, b.picks...)
		rest = []node{op(r.at, "exists", text(r.at, b.s.name(r.name)), r.entity, where)}
	}
	b.guard = conjunction(rest)
}

// finish writes the effect and the binding.
func (b *body) finish() {
	c, name := b.c, b.d.name
	b.require()
	b.addWaits()
	n := object(b.at)
	path := "$.effects." + name
	if b.made != nil {
		set(n, b.at, "creates", *b.made)
	}
	if len(b.picks) > 0 {
		set(n, b.at, "picks", list(b.at, b.picks...))
		c.noteExtension(b.at, func() (key, what string) { return path + ".picks", "which instance is chosen" })
	}
	switch {
	case b.steps:
		set(n, b.at, "steps", list(b.at, b.sets...))
		c.noteExtension(b.at, func() (key, what string) { return path + ".steps", "assignments under if" })
	case len(b.sets) > 0:
		set(n, b.at, "sets", list(b.at, b.sets...))
	}
	for i := range b.sets {
		if v := b.sets[i].Get("value"); c.noting && v != nil && v.Kind == doctree.Seq && words(v) != "" {
			c.noteExtension(v.Pos, func() (key, what string) { return path, "a value with " + words(v) })
		}
	}
	b.effect = *n
	b.bind()
}
