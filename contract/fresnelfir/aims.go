package fresnelfir

import (
	"container/heap"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/seq"
)

// searchTarget is something that a search works towards: a branch that was never taken,
// or a breach of a property.
type searchTarget struct {
	far      model.Distance
	branch   event // of a branch
	property string
	over     bool // the search has come to it
}

// maxAims is how many aims one search has: each gets its share of the moves.
const maxAims = 12

// choose takes some of all aims, others with every search.
func (g *goals) choose() {
	var all []searchTarget
	for _, e := range g.branches {
		all = append(all, searchTarget{far: g.p.aims()[e.node][e.child].far, branch: e})
	}
	for i, far := range g.p.breaking {
		if name := g.p.program.Property(i); !g.s.failures[name] {
			all = append(all, searchTarget{far: far, property: name})
		}
	}
	for k := range min(len(all), maxAims) {
		g.aims = append(g.aims, all[(g.s.searches*maxAims+k)%len(all)])
	}
}

// distances are how far the traversal is from each aim; for the thread that is
// nearest to it.
func (g *goals) distances(t *traversal) []float64 {
	list := make([]float64, len(g.aims))
	for n, i := range t.alive {
		t.m.Act(i)
		for k := range g.aims {
			if far := g.aims[k].far(t.m); n == 0 || far < list[k] {
				list[k] = far
			}
		}
	}
	return list
}

// aim is what a search needs of a branch's guard.
type aim struct {
	far   model.Distance
	parts []conjunct
}

// compileAims makes what plan.aims says. All texts of guards are known to the program by
// now, which is not changed.
func (p *plan) compileAims() [][]aim {
	return seq.Map(p.nodes, func(n node) []aim {
		return seq.Map(n.branches, func(b branch) aim {
			if b.open {
				return aim{}
			}
			return aim{p.program.Distance(b.guard.Expr, true), p.compileParts(b.guard.Expr)}
		})
	})
}

// conjunct is a condition that a guard needs, among others.
type conjunct struct {
	code   model.Code
	inputs bool       // it asks for inputs
	wide   int        // a large domain that is compared with other; -1: none
	other  model.Code // which asks for no input
}

// compileParts takes a guard apart.
func (p *plan) compileParts(e *ir.Expr) []conjunct {
	if e.Op == ir.And {
		var list []conjunct
		for _, a := range e.Args {
			list = append(list, p.compileParts(a)...)
		}
		return list
	}
	x := conjunct{code: p.program.Condition(e).Code, inputs: p.asksInputs(e), wide: -1}
	if e.Op >= ir.Eq && e.Op <= ir.Gte {
		for k, a := range e.Args {
			other := e.Args[1-k]
			if d := p.program.Domain(a.Text); a.Input && !p.asksInputs(other) {
				x.wide, x.other = d, p.program.Condition(other).Code
			}
		}
	}
	return []conjunct{x}
}

func (p *plan) asksInputs(e *ir.Expr) bool {
	found := false
	e.Walk(func(x *ir.Expr) {
		found = found || x.Input
	})
	return found
}

// spot is a state of the model that the search came to.
type spot struct {
	at    *kept
	far   []float64 // from each aim
	depth int
	order int
	done  bool
}

// nearest is a queue of states for one aim: the nearest first, then the one with
// the fewest steps.
type nearest struct {
	list []*spot
	aim  int
}

func (q *nearest) Len() int { return len(q.list) }
func (q *nearest) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	switch {
	case a.far[q.aim] != b.far[q.aim]:
		return a.far[q.aim] < b.far[q.aim]
	case a.depth != b.depth:
		return a.depth < b.depth
	}
	return a.order < b.order
}
func (q *nearest) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }

// Push implements [heap.Interface].
func (q *nearest) Push(x any) { q.list = append(q.list, x.(*spot)) }

// Pop implements [heap.Interface].
func (q *nearest) Pop() any {
	last := len(q.list) - 1
	x := q.list[last]
	q.list = slices.Delete(q.list, last, last+1)
	return x
}

// frontier is the states from which the search may go on. Every other turn is
// that of states of which something is true that was true of none before them,
// or whose instances are like none before
// (after the novelty of Lipovetzky and Geffner, 2012). Between these the aims
// take turns to name the nearest one, and so does the order in which they were
// met, so that what looks far off gets its turn too.
type frontier struct {
	aims   []searchTarget
	queues []nearest
	all    []*spot // as they were met
	met    int
	fresh  []*spot
	facts  map[uint64]bool
	list   []uint64
	turn   int
	novel  bool // it was the turn of something new
	bytes  int
}

// maxFrontier bounds what the states of a frontier take; others are not gone on from.
const maxFrontier = 64 << 20

// add notes the state that the traversal is in.
func (f *frontier) add(t *traversal, far []float64, depth int) {
	at := t.snapshot()
	if f.bytes += at.size; f.bytes > maxFrontier {
		f.bytes -= at.size
		return
	}
	p := &spot{at: at, far: far, depth: depth, order: f.met}
	f.met++
	f.all = append(f.all, p)
	for i := range f.queues {
		heap.Push(&f.queues[i], p)
	}
	f.list = append(t.m.Facts(f.list[:0]), t.sketch)
	known := len(f.facts)
	for _, x := range f.list {
		f.facts[x] = true
	}
	if len(f.facts) > known {
		f.fresh = append(f.fresh, p)
	}
}

// next is the state to go on from; nil: there is none.
func (f *frontier) next() *spot {
	if f.novel = !f.novel; f.novel {
		if p := first(&f.fresh); p != nil {
			f.fresh = f.fresh[1:]
			return p
		}
	}
	for range len(f.queues) + 1 {
		if f.turn = (f.turn + 1) % (len(f.queues) + 1); f.turn == len(f.queues) {
			if p := first(&f.all); p != nil {
				return p
			}
			continue
		}
		for q := &f.queues[f.turn]; !f.aims[f.turn].over && q.Len() > 0; {
			if p := heap.Pop(q).(*spot); !p.done {
				return p
			}
		}
	}
	return nil
}

// first is the first state of a list that was not gone on from; those before it
// leave the list.
func first(list *[]*spot) *spot {
	for len(*list) > 0 && (*list)[0].done {
		*list = (*list)[1:]
	}
	if len(*list) == 0 {
		return nil
	}
	return (*list)[0]
}

// leave frees a state that was gone on from.
func (f *frontier) leave(p *spot) {
	f.bytes -= p.at.size
	p.at = nil
}
