package lang

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
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

// translated is an action as it was translated. It is kept if there is nothing to say of it.
type translated struct {
	*action         // as it is after the translation of the whole source
	effect, binding node
	valued          map[string]bool
	expanded        int
	asked           []declared // functions whose bodies it depends on
	acted           bool       // it depends on who acts
	said            diag.List
	further         []Further
	vague           map[int]bool
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
		case declRecord:
			n.stmt = d.stmt
		case declInput, declDerived, declRefinement, declObserver:
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
		!maps.EqualFunc(x.vars, was.vars, maps.Equal) || was.actor != nil && *was.actor != c.actor() {
		c.before = kept{}
	}
	c.now = kept{x, make(map[syntax.Stmt]*translated, len(c.acts))}
}

// manyActions are worth more than one thread.
const manyActions = 64

// ahead translates the actions that are not kept, if they are many, in several threads: none
// depends on another, nor on what is translated after look.
func (c *compiler) ahead() {
	var fresh []*action
	for _, d := range c.order {
		if d.kind == declAction && c.known(d) == nil {
			fresh = append(fresh, c.acts[d.name])
		}
	}
	if len(fresh) < manyActions {
		return
	}
	c.everywhere()
	done := make([]*translated, len(fresh))
	var all sync.WaitGroup
	for from, n := 0, (len(fresh)-1)/runtime.GOMAXPROCS(0)+1; from < len(fresh); from += n {
		all.Go(func() {
			expanded := 0
			for i := from; i < min(from+n, len(fresh)); i++ {
				x := c.translated(fresh[i], expanded)
				if expanded += x.expanded; expanded > mostExpanded {
					return
				}
				done[i] = x
			}
		})
	}
	all.Wait()
	for i, x := range done {
		if x != nil {
			c.fresh[fresh[i].d.stmt] = x
		}
	}
}

// known is an action that was translated before; nil: it was not.
func (c *compiler) known(d *decl) *translated {
	x := c.before.actions[d.stmt]
	if x == nil || slices.ContainsFunc(x.asked, func(n declared) bool { return c.decls[n.kind][n.name].stmt != n.stmt }) {
		return c.fresh[d.stmt]
	}
	return x
}

// translated translates an action and changes nothing else; expanded is how often values took
// the places of their names before.
func (c *compiler) translated(a *action, expanded int) *translated {
	own, model, as := *c, *c.model, *a
	model.Vague = map[int]bool{}
	own.model, own.list, own.further, own.valued, own.asked, own.expanded = &model, nil, nil, map[string]bool{}, nil, expanded
	own.acted = false
	b := own.action(&as, c.position(a.d.stmt))
	return &translated{&as, b.effect, b.binding, own.valued, own.expanded - expanded, own.asked, own.acted, own.list, own.further, model.Vague}
}

// enter adds an action to the document.
func (c *compiler) enter(a *action) {
	x := c.known(a.d)
	if x == nil || c.expanded+x.expanded > mostExpanded {
		x = c.translated(a, c.expanded)
	}
	d := a.d
	*a = *x.action
	a.d = d
	c.expanded, c.acted = c.expanded+x.expanded, c.acted || x.acted
	c.list, c.further = append(c.list, x.said...), append(c.further, x.further...)
	maps.Copy(c.model.Vague, x.vague)
	maps.Copy(c.valued, x.valued)
	if len(x.said)+len(x.vague) == 0 {
		now := *x
		now.action = a
		c.now.actions[d.stmt] = &now
	}
	add(c.section("effects"), x.effect.Pos, d.name, x.effect) // each is declared once
	add(c.section("bindings", "actions"), x.binding.Pos, d.name, x.binding)
}
