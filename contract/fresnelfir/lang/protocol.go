package lang

import (
	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// branchOf returns the branch of an alternative that consists of an action: its name, its weight
// and its guard.
func (c *compiler) branchOf(name string, at doctree.Pos) node {
	a := c.acts[name]
	if a != nil && a.branch != nil && a.branch.Pos == at {
		return *a.branch
	}
	weight := integer(at, 1)
	if a != nil && a.weight.Kind == doctree.Int {
		weight = a.weight
	}
	members := append(make([]doctree.Member, 0, 4), member(at, "id", text(at, name)), member(at, "weight", weight))
	if a != nil && a.guard != nil {
		key := "guard"
		if a.beyond {
			key = "full"
			c.noteExtension(a.guard.Pos, func() (key, what string) {
				return "$.protocols (branch " + name + ").full", "a requirement with " + words(a.guard)
			})
		}
		members = append(members, member(at, key, *a.guard))
	}
	n := object(at, append(members, member(at, "body", c.calling(name, at)))...)
	if a != nil && c.position(a.d.stmt) == at {
		a.branch = n
	}
	return *n
}

func (c *compiler) calling(name string, at doctree.Pos) node {
	return *object(at, member(at, "type", text(at, "call")), member(at, "action", text(at, name)))
}

// step translates a node of a protocol.
func (c *compiler) step(e syntax.Expr) node {
	at := c.position(e)
	n, near := object(at), ""
	switch x := e.(type) {
	case *syntax.Ident:
		if a, ok := c.acts[x.Name]; ok {
			if a.guard == nil {
				return c.calling(x.Name, at)
			}
			set(n, at, "type", text(at, "alt")) // a branch is needed to hold the guard
			set(n, at, "branches", list(at, c.branchOf(x.Name, at)))
			return *n
		}
		if _, ok := c.decls[declProtocol][x.Name]; ok {
			set(n, at, "type", text(at, "ref"))
			set(n, at, "protocol", text(at, x.Name))
			return *n
		}
		known := append(c.names(declAction), c.names(declProtocol)...)
		if c.broken(x.Name, at) {
			return *object(at)
		}
		c.fail(e, "missing-effect", diag.DidYouMean(x.Name, known), "%q is neither an action nor a protocol", x.Name)
		return c.calling(x.Name, at)
	case *syntax.CallExpr:
		if fn, ok := x.Fn.(*syntax.Ident); ok {
			if n, ok := c.composed(x, fn.Name, at); ok {
				return n
			}
			near = diag.DidYouMean(fn.Name, []string{"alt", "call", "ref", "repeat", "seq"})
		}
	case *syntax.ListExpr:
		set(n, at, "type", text(at, "seq"))
		children := list(at)
		for _, i := range x.List {
			children.Add(c.step(i))
		}
		set(n, at, "children", children)
		return *n
	}
	c.fail(e, "expression", near, "must be an action, a protocol, seq(...), alt(...), repeat(MIN, MAX, ...), call(\"ACTION\") or ref(\"PROTOCOL\")")
	return *n
}

func (c *compiler) composed(x *syntax.CallExpr, name string, at doctree.Pos) (node, bool) {
	pos, named := c.arguments(x)
	n := object(at)
	key, items := "", list(at)
	switch name {
	case "call", "ref":
		if len(pos) != 1 {
			return *n, false
		}
		set(n, at, "type", text(at, name))
		set(n, at, map[string]string{"call": "action", "ref": "protocol"}[name], c.reading(pos[0]))
	case "seq":
		key = "children"
		for _, e := range pos {
			items.Add(c.step(e))
		}
	case "alt":
		key = "branches"
		for _, e := range pos {
			items.Add(c.alternative(e))
		}
	case "repeat":
		if len(pos) != 3 {
			c.fail(x, "arity", "", "must be repeat(MIN, MAX, NODE)")
			return *n, true
		}
		set(n, at, "type", text(at, name))
		set(n, c.position(pos[0]), "min", c.literal(pos[0]))
		set(n, c.position(pos[1]), "max", c.literal(pos[1]))
		set(n, c.position(pos[2]), "body", c.step(pos[2]))
	default:
		return *n, false
	}
	if key != "" {
		set(n, at, "type", text(at, name))
		set(n, at, key, items)
	}
	for _, a := range named { // keys that only call has; in an action they have another meaning
		c.unknown(a.at, a.name, name, nil)
	}
	return *n, true
}

// alternative translates an action, or branch(NODE, id = "...", weight = 1, when = CONDITION).
func (c *compiler) alternative(e syntax.Expr) node {
	at := c.position(e)
	switch x := e.(type) {
	case *syntax.Ident:
		if _, ok := c.acts[x.Name]; ok {
			return c.branchOf(x.Name, at)
		}
		n := object(at)
		set(n, at, "id", text(at, x.Name))
		set(n, at, "weight", integer(at, 1))
		set(n, at, "body", c.step(e))
		return *n
	case *syntax.CallExpr:
		if !isCall(e, "branch") {
			break
		}
		pos, named := c.arguments(x)
		if len(pos) != 1 {
			c.fail(e, "arity", "", "must be branch(NODE, id = \"...\", weight = 1, when = CONDITION)")
			return *object(at)
		}
		n := object(at)
		if id, ok := pos[0].(*syntax.Ident); ok && c.acts[id.Name] != nil {
			*n = c.branchOf(id.Name, at)
		} else {
			set(n, at, "weight", integer(at, 1))
			set(n, at, "body", c.step(pos[0]))
		}
		for _, a := range named {
			switch a.name {
			case "id", "weight":
				set(n, c.position(a.at), a.name, c.literal(a.value))
			case "when":
				v, beyond := c.condition(a.value, scope{others: c.everywhere()})
				c.setExpr(n, c.position(a.at), "guard", v, beyond, "$.protocols (a branch)")
			}
		}
		return *n
	}
	c.fail(e, "expression", "", "must be an action or branch(NODE, id = \"...\")")
	return *object(at)
}
