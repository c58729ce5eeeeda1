package fresnelfir

import (
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/walk"
)

// state is what a campaign has learned up to an epoch. Once a round has used it, it never changes.
type state struct {
	epoch int
	totals
	learner
	seedPool
	searched
	failures map[string]bool // failures seen, by failureKey and by subject
	broken   uint64          // properties that the model alone breaks, as bits
	exceeds  bool            // effects assign values that declarations exclude
}

// totals is the progress of the exploration.
type totals struct {
	cases   int64
	actions int64
	failed  int64
	hits    counter              // of nodes, and of branches in their states
	taken   counter              // of branches, over all states
	closed  counter              // guards that did not hold
	stuck   counter              // alternatives with no branch open
	tried   []int64              // by property
	cut     int64                // walks that were cut
	reached []bool               // by input combination
	edges   []uint64             // points of the module's code reached, as bits
	models  int                  // number of states of the model, and situations, seen
	quiet   int                  // epochs since anything new was reached
	curve   *history[[2]float64] // coverage of calls and branches, by actions, after each epoch
}

// learner determines how likely walks are to take each branch.
type learner struct {
	learned  map[event]float64   // factors on a branch's weight, in a state
	forced   map[event]int       // favoured branches, with the epochs left
	floors   map[event]float64   // factors that keep branches likely that were never taken
	plain    [][]float64         // by node: weights of its branches, without what was learned in single states
	weights  map[event][]float64 // the same with it, by alternative and state
	limit    int                 // repetitions after which loops end; 0: no limit
	hints    [][]uint64          // by domain: indices of values to try
	tries    map[int]int64       // by action: how often it was tried although not allowed
	timeouts map[event]int       // by branch: calls that did not end
	skipped  map[event]int       // skipped branches, with the epochs left
	wide     int                 // epochs left in which observers are asked about more instances
	log      *history[directive] // directives given, with causes
}

// seedPool holds beginnings that reached something new.
type seedPool struct {
	corpus  []entry // by number
	entries int64   // number of entries ever added
	numbers int     // total length of the tapes
}

// searched is the state of the searches on the model for what is uncovered.
type searched struct {
	paths    [][]uint64 // ways found, for the next cases
	searches int        // searches that found nothing
	moves    int        // moves of all searches
	idle     int        // searches while everything was covered
	idled    int        // moves of these
	through  int64      // s.entries + 1 at the last search that visited everything reachable
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

// key returns the key under which what is learned about a branch is stored.
func (p *plan) key(at int, open uint64, child int) event {
	if p.doc.Exploration.Scope == "per_alt_branch" {
		open = 0
	}
	return event{eventBranch, at, open, child}
}

// forceFactor is the factor on the weight of a forced branch.
const forceFactor = 8

// skipFactor is the factor on the weight of a skipped branch.
const skipFactor = 0.01

// weigh precomputes the branches' weights from what was learned, for use in walks.
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

// weightsOf returns the weights of an alternative's branches if all are open. open are the branches
// that are.
func (s *state) weightsOf(p *plan, at int, open uint64) []float64 {
	if s == nil || s.plain == nil {
		return p.nodes[at].weights
	}
	if w, ok := s.weights[p.key(at, open, 0)]; ok {
		return w
	}
	return s.plain[at]
}

// loopLimit reports whether a learned limit ends a repetition.
func (s *state) loopLimit(p *plan, at, count int) bool {
	return s != nil && s.limit > 0 && count >= max(s.limit, p.grammar.Nodes[at].Min)
}

// maxFailures is how many failures are remembered to recognize new ones.
const maxFailures = 1000

// fails notes a failure.
func (s *state) fails(kind, subject, cause string) {
	if k := failureKey(kind, subject, cause); !s.failures[k] && len(s.failures) < maxFailures {
		s.failures = maps.Clone(s.failures) // the previous state shares the map
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

// add adds the result of one case. It returns what the case reached first and, if it failed, the
// last branch it took.
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

// maxModels is how many states of the model, and situations in them, are distinguished; later ones
// do not count as new.
const maxModels = 1 << 15

// ofModel reports whether an event is about a state of the model.
func (e *event) ofModel() bool { return e.kind == eventModel || e.kind == eventSituation }

// isNew reports whether an event is new.
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

// branchHits returns how often a branch was taken, in any state.
func (s *state) branchHits(at, child int) int64 {
	return s.taken.of(event{kind: eventBranch, node: at, child: child})
}

// sortedClosed returns the branches that were reached and closed, by alternative and state.
func (s *state) sortedClosed() []event {
	list := make([]event, 0, s.closed.used)
	for e := range s.closed.all() {
		list = append(list, e)
	}
	slices.SortFunc(list, compare)
	return list
}

// progress counts the calls and branches of the protocols: those reached, and those reachable.
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

// byEpoch returns the coverage of calls and branches after each epoch, beginning before the first.
func (s *state) byEpoch() [][2]float64 {
	list := append([][2]float64{{}}, s.curve.all()...)
	for i := range list {
		list[i][0] = float64(i)
	}
	return list
}
