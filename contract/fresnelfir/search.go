package fresnelfir

import (
	"iter"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/choice"
)

// If an epoch has shown nothing new and something is still uncovered, the model is searched for a
// way to it. A step of the model alone is so cheap that all ways of making its decisions can be
// tried: from each state found, nearest to the aims first, all next steps are taken. Ways that
// reach something new become tapes, with which the first cases of the next epoch begin on the
// module. The search is measured in moves, so that it is the same everywhere.

// Limits of the search.
const (
	firstMoves  = 500    // of the first search; each search without a result doubles it
	mostMoves   = 32_000 // of all searches together
	idleMoves   = 4_000  // of the first search when everything is covered; each further one has twice as many,
	idleShare   = 32     // as long as these moves stay within idleMoves plus one per so many actions
	maxPaths    = 16     // ways that one search returns
	maxFan      = 256    // steps from one state
	replayShare = 8      // steps of a tape that count as one move
	maxRoots    = 64     // states with which a search begins, for starts and for the corpus each
	maxLimit    = 16     // values of an actor's field that are tried
)

// search is one search.
type search struct {
	t     *traversal // runs the model alone
	goals *goals
	known map[string]bool // visited states
	front frontier
	moves int
	most  int
	over  bool // everything reachable has been visited
	paths [][]uint64
	key   []byte
}

// lookFor searches the model for ways to what is uncovered, and to breaches of properties.
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

// starts tries the ways in which a traversal may begin, with 1 + more threads.
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

// eachAlternative tries the alternatives of the decisions that free allows to vary, after the first
// ones on the tape. run makes the decisions.
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

// ways makes the decisions after the first ones on the tape in every way that free allows, like an
// odometer; run makes them. It yields their marks, and whether the result differs from the earlier
// ones.
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

// arrive handles the state that the traversal is in.
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

// hunt searches if the last epoch has shown nothing new and the document allows branches to be
// forced for that. If everything is covered, there is less to find, and a search gets fewer moves.
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

// gaveUp reports whether no further search is made: enough have been made, or the last one visited
// everything reachable and nothing has changed since.
func (s *state) gaveUp() bool {
	return s.moves+firstMoves > mostMoves || s.through == s.entries+1 && len(s.paths) == 0
}

// path returns the decisions with which a case begins; nil: it is free.
func (s *state) path(index int64) []uint64 {
	if s == nil || index < s.cases || index-s.cases >= int64(len(s.paths)) {
		return nil
	}
	return s.paths[index-s.cases]
}

// holdsAlone reports whether a condition holds in the model alone.
func holdsAlone(m *model.Machine, code model.Code) bool {
	v, ok := m.Modelled(code)
	return ok && v == model.True
}
