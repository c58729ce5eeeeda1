package fresnelfir

import (
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/walk"
)

// state is what a campaign has learned between two epochs. It is never changed
// once a round has seen it.
type state struct {
	epoch int
	totals
	learner
	seedPool
	searched
	failures map[string]bool // that were met, by failureKey and by subject
	broken   uint64          // properties that the model alone breaks, as bits
	exceeds  bool            // effects give fields what their declarations exclude
}

// totals is how far the exploration has come.
type totals struct {
	cases   int64
	actions int64
	failed  int64
	hits    counter              // of nodes and of branches in their states
	taken   counter              // of branches, in all states together
	closed  counter              // guards that did not hold
	stuck   counter              // alternatives with no branch open
	tried   []int64              // by property
	cut     int64                // walks that were cut
	reached []bool               // by input combination
	edges   []uint64             // points of the module's code that were reached, as bits
	models  int                  // states of the model, and situations, that were met
	quiet   int                  // epochs since anything new was reached
	curve   *history[[2]float64] // coverage of calls and branches, by actions, after each epoch
}

// learner is how likely walks are to take what.
type learner struct {
	learned  map[event]float64   // factors on a branch's weight, in its state
	forced   map[event]int       // branches that are favoured, for so many more epochs
	floors   map[event]float64   // factors that keep branches likely that were never taken
	plain    [][]float64         // by node: weights of its branches, but for what was learned of states
	weights  map[event][]float64 // the same with it, by alternative and state
	limit    int                 // repetitions end early; 0: they do not
	hints    [][]uint64          // by domain: places of values to try
	tries    map[int]int64       // by action: how often it was tried though not allowed
	timeouts map[event]int       // by branch: calls that did not end
	skipped  map[event]int       // branches that are left aside, for so many more epochs
	wide     int                 // observers are asked about more instances, for so many more epochs
	log      *history[directive] // what was decided, with its cause
}

// seedPool is beginnings that reached something new.
type seedPool struct {
	corpus  []entry // by number
	entries int64   // that the corpus ever had
	numbers int     // in the tapes of the corpus
}

// searched is what was looked for on the model, towards what is uncovered.
type searched struct {
	paths    [][]uint64 // ways that were found, for the next cases
	searches int        // that found nothing
	moves    int        // of these searches
	idle     int        // searches while nothing was uncovered
	idled    int        // their moves
	through  int64      // one more than the entries that the corpus had when a search had no move left
}

// directive is a change to how the protocol is explored.
type directive struct {
	epoch  int
	kind   string
	target string
	cause  string
}

func newState(p *plan) *state {
	return &state{
		totals: totals{tried: make([]int64, p.program.Properties()), reached: make([]bool, len(p.space.targets))},
		learner: learner{
			learned: map[event]float64{}, forced: map[event]int{}, tries: map[int]int64{}, timeouts: map[event]int{}, skipped: map[event]int{},
		},
		failures: map[string]bool{},
	}
}

func (s *state) clone() *state {
	c := *s
	c.totals, c.learner = s.totals.clone(), s.learner.clone()
	c.corpus = slices.Clone(s.corpus)
	return &c
}

func (p *totals) clone() totals {
	c := *p
	c.hits, c.taken, c.closed, c.stuck = p.hits.clone(), p.taken.clone(), p.closed.clone(), p.stuck.clone()
	c.tried, c.reached, c.edges = slices.Clone(p.tried), slices.Clone(p.reached), slices.Clone(p.edges)
	return c
}

func (l *learner) clone() learner {
	c := *l
	c.learned, c.forced = maps.Clone(l.learned), maps.Clone(l.forced)
	c.tries, c.skipped, c.timeouts = maps.Clone(l.tries), maps.Clone(l.skipped), maps.Clone(l.timeouts)
	c.hints = slices.Clone(l.hints)
	for i := range c.hints {
		c.hints[i] = slices.Clone(c.hints[i])
	}
	return c
}

// key is where what is learned of a branch is kept.
func (p *plan) key(at int, open uint64, child int) event {
	if p.doc.Exploration.Scope == "per_alt_branch" {
		open = 0
	}
	return event{eventBranch, at, open, child}
}

// forceFactor is how much a forced branch is favoured.
const forceFactor = 8

// skipFactor is what is left of a branch's weight that is skipped.
const skipFactor = 0.01

// weigh works out how likely the branches are by what was learned, so that walks
// need not.
func (s *state) weigh(p *plan) {
	s.plain, s.weights = make([][]float64, len(p.nodes)), map[event][]float64{}
	for at := range p.nodes {
		for i, b := range p.nodes[at].branches {
			e, w := event{kind: eventBranch, node: at, child: i}, b.weight
			if f, ok := s.floors[e]; ok {
				w *= f
			}
			if s.forced[e] > 0 {
				w *= forceFactor
			}
			if s.skipped[e] > 0 {
				w *= skipFactor
			}
			s.plain[at] = append(s.plain[at], w)
		}
	}
	for e, f := range s.learned {
		k := event{eventBranch, e.node, e.state, 0}
		if s.weights[k] == nil {
			s.weights[k] = slices.Clone(s.plain[e.node])
		}
		s.weights[k][e.child] *= f
	}
}

// weightsOf are how likely the branches of an alternative are, if all of them
// are open; open are those that are.
func (s *state) weightsOf(p *plan, at int, open uint64) []float64 {
	if s == nil || s.plain == nil {
		return p.nodes[at].weights
	}
	if w, ok := s.weights[p.key(at, open, 0)]; ok {
		return w
	}
	return s.plain[at]
}

// loopLimit reports whether a repetition is to end by what was learned.
func (s *state) loopLimit(p *plan, at, count int) bool {
	return s != nil && s.limit > 0 && count >= max(s.limit, p.grammar.Nodes[at].Min)
}

// maxFailures is how many failures are remembered to recognize new ones.
const maxFailures = 1000

// fails notes a failure.
func (s *state) fails(kind, subject, cause string) {
	if k := failureKey(kind, subject, cause); !s.failures[k] && len(s.failures) < maxFailures {
		s.failures = maps.Clone(s.failures) // the state before has it too
		s.failures[k], s.failures[subject] = true, true
	}
}

// breaks notes that the model alone breaks a property.
func (s *state) breaks(doc *ir.Document, property string) {
	for i, x := range doc.Properties {
		if x.Name == property && 1<<i < excessFirst {
			s.broken |= 1 << i
		}
	}
}

// add folds one case in: it returns what the case reached first, and the branch
// that it took last if it failed.
func (s *state) add(t tally, p *plan) (fresh []event, last *event) {
	s.cases++
	s.actions += int64(t.actions)
	for i, e := range t.events {
		n := int64(t.counts[i])
		switch e.kind {
		case eventNode, eventBranch, eventModel, eventSituation:
			if e.ofModel() && s.models == maxModels && s.hits.of(e) == 0 {
				continue
			}
			if s.hits.add(e, n) == 0 {
				fresh = append(fresh, e)
				if e.ofModel() {
					s.models++
				}
			}
			if e.kind == eventBranch {
				s.taken.add(event{kind: eventBranch, node: e.node, child: e.child}, n)
			}
		case eventClosed:
			s.closed.add(e, n)
		case eventExcess:
			s.exceeds = true
		case eventStuck:
			s.stuck.add(e, n)
		case eventTried:
			if e.node < len(s.tried) {
				s.tried[e.node] += n
			}
		case eventLast:
			last = &event{eventBranch, e.node, e.state, e.child}
		case eventCut:
			s.cut += n
		case eventEdge:
			if s.reach(e.child) {
				fresh = append(fresh, e)
			}
		case eventHint:
			s.learn(e.node, e.state)
		case eventAttempt:
			s.tries[e.node] += n
		}
	}
	for _, row := range t.rows {
		for i := range p.space.targets {
			s.reached[i] = s.reached[i] || holds(&p.space.targets[i], row)
		}
	}
	if len(fresh) > 0 && t.tape != nil {
		if tape, err := choice.Decode(t.tape); err == nil {
			s.collect(tape, t.cuts)
		}
	}
	return fresh, last
}

// maxModels is how many states of the model, and situations in them, are told
// apart; later ones are nothing new.
const maxModels = 1 << 15

// ofModel reports whether an event is about a state of the model.
func (e *event) ofModel() bool { return e.kind == eventModel || e.kind == eventSituation }

// isNew reports whether an event is something new to the state.
func (s *state) isNew(e event) bool {
	return (e.kind <= eventBranch || e.ofModel() && s.models < maxModels) && s.hits.of(e) == 0 || e.kind == eventEdge
}

func holds(c *combination, row []int) bool {
	for k, d := range c.params {
		if d >= len(row) || row[d] != c.values[k] {
			return false
		}
	}
	return true
}

// branchHits is how often a branch was taken, in any state.
func (s *state) branchHits(at, child int) int64 {
	return s.taken.of(event{kind: eventBranch, node: at, child: child})
}

// sortedClosed are the branches that were met and closed, by alternative and state.
func (s *state) sortedClosed() []event {
	list := make([]event, 0, s.closed.used)
	for e := range s.closed.all() {
		list = append(list, e)
	}
	slices.SortFunc(list, compare)
	return list
}

// progress counts the calls and branches of the protocols that were reached, of
// those that can be.
func (s *state) progress(p *plan) (hit, total int) {
	for at := range p.nodes {
		n := &p.nodes[at]
		if n.kind == walk.Call && n.unreachable == "" {
			total++
			if s.hits.of(event{kind: eventNode, node: at}) > 0 {
				hit++
			}
		}
		for i := range n.branches {
			if n.branches[i].unreachable != "" {
				continue
			}
			total++
			if s.branchHits(at, i) > 0 {
				hit++
			}
		}
	}
	return hit, total
}

// byEpoch is the coverage of calls and branches after each epoch, from before
// the first.
func (s *state) byEpoch() [][2]float64 {
	list := append([][2]float64{{}}, s.curve.all()...)
	for i := range list {
		list[i][0] = float64(i)
	}
	return list
}
