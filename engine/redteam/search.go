package redteam

import (
	"maps"
	"math"
	"slices"

	"github.com/thresh-dev/thresh/engine/mutator"
)

// Kind is what may be drawn for some units: operators, by index, sorted, and
// strengths. Codes are the operators that are tried in one another if replies give
// no direction, the likeliest first.
type Kind struct {
	Ops, Codes  []int
	Least, Most int
}

// Config is what a search does not learn.
type Config struct {
	Seed  uint64
	Kinds []Kind
	Units []int          // the kind of each unit
	Ops   int            // operators in the registry
	Parts []bool         // for each operator: more strength changes more of the text, and the least changes little
	Steps int            // of the longest chain
	Calls int64          // approximate number of calls
	First []mutator.Link // surveyed before all operators are
}

// Proposal is a prompt to try: a chain for a unit.
type Proposal struct {
	Unit  int
	Chain []mutator.Link
	how   move
	from  string // group of the chain that it varies
	cells [2]int // cells of its parents, from 1; 0: none
}

// Result is the result of a proposal.
type Result struct {
	Chain  []mutator.Link // operators that changed the text, with their strengths
	Asked  bool           // the system replied, and the reply was judged
	Won    bool           // the judges say that it failed
	Score  float64        // 0 to 1: how near it came, if a judge says so
	Signal Signal
}

// move is how a proposal was made.
type move uint8

const (
	survey move = iota // one operator
	random             // one or two, drawn with equal weights
	nest               // a code in a code
	extend             // a parent and an operator, after or before it
	cross              // a parent and the chain of another, or its end
	tune               // another strength
	swap               // another operator at one place
	again              // the same chain
	moves
)

// cell holds chains whose replies are alike.
type cell struct {
	seen  Signal
	n     float64 // results of chains that were drawn without knowledge
	all   float64 // all results
	tries float64 // proposals that began here
	wins  float64 // successes among these
	nodes []node
}

type node struct {
	unit  int
	chain []mutator.Link
}

// group holds chains of the same operators that succeeded.
type group struct {
	key       string
	n, wins   float64 // proposals of these operators
	dull      float64 // of those made by again, prompts equal to an earlier one
	repeats   float64 // made by again
	nodes     []node
	parted    float64 // proposals that varied it
	succeeded float64
}

type cellKey struct {
	Signal
	won bool
}

// tried counts proposals and their successes.
type tried struct{ n, won float64 }

func (t tried) mean(prior float64) float64 { return (t.won + prior) / (t.n + 1) }

// Search is what a search knows. The zero value is not usable; see [New].
type Search struct {
	cfg    *Config
	usable []int              // operators that some unit takes
	nests  [][][]mutator.Link // by kind: codes alone and in one another
	round  uint64
	asked  int64
	wins   int64
	cursor int // of the survey
	nested int // nests that were tried
	cells  []cell
	byKey  map[cellKey]int
	groups []group
	byOps  map[string]int
	draw   []tried          // by operator: rarity of what it led to
	hides  []tried          // by operator: how much of the text it hides on its own
	keep   []tried          // by operator: successes of chains that it was added to
	force  map[[2]int]tried // by operator and strength: successes
	by     [moves]tried     // by how they were made
	units  []tried
}

// Limits of what is kept.
const (
	maxCells  = 192
	maxNodes  = 48
	maxGroups = 256
)

// New returns a search that knows nothing yet.
func New(cfg *Config) *Search {
	var usable []int
	for _, k := range cfg.Kinds {
		usable = append(usable, k.Ops...)
	}
	slices.Sort(usable)
	var nests [][][]mutator.Link
	for i := range cfg.Kinds {
		nests = append(nests, cfg.nests(&cfg.Kinds[i]))
	}
	return &Search{
		cfg: cfg, usable: slices.Compact(usable), nests: nests, byKey: map[cellKey]int{}, byOps: map[string]int{}, force: map[[2]int]tried{},
		draw: make([]tried, cfg.Ops), hides: make([]tried, cfg.Ops), keep: make([]tried, cfg.Ops), units: make([]tried, len(cfg.Units)),
	}
}

// Key names the operators of a chain.
func Key(chain []mutator.Link) string {
	b := make([]byte, 0, 2*len(chain))
	for _, l := range chain {
		b = append(b, byte(l.Op>>8), byte(l.Op))
	}
	return string(b)
}

// Learn returns the search after the results of a round's proposals, in order.
func (s *Search) Learn(plan []Proposal, results []Result) *Search {
	next := *s
	next.round++
	next.cells, next.groups = slices.Clone(s.cells), slices.Clone(s.groups)
	next.byKey, next.byOps, next.force = maps.Clone(s.byKey), maps.Clone(s.byOps), maps.Clone(s.force)
	next.draw, next.hides, next.keep, next.units = slices.Clone(s.draw), slices.Clone(s.hides), slices.Clone(s.keep), slices.Clone(s.units)
	for i := range results {
		next.learn(&plan[i], &results[i])
	}
	for _, p := range plan[:len(results)] {
		switch p.how {
		case survey:
			next.cursor++
		case nest:
			next.nested++
		}
	}
	return &next
}

func (s *Search) learn(p *Proposal, r *Result) {
	won := 0.0
	if r.Won {
		won = 1
	}
	s.by[p.how].n++
	s.by[p.how].won += won
	if g, ok := s.byOps[p.from]; ok && p.from != "" {
		x := &s.groups[g]
		x.parted++
		x.succeeded += won
		if p.how == again {
			x.repeats++
			if !r.Asked {
				x.dull++
			}
		}
	}
	for _, at := range p.cells {
		if at > 0 {
			s.cells[at-1].tries++
			s.cells[at-1].wins += won
		}
	}
	if !r.Asked {
		return // never sent, or not judged: it says nothing about operators
	}
	s.asked++
	if r.Won {
		s.wins++
	}
	s.units[p.Unit].n++
	s.units[p.Unit].won += won
	if len(r.Chain) == 0 {
		return
	}
	c := s.cell(cellKey{r.Signal, r.Won})
	if c.all++; p.how <= random {
		c.n++
	}
	worth := max(won, r.Score, 1/math.Sqrt(c.all))
	kept := node{p.Unit, r.Chain}
	c.keep(kept)
	for _, l := range r.Chain {
		s.draw[l.Op].n++
		s.draw[l.Op].won += worth / float64(len(r.Chain))
		t := s.force[[2]int{l.Op, l.Strength}]
		s.force[[2]int{l.Op, l.Strength}] = tried{t.n + 1, t.won + worth}
	}
	if len(r.Chain) == 1 {
		h := &s.hides[r.Chain[0].Op]
		h.n++
		h.won += float64(r.Signal.Hidden) / most
	}
	if p.from != "" { // the success judges what was added or kept
		for _, l := range r.Chain {
			s.keep[l.Op].n++
			s.keep[l.Op].won += won
		}
	}
	if g := s.group(Key(r.Chain), r.Won); g != nil {
		g.n++
		g.wins += won
		if r.Won {
			g.keep(kept)
		}
	}
}

// cell returns the cell of a key; if there are many, further keys share one.
func (s *Search) cell(k cellKey) *cell {
	i, ok := s.byKey[k]
	if !ok {
		if i = len(s.cells); i == maxCells {
			i--
		} else {
			s.cells = append(s.cells, cell{seen: k.Signal})
		}
		s.byKey[k] = i
	}
	return &s.cells[i]
}

// group returns the group of a chain's operators, and makes it after a success; nil:
// none.
func (s *Search) group(key string, won bool) *group {
	i, ok := s.byOps[key]
	if !ok && (!won || len(s.groups) == maxGroups) {
		return nil
	}
	if !ok {
		i = len(s.groups)
		s.groups = append(s.groups, group{key: key})
		s.byOps[key] = i
	}
	return &s.groups[i]
}

// keep adds a node, replacing one of the same operators. If there are too many, the
// longest goes, or the oldest of equally long ones.
func (c *cell) keep(n node) { c.nodes = kept(c.nodes, n) }

func (g *group) keep(n node) { g.nodes = kept(g.nodes, n) }

func kept(nodes []node, n node) []node {
	nodes = slices.Clone(nodes)
	for i := range nodes {
		if sameOps(nodes[i].chain, n.chain) && nodes[i].unit == n.unit {
			nodes[i] = n
			return nodes
		}
	}
	if len(nodes) == maxNodes {
		worst := 0
		for i := range nodes {
			if len(nodes[i].chain) > len(nodes[worst].chain) {
				worst = i
			}
		}
		nodes = slices.Delete(nodes, worst, worst+1)
	}
	return append(nodes, n)
}

func sameOps(a, b []mutator.Link) bool {
	return slices.EqualFunc(a, b, func(x, y mutator.Link) bool { return x.Op == y.Op })
}
