package lang

import (
	"maps"
	"slices"
	"sync/atomic"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/starbox"
)

// Compiler translates sources, the next one with less work if most of it is that of the one
// before: it keeps that one's statements, and its actions as they were translated. It is safe
// for concurrent use.
type Compiler struct {
	parser starbox.Parser
	kept   atomic.Pointer[kept]
}

// kept is what is kept of a source, which nothing changes any more.
type kept struct {
	around  surroundings
	actions map[syntax.Stmt]*translated // a statement that is in both sources is the same
}

// surroundings are all that the translation of an action depends on outside of its own text.
type surroundings struct {
	names []declared
	vars  map[string]map[string]bool
	actor *string
}

// declared is a declaration as actions see it.
type declared struct {
	kind declKind
	name string
	stmt syntax.Stmt // nil: its name alone
}

// translated is an action of which there was nothing to say.
type translated struct {
	*action         // as it is after the translation of the whole source
	effect, binding node
	valued          map[string]bool
	expanded        int
}

// look sees the surroundings of the actions. If they are not those of the source before, its
// actions are of no use.
func (c *compiler) look() {
	x := surroundings{vars: c.vars}
	for _, d := range c.order {
		n := declared{kind: d.kind, name: d.name}
		switch d.kind {
		case declEntity:
			if slices.ContainsFunc(c.shapes(d), func(p part) bool { return p.word != "" }) {
				n.stmt = d.stmt
			}
		case declRecord, declDerived, declRefinement:
			n.stmt = d.stmt
		case declInput, declObserver:
		default:
			continue
		}
		x.names = append(x.names, n)
	}
	for _, w := range c.awaits {
		x.names = append(x.names, declared{declProperty, w.d.name, w.d.stmt})
	}
	if c.before.around.actor != nil {
		c.entityOf("actor", scope{})
	}
	if was := c.before.around; c.noting || !slices.Equal(x.names, was.names) ||
		!maps.EqualFunc(x.vars, was.vars, maps.Equal) || was.actor != nil && *was.actor != *c.actor {
		c.before = kept{}
	}
	c.now = kept{x, make(map[syntax.Stmt]*translated, len(c.acts))}
}

// enter adds an action to the document. The translation of one of which there is something to
// say is not kept.
func (c *compiler) enter(a *action, at doctree.Pos) {
	x := c.before.actions[a.d.stmt]
	if x != nil && c.expanded+x.expanded <= mostExpanded {
		d := a.d
		*a = *x.action
		a.d = d
		c.expanded += x.expanded
		c.now.actions[d.stmt] = &translated{a, x.effect, x.binding, x.valued, x.expanded}
	} else {
		said, vague, valued, expanded := len(c.list), c.model.Vague, c.valued, c.expanded
		c.model.Vague, c.valued = map[int]bool{}, map[string]bool{}
		b := c.action(a, at)
		x = &translated{a, b.effect, b.binding, c.valued, c.expanded - expanded}
		if len(c.list) == said && len(c.model.Vague) == 0 {
			c.now.actions[a.d.stmt] = x
		}
		maps.Copy(vague, c.model.Vague)
		c.model.Vague, c.valued = vague, valued
	}
	maps.Copy(c.valued, x.valued)
	add(c.section("effects"), x.effect.Pos, a.d.name, x.effect) // each is declared once
	add(c.section("bindings", "actions"), x.binding.Pos, a.d.name, x.binding)
}
