package lang

import (
	"maps"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// local is a value that an action gives a name. The IR has no such names, so the value's expression
// replaces each use of the name.
type local struct {
	at      syntax.Node
	e       syntax.Expr       // the value or, if an if decides, its condition
	values  map[string]*local // what the names in the value meant
	wrote   map[string]int    // how often each field had been assigned
	decides bool
	yes, no *local // the value in each branch of an if; nil: none
	early   bool   // computed before any of its operands was assigned
	used    bool
}

// mostExpanded limits how many names are replaced by values, because each value may contain several
// others.
const mostExpanded = 10_000

// name gives a value a name.
func (b *body) name(at syntax.Node, name string, e syntax.Expr) {
	v := &local{at: at, e: e, values: b.s.values, wrote: maps.Clone(b.s.wrote)}
	v.early = b.c.early(v)
	b.locals = append(b.locals, v)
	b.s.values = maps.Clone(b.s.values)
	b.s.values[name] = v
}

// decided returns the names after an if. If the branches gave a name different values, the
// condition decides which one it has.
func (c *compiler) decided(cond syntax.Expr, before scope, yes, no map[string]*local) map[string]*local {
	values := maps.Clone(before.values)
	for _, side := range []map[string]*local{yes, no} {
		for name := range side {
			if yes[name] != no[name] {
				v := &local{at: cond, e: cond, values: before.values, wrote: before.wrote, decides: true, yes: yes[name], no: no[name]}
				v.early = c.early(v)
				values[name] = v
			}
		}
	}
	return values
}

// local translates a use of a named value.
func (c *compiler) local(x *syntax.Ident, v *local, s scope) node {
	at := c.position(x)
	ok, before := c.current(x, v, s)
	if !ok {
		return truth(at, true)
	}
	value := c.expr(v.e, s.definitionScope(v))
	if before {
		value = c.markExtended(op(at, "old", value))
	}
	if !v.decides {
		return value
	}
	if v.yes == nil || v.no == nil {
		c.fail(x, "unbound-variable", "give it a value before the if", "%q has a value in only one branch of the if", x.Name)
		return truth(at, true)
	}
	return c.markExtended(op(at, "if", value, c.local(x, v.yes, s), c.local(x, v.no, s)))
}

// definitionScope returns the scope in which a value got its name.
func (s scope) definitionScope(v *local) scope {
	s.values = v.values
	return s
}

// current reports whether the value of a name can be computed where it is used. before means in the
// state before the action, because an operand has been assigned since.
func (c *compiler) current(x *syntax.Ident, v *local, s scope) (ok, before bool) {
	v.used = true
	if c.expanded++; c.expanded > mostExpanded {
		if c.expanded == mostExpanded+1 {
			c.fail(x, "expression", "keep values in fields", "the names for values expand to more than %d expressions", mostExpanded)
		}
		return false, false
	}
	ok = true
	say := func(hint, format string, args ...any) {
		if ok {
			c.fail(x, "expression", hint, format, args...)
		}
		ok = false
	}
	c.reads(v.e, v, func(of, what string) {
		switch {
		case what == "":
		case s.calling && v.wrote[what] > 0:
			say("keep the value in a field", "%s was computed after %s, and requirements, arguments and answers are evaluated before that", x.Name, assigned(what))
		case !s.calling && s.wrote[what] > v.wrote[what]:
			if before = true; !v.early {
				say("compute it before all assignments, or keep the value in a field", "%s was computed between assignments, and its operands have changed since: %s", x.Name, assigned(what))
			}
		}
		if s.bound[of] && v.values[of] == nil {
			say("give the parameter of the lambda another name", "%s was computed from %s, which is another instance here", x.Name, of)
		}
	})
	return ok, before
}

// early reports whether a value was computed before any of its operands was assigned.
func (c *compiler) early(v *local) bool {
	early := (v.yes == nil || v.yes.early) && (v.no == nil || v.no.early)
	c.reads(v.e, v, func(of, what string) {
		early = early && v.wrote[what] == 0 && (v.values[of] == nil || v.values[of].early)
	})
	return early
}

// making names the change that creating an instance of an entity makes.
func making(entity string) string { return "new " + entity }

// assigned describes a change that affects a read.
func assigned(what string) string {
	if entity, ok := strings.CutPrefix(what, making("")); ok {
		return "a new " + entity
	}
	return "an assignment to " + what
}

// reads visits the names in a value's expression, each with what is read of it that actions can
// change: a field, or the set of an entity's instances.
func (c *compiler) reads(e syntax.Expr, v *local, visit func(of, what string)) {
	asked := map[*decl]bool{}
	var walk func(syntax.Node) bool
	walk = func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.DotExpr:
			if of, ok := x.X.(*syntax.Ident); ok {
				if v.values[of.Name] != nil { // part of a named value
					visit(of.Name, "")
				} else {
					visit(of.Name, x.Name.Name)
				}
				return false
			}
		case *syntax.IndexExpr: // o["odd name"]
			if of, ok := x.X.(*syntax.Ident); ok && v.values[of.Name] == nil && c.literalOrNone(x.Y).Kind == doctree.String {
				visit(of.Name, c.literalOrNone(x.Y).Text)
				return false
			}
		case *syntax.Ident:
			what := ""
			if c.decls[declEntity][x.Name] != nil {
				what = making(x.Name)
			}
			visit(x.Name, what)
			for _, kind := range []declKind{declDerived, declRefinement} {
				if d := c.decls[kind][x.Name]; d != nil && !asked[d] {
					asked[d] = true
					c.asked = append(c.asked, declared{kind, d.name, d.stmt})
					for _, s := range statementsOf(d.def) {
						syntax.Walk(s, walk)
					}
				}
			}
		}
		return true
	}
	syntax.Walk(e, walk)
}

// unused warns about unused names: total = 0 may be meant as o.total, and a listed parameter as an
// argument.
func (b *body) unused(before int) {
	c := b.c
	for _, p := range b.d.def.Params {
		name, is := parameter(p)
		if b.call == nil || is != nil || name == "" || mentions(b.d.def.Body, name) {
			continue
		}
		c.fail(p, "unused-name", `pass it to the export: call("EXPORT", `+name+")", "nothing uses the parameter %s", name)
		c.list[len(c.list)-1].Level = diag.Warning
	}
	for _, v := range b.locals {
		if v.used {
			continue
		}
		c.condition(v.e, scope{vars: b.s.vars, others: b.s.others, rename: b.s.rename, values: v.values})
		if name := nameOf(v.at); !c.list[before:].HasErrors() { // otherwise a use may not have been read
			c.fail(v.at, "unused-name", "VARIABLE."+name+" = ... assigns to a field", "nothing uses the name %s", name)
			c.list[len(c.list)-1].Level = diag.Warning
		}
	}
}

// mentions reports whether statements use a name.
func mentions(body []syntax.Stmt, name string) bool {
	found := false
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			id, ok := n.(*syntax.Ident)
			found = found || ok && id.Name == name
			return !found
		})
	}
	return found
}

func nameOf(at syntax.Node) string {
	if x, ok := at.(*syntax.AssignStmt); ok {
		if id, ok := x.LHS.(*syntax.Ident); ok {
			return id.Name
		}
	}
	name, _ := parameter(asExpr(at))
	return name
}

func asExpr(n syntax.Node) syntax.Expr {
	e, _ := n.(syntax.Expr)
	return e
}

// identified adds the field id to entities whose instances are used as values.
func (c *compiler) identified() {
	for _, entity := range slices.Sorted(maps.Keys(c.valued)) {
		e := c.root.Get("entities").Get(entity)
		if e == nil || e.Get("fields").Get("id") != nil {
			continue
		}
		at := e.Pos
		id := object(at)
		set(id, at, "type", text(at, "string"))
		set(e.Get("fields"), at, "id", *id)
	}
}

// instance translates a variable used as a value into the identity of its instance.
func (c *compiler) instance(name string, at doctree.Pos, s scope) node {
	c.valued[c.entityOf(name, s)] = true
	return op(at, "field", text(at, s.name(name)), text(at, "id"))
}
