package fresnelfir

import (
	"container/heap"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/seq"
)

// searchTarget is something that a search works towards: taking a branch that was never taken, or
// breaking a property.
type searchTarget struct {
	far      model.Distance
	branch   event // for a branch
	property string
	over     bool // the search has reached it
}

// maxAims is how many aims one search has, which share the moves.
const maxAims = 12

// choose picks some of all aims, different ones in every search.
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

// distances returns how far the traversal is from each aim, for the nearest thread.
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

// aim is what a search needs to know about a branch's guard.
type aim struct {
	far   model.Distance
	parts []conjunct
}

// compileAims fills plan.aims. The program already contains all texts of guards and does not
// change.
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

// conjunct is one of the conditions that a guard requires.
type conjunct struct {
	code   model.Code
	inputs bool       // it reads inputs
	wide   int        // a large domain that is compared with other; -1: none
	other  model.Code // reads no input
}

// compileParts splits a guard into its conditions.
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

// spot is a state of the model that the search has reached.
type spot struct {
	at    *kept
	far   []float64 // distance from each aim
	depth int
	order int
	done  bool
}

// nearest is a queue of states for one aim: nearest first, then fewest steps first.
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

// frontier holds the states from which the search may continue. Every other turn goes to a state
// with a new fact, one that was true in no state before, or with new looks of its instances (after
// the novelty of Lipovetzky and Geffner, 2012). In the remaining turns, the nearest states of the
// aims alternate with the states in the order in which they were reached, so that those that look
// far away get their turn too.
type frontier struct {
	aims   []searchTarget
	queues []nearest
	all    []*spot // in the order in which they were reached
	met    int
	fresh  []*spot
	facts  map[uint64]bool
	list   []uint64
	turn   int
	novel  bool // the last turn went to a new state
	bytes  int
}

// maxFrontier limits the memory of a frontier's states, in bytes; further states are dropped.
const maxFrontier = 64 << 20

// add adds the traversal's current state.
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

// next returns the state to continue from; nil: none.
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

// first returns the first unused state of a list, and removes the used ones before it.
func first(list *[]*spot) *spot {
	for len(*list) > 0 && (*list)[0].done {
		*list = (*list)[1:]
	}
	if len(*list) == 0 {
		return nil
	}
	return (*list)[0]
}

// leave frees a used state.
func (f *frontier) leave(p *spot) {
	f.bytes -= p.at.size
	p.at = nil
}
