package fresnelfir

import (
	"iter"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/choice"
)

// When an epoch has shown nothing new and something is still uncovered, the
// model is searched for a way to it. A step of the model alone is cheap, so that
// every decision of a step can be gone through: from each state that was found,
// the nearest to what is wanted first, all next steps are taken. Ways that reach
// something new become tapes, with which the next epoch's first cases begin on
// the module. The search is counted in moves, so that it is the same everywhere.

// Bounds of the search.
const (
	firstMoves  = 500    // of the first search; each that finds nothing is followed by one twice as long
	mostMoves   = 32_000 // of all together
	idleMoves   = 4_000  // of the first search where nothing is uncovered; the next is twice as long, and so on,
	idleShare   = 32     // where that makes no more than one move beyond these for so many actions
	maxPaths    = 16     // ways that one search tells
	maxFan      = 256    // steps from one state
	replayShare = 8      // steps of a tape that count as one move
	maxRoots    = 64     // states that a search begins with, of starts and of the corpus each
	maxLimit    = 16     // values of a field of an acting instance that are gone through
)

// search is one search.
type search struct {
	t     *traversal // of the model alone
	goals *goals
	known map[string]bool // states that were met
	front frontier
	moves int
	most  int
	over  bool // all that it can come to was gone through
	paths [][]uint64
	key   []byte
}

// lookFor searches the model for ways to what is uncovered, and to what must not be.
func (c *Campaign) lookFor(s *state, g *goals, most int) *search {
	t := newTraversal(c.plan)
	t.mod, t.in.plain, t.lenient = c.module, true, s.broken
	x := &search{t: t, goals: g, known: map[string]bool{}, most: most}
	x.front.aims, x.front.facts = g.aims, map[uint64]bool{}
	for k := range g.aims {
		x.front.queues = append(x.front.queues, nearest{aim: k})
	}
	for more := range min(int(c.plan.doc.Exploration.Threads), 2) {
		x.starts(uint64(more), most*(more+1)/8)
	}
	for from := max(0, len(s.corpus)-maxRoots); from < len(s.corpus) && x.moves < most/2; from++ {
		x.root(s.corpus[from].tape)
	}
	for x.withinBudget() {
		next := x.front.next()
		if next == nil {
			x.over = true
			break
		}
		next.done = true
		x.expand(next)
		x.front.leave(next)
	}
	return x
}

func (x *search) withinBudget() bool { return x.moves < x.most && len(x.paths) < maxPaths }

// starts goes through the ways in which a traversal may begin, with one thread
// more than more.
func (x *search) starts(more uint64, most int) {
	for _, like := range x.goals.inputGoals(x.t, true) {
		if x.moves > most {
			return
		}
		x.t.want(&like)
		x.eachAlternative(maxRoots, func(m choice.Mark, _ int) bool { return m.Limit > 0 && m.Limit <= maxLimit }, func(try []uint64) {
			x.t.src.Reset(0)
			x.t.src.Try(append([]uint64{more}, try...))
			x.t.start()
		}, 1, 0)
	}
}

// root adds the state that a tape leads to.
func (x *search) root(tape []uint64) {
	t := x.t
	t.want(nil)
	t.src.Extend(tape, 0)
	t.start()
	t.walk(len(tape))
	x.moves += 1 + t.actions/replayShare
	if t.src.Len() == len(tape) {
		x.arrive(0)
	}
}

// expand takes all next steps from a state.
func (x *search) expand(from *spot) {
	t := x.t
	t.goBack(from.at, 0)
	for i, like := range x.goals.inputGoals(t, false) {
		t.want(&like)
		drawn := false
		x.eachAlternative(maxFan, func(m choice.Mark, at int) bool { return m.Kind != choice.Number || at == 0 && t.threads > 1 }, func(try []uint64) {
			t.goBack(from.at, 0)
			t.src.Try(try)
			t.seen.reset()
			clear(t.m.Tried)
			t.src.Begin()
			t.step()
			t.src.End()
			drawn = drawn || len(t.seen.rows) > 0
		}, len(from.at.tape), from.depth+1)
		if i == 0 && !drawn {
			break // no step depends on inputs
		}
	}
}

// eachAlternative goes through the decisions that free says may be made otherwise, behind
// the first ones on the tape; run makes them.
func (x *search) eachAlternative(most int, free func(m choice.Mark, at int) bool, run func(try []uint64), behind, depth int) {
	if !x.withinBudget() {
		return
	}
	for _, fresh := range x.t.ways(behind, free, func(try []uint64) { x.moves++; run(try) }) {
		if fresh {
			x.arrive(depth)
		}
		if most--; most == 0 || !x.withinBudget() {
			return
		}
	}
}

// ways makes the decisions behind the first ones on the tape in every way that free
// allows, like an odometer; run makes them. It tells what they were about, and whether
// they did not turn out as earlier ones.
func (t *traversal) ways(behind int, free func(m choice.Mark, at int) bool, run func(try []uint64)) iter.Seq2[[]choice.Mark, bool] {
	return func(yield func([]choice.Mark, bool) bool) {
		var made []uint64
		for try := []uint64(nil); ; {
			run(try)
			tape := t.src.Tape()
			from := min(behind, len(tape.Values))
			n, tried := len(try), uint64(0)
			if n > 0 {
				tried = try[n-1]
			}
			made = append(made[:0], tape.Values[from:]...)
			marks := tape.Marks[from:]
			last, fresh := len(made), true
			if n > 0 && (n > len(made) || made[n-1] < tried) {
				last, fresh = min(n-1, len(made)), false // there is no such decision
			}
			if !yield(marks, fresh) {
				return
			}
			at := last - 1
			for ; at >= 0; at-- {
				if m := marks[at]; free(m, at) && (m.Limit == 0 || made[at]+1 < m.Limit) {
					break
				}
			}
			if at < 0 {
				return
			}
			try = made[:at+1]
			try[at]++
		}
	}
}

// arrive looks at the state that the traversal is in.
func (x *search) arrive(depth int) {
	t := x.t
	if x.goals.reached(t) || x.goals.failed(t) {
		x.paths = append(x.paths, slices.Clone(t.src.Tape().Values))
	}
	if t.failed != nil || !t.canStep() {
		return
	}
	x.key = t.m.Key(x.key[:0])
	for _, i := range t.alive {
		x.key = t.walkers[i].Sketch(append(x.key, byte(i)))
	}
	if !x.known[string(x.key)] {
		x.known[string(x.key)] = true
		x.front.add(t, x.goals.distances(t), depth)
	}
}

// hunt searches if that is called for: the last epoch has shown nothing new, and
// the document lets branches be forced for it. Where nothing is uncovered, a
// search has less to come to, and fewer moves.
func (a adaptation) hunt(c *Campaign) {
	s := a.s
	s.paths = nil
	if !a.p.listens("coverage_plateau") && !a.p.listens("guard_failure") || !slices.Contains(a.p.doc.Exploration.Directives, "force") {
		return
	}
	if s.quiet == 0 || s.cases >= c.budget || s.gaveUp() {
		return
	}
	g := c.goals(s)
	most, sum := min(firstMoves<<min(s.searches, 6), mostMoves-s.moves), &s.moves
	if !g.uncovered() {
		most, sum = idleMoves<<min(s.idle, 12), &s.idled
		if s.idled+most > idleMoves+int(s.actions/idleShare) {
			return
		}
	}
	x := c.lookFor(s, g, most)
	*sum += x.moves
	if s.paths = x.paths; len(x.paths) == 0 && sum == &s.moves {
		s.searches++
	} else if len(x.paths) == 0 {
		s.idle++
	}
	if x.over {
		s.through = s.entries + 1
	}
	for _, name := range g.found {
		a.give("force", name, "search")
	}
}

// gaveUp reports whether no further search is made: there were enough of them, or
// the last one went through all that it could come to and nothing has changed since.
func (s *state) gaveUp() bool {
	return s.moves+firstMoves > mostMoves || s.through == s.entries+1 && len(s.paths) == 0
}

// path is the way that a case is to take; nil: it is free.
func (s *state) path(index int64) []uint64 {
	if s == nil || index < s.cases || index-s.cases >= int64(len(s.paths)) {
		return nil
	}
	return s.paths[index-s.cases]
}

// holdsAlone reports whether a condition holds by the model alone.
func holdsAlone(m *model.Machine, code model.Code) bool {
	v, ok := m.Modelled(code)
	return ok && v == model.True
}
