package lang

import (
	"maps"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// generator translates generator(STEP, ..., then = CONDITION, description = "...").
func (c *compiler) generator(d *decl, at doctree.Pos) {
	pos, named := c.arguments(d.call)
	n := object(c.position(d.call))
	vars := maps.Clone(c.everywhere())
	steps := list(at)
	for _, e := range pos {
		steps.Add(c.compileStep(e, vars))
	}
	set(n, at, "sequence", steps)
	for _, a := range named {
		switch a.name {
		case "description":
			set(n, c.position(a.at), a.name, c.literal(a.value))
		case "then":
			set(n, c.position(a.at), "postcondition", c.published(a.value, scope{vars: vars}, "expression", derive, "a generator's condition"))
		}
	}
	set(c.section("generators"), at, d.name, *n)
}

// compileStep translates a step of a generator: an action, or step(ACTION, NAME = VALUE).
func (c *compiler) compileStep(e syntax.Expr, vars map[string]string) node {
	at := c.position(e)
	n := object(at)
	if !isCall(e, "step") {
		set(n, at, "action", c.reading(e))
		return *n
	}
	pos, named := c.arguments(e.(*syntax.CallExpr))
	if len(pos) != 1 {
		c.fail(e, "arity", "", "must be step(ACTION, NAME = VALUE)")
		return *n
	}
	set(n, at, "action", c.reading(pos[0]))
	with := object(at)
	for _, a := range named {
		vars[a.name] = ""
		set(with, c.position(a.at), a.name, c.given(a.value, vars))
	}
	if len(named) > 0 {
		set(n, at, "with", *with)
	}
	return *n
}

// given translates a value in a step: make(ENTITY, where = CONDITION), bind("NAME") or a literal.
func (c *compiler) given(e syntax.Expr, vars map[string]string) node {
	at := c.position(e)
	word := map[bool]string{true: "generate", false: "bind"}[isCall(e, "make")]
	if word == "bind" && !isCall(e, "bind") {
		return c.literal(e)
	}
	pos, named := c.arguments(e.(*syntax.CallExpr))
	n := object(at)
	if len(pos) == 1 {
		named = append([]argument{{name: word, at: pos[0], value: pos[0]}}, named...)
	}
	for _, a := range named {
		if a.name == "where" {
			v := c.published(a.value, scope{vars: map[string]string{"self": "", "actor": ""}}, "expression", derive, "the condition of a generator's step")
			set(n, v.Pos, "where", v)
			continue
		}
		v := c.reading(a.value)
		if a.name == "bind" {
			vars[v.Text] = ""
		}
		set(n, c.position(a.at), a.name, v)
	}
	return *n
}
