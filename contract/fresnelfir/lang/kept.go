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

// Compiler translates sources. A source that is mostly the previous one takes less work, because
// the Compiler keeps that one's statements and translated actions. It is safe for concurrent use.
type Compiler struct {
	parser starbox.Parser
	kept   atomic.Pointer[kept]
}

// kept is what remains of a source. It is immutable.
type kept struct {
	around  surroundings
	actions map[syntax.Stmt]*translated // a statement that both sources share is the same object
}

// surroundings are everything outside an action's own text that its translation depends on.
type surroundings struct {
	names []declared
	vars  map[string]map[string]bool
	actor *string
}

// declared is a declaration as actions see it.
type declared struct {
	kind declKind
	name string
	stmt syntax.Stmt // nil: only the name matters
}

// translated is a translated action. It is kept if it caused no diagnostics.
type translated struct {
	*action         // in its state after the whole source was translated
	effect, binding node
	valued          map[string]bool
	expanded        int
	asked           []declared // functions whose bodies it depends on
	acted           bool       // it depends on the actor
	said            diag.List
	further         []Further
	vague           map[int]bool
}

// look collects the surroundings of the actions. If they differ from the previous source's, it
// drops that one's actions.
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

// manyActions is how many actions justify several threads.
const manyActions = 64

// ahead translates the actions that are not kept in several threads, if there are many. Actions
// depend neither on each other nor on anything translated after look.
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
			own, expanded := c.alone(), 0
			for i := from; i < min(from+n, len(fresh)); i++ {
				x := own.translated(fresh[i], expanded)
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

// known returns an action translated before; nil if there is none.
func (c *compiler) known(d *decl) *translated {
	x := c.before.actions[d.stmt]
	if x == nil || slices.ContainsFunc(x.asked, func(n declared) bool { return c.decls[n.kind][n.name].stmt != n.stmt }) {
		return c.fresh[d.stmt]
	}
	return x
}

// alone returns a compiler that translates actions without changing anything else.
func (c *compiler) alone() *compiler {
	own, model := *c, *c.model
	own.model, own.near = &model, map[string]string{}
	return &own
}

// translated translates an action. expanded is how many names have been replaced by values before.
// The compiler must be from [compiler.alone].
func (c *compiler) translated(a *action, expanded int) *translated {
	as := *a
	c.model.Vague, c.list, c.further, c.valued, c.asked, c.expanded, c.acted = map[int]bool{}, nil, nil, map[string]bool{}, nil, expanded, false
	b := c.action(&as, c.position(a.d.stmt))
	return &translated{&as, b.effect, b.binding, c.valued, c.expanded - expanded, c.asked, c.acted, c.list, c.further, c.model.Vague}
}

// enter adds an action to the document.
func (c *compiler) enter(a *action) {
	x := c.known(a.d)
	if x == nil || c.expanded+x.expanded > mostExpanded {
		x = c.alone().translated(a, c.expanded)
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
	add(c.section("effects"), x.effect.Pos, d.name, x.effect) // each action is declared once
	add(c.section("bindings", "actions"), x.binding.Pos, d.name, x.binding)
}
