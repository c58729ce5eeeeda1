package redteam

import (
	"math"
	"slices"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/splitmix"
)

// prng is a random generator whose draws a seed decides.
type prng uint64

func (d *prng) next() uint64          { return splitmix.Next((*uint64)(d)) }
func (d *prng) below(n int) int       { return int(d.next() % uint64(n)) }
func (d *prng) float() float64        { return float64(d.next()>>11) / (1 << 53) }
func (d *prng) chance(p float64) bool { return d.float() < p }

// wheel is a list of running weights to draw from.
type wheel []float64

func (w *wheel) add(x float64) {
	if n := len(*w); n > 0 {
		x += (*w)[n-1]
	}
	*w = append(*w, x)
}

// draw returns an index, drawn by weight.
func (w wheel) draw(d *prng) int {
	i, _ := slices.BinarySearch(w, d.float()*w[len(w)-1])
	return min(i, len(w)-1)
}

// planner makes the proposals of one round.
type planner struct {
	*Search
	dice    prng
	parents wheel // cells
	good    wheel // groups, to vary
	same    wheel // groups, to try again
	how     wheel // moves from a group
	alike   bool  // all replies are alike
	most    int   // largest number of nests of a kind
	unit    wheel
	likely  []wheel // operators of a kind, by what they led to
	hidden  []wheel // by how much of the text they hide
	safe    []wheel // and by whether successes stayed successes
}

// Shares of the calls: a survey of single operators gets at most one in four; following
// up on successes gets most.
const (
	surveyed = 0.25
	exploit  = 0.85
	further  = 0.15 // of exploring: the survey at other strengths
	fresh    = 0.12 // of exploring: what is drawn without knowledge
	simple   = 0.8  // of its parents: the shortest chains of a cell
	coded    = 0.7  // if all replies are alike, or patience ends: a code in a code
	patience = 0.25 // share of the calls without a success
	stacked  = 0.65 // if all replies are alike: an operator that hides the text with another one
	hiding   = 4.0  // if all replies are alike: how much more each hidden third of the text counts
	kin      = 0.5  // of crossing: with a chain of the same cell, since two chains that each hide a text may hide it twice
)

// Propose returns n proposals, all from current knowledge.
func (s *Search) Propose(n int) []Proposal {
	p := &planner{Search: s, dice: prng(s.cfg.Seed + s.round*0xd1b54a32d192ed03)}
	p.dice.next()
	p.weigh()
	list := make([]Proposal, n)
	at, inner := s.cursor, s.nested
	for i := range list {
		switch {
		case p.stuck(at) && inner < p.most && p.dice.chance(coded):
			list[i] = p.nest(inner)
			inner++
		case s.wins == 0 && float64(at) < surveyed*float64(s.cfg.Calls) && (at < len(s.usable)+len(s.cfg.First) || p.dice.chance(further)):
			list[i] = p.survey(at)
			at++
		case s.wins > 0 && p.dice.chance(exploit):
			list[i] = p.follow()
		default:
			list[i] = p.explore()
		}
	}
	return list
}

// weigh makes the wheels of the round.
func (p *planner) weigh() {
	p.alike = p.repliesAllAlike()
	for _, list := range p.nests {
		p.most = max(p.most, len(list))
	}
	for i := range p.cells {
		c := &p.cells[i]
		w := 0.0
		switch {
		case len(c.nodes) == 0:
		case p.alike:
			w = math.Pow(hiding, float64(c.seen.Hidden)) / (1 + c.tries/(24*float64(len(c.nodes))))
		default:
			w = (1 + 4*c.wins) / math.Sqrt(c.n+1) / (1 + c.tries/(24*float64(len(c.nodes))))
		}
		p.parents.add(w)
	}
	for i := range p.groups {
		g := &p.groups[i]
		rate := (g.wins + 1) / (g.n + 2)
		p.good.add(rate * (g.succeeded + 1) / (g.parted + 1) / math.Sqrt(1+g.n/16))
		p.same.add(rate * rate * (g.repeats - g.dull + 1) / (g.repeats + 1))
	}
	for m := range moves {
		w := 0.0
		if m >= extend {
			w = p.by[m].mean(0.5)
			w *= w
			if m != again && m != tune {
				w += 0.03 // new chains are worth more than known ones
			}
		}
		p.how.add(w)
	}
	for _, u := range p.units {
		p.unit.add(u.mean(1) + 0.1)
	}
	for _, k := range p.cfg.Kinds {
		var likely, hidden, safe wheel
		for _, op := range k.Ops {
			x := p.draw[op].mean(0.3)
			likely.add(x * x)
			x = p.hides[op].mean(0.3)
			hidden.add(x * x)
			x = p.keep[op].mean(0.3)
			safe.add(x * x)
		}
		p.likely, p.hidden, p.safe = append(p.likely, likely), append(p.hidden, hidden), append(p.safe, safe)
	}
}

// repliesAllAlike reports whether all replies are alike, so that only the prompts differ.
func (s *Search) repliesAllAlike() bool {
	same := func(c cell) bool {
		c.seen.Hidden = s.cells[0].seen.Hidden
		return c.seen == s.cells[0].seen
	}
	return s.wins == 0 && len(s.cells) > 0 && !slices.ContainsFunc(s.cells, func(c cell) bool { return !same(c) })
}

func (p *planner) kind(unit int) *Kind { return &p.cfg.Kinds[p.cfg.Units[unit]] }

// pick draws an operator for a unit by a wheel of its kind; nil: with equal weights.
func (p *planner) pick(unit int, wheels []wheel) mutator.Link {
	k := p.kind(unit)
	i := p.dice.below(len(k.Ops))
	if wheels != nil {
		i = wheels[p.cfg.Units[unit]].draw(&p.dice)
	}
	return mutator.Link{Op: k.Ops[i], Strength: p.strength(k, k.Ops[i])}
}

// strength draws a strength for an operator, by what each led to.
func (p *planner) strength(k *Kind, op int) int {
	span := k.Most - k.Least + 1
	if span > 5 || p.dice.chance(0.2) {
		return k.Least + p.dice.below(span)
	}
	var w wheel
	for i := range span {
		x := p.force[[2]int{op, k.Least + i}].mean(0.3)
		w.add(x * x)
	}
	return k.Least + w.draw(&p.dice)
}

// survey tries one operator after the other, on a unit that takes it: all at their first
// strength, then at others.
func (p *planner) survey(at int) Proposal {
	first := p.cfg.First
	early := at < len(first)
	op, pass := 0, 0
	switch n := len(p.usable); {
	case early:
		op = first[at].Op
	case n > 0:
		op, pass = p.usable[(at-len(first))%n], (at-len(first))/n
	}
	for i := range p.cfg.Units {
		unit := (at + i) % len(p.cfg.Units)
		if k := p.kind(unit); slices.Contains(k.Ops, op) {
			strength := p.cfg.start(k, op)
			if pass > 0 {
				strength = k.Least + (2*pass+op)%(k.Most-k.Least+1)
			}
			if early {
				strength = first[at].Strength
			}
			return Proposal{Unit: unit, Chain: []mutator.Link{{Op: op, Strength: strength}}, how: survey}
		}
	}
	x := p.random() // no unit takes it
	x.how = survey
	return x
}

func (p *planner) random() Proposal {
	unit := p.served()
	chain := []mutator.Link{p.pick(unit, nil)}
	if p.cfg.Steps > 1 && p.dice.chance(0.7) {
		chain = append(chain, p.pick(unit, nil))
	}
	return Proposal{Unit: unit, Chain: chain, how: random}
}

// served draws a unit that has operators.
func (p *planner) served() int {
	u := p.unit.draw(&p.dice)
	for len(p.kind(u).Ops) == 0 {
		u = (u + 1) % len(p.cfg.Units)
	}
	return u
}

// explore continues from a rare reply.
func (p *planner) explore() Proposal {
	if len(p.cells) == 0 || p.dice.chance(fresh) {
		return p.random()
	}
	if p.alike && p.cfg.Steps > 1 && p.dice.chance(stacked) {
		unit := p.served()
		with := p.hidden
		if p.dice.chance(0.5) {
			with = nil // any operators
		}
		chain := []mutator.Link{p.pick(unit, p.hidden), p.pick(unit, with)}
		if p.dice.chance(0.5) {
			slices.Reverse(chain)
		}
		return Proposal{Unit: unit, Chain: chain, how: random}
	}
	a, from := p.member()
	x := Proposal{Unit: a.unit, Chain: slices.Clone(a.chain), cells: [2]int{from}}
	switch t := p.dice.float(); {
	case t < 0.6:
		x.how = cross
		b, other := p.member()
		if p.dice.chance(kin) {
			b, other = p.of(from-1), from
		}
		x.cells[1] = other
		p.join(&x, b.chain)
	case t < 0.85:
		x.how = extend
		p.join(&x, []mutator.Link{p.pick(a.unit, p.likely)})
	case t < 0.95:
		x.how = swap
		x.Chain[p.dice.below(len(x.Chain))] = p.pick(a.unit, p.likely)
	default:
		x.how = tune
		p.tune(&x)
	}
	return x
}

// stuck reports whether replies give no direction: all operators were tried, and all
// replies are alike or many calls brought no success.
func (p *planner) stuck(at int) bool {
	if p.wins > 0 || at < len(p.usable)+len(p.cfg.First) {
		return false
	}
	return p.alike || float64(p.asked) > patience*float64(p.cfg.Calls)
}

// inThrees is how many of the likeliest codes are tried in threes.
const inThrees = 6

// nests returns codes alone at their greatest strength, then in one another, those of the
// likeliest codes first: pairs, threes, and pairs again with a stronger inner code.
func (c *Config) nests(k *Kind) (list [][]mutator.Link) {
	for _, op := range k.Codes {
		list = append(list, []mutator.Link{{Op: op, Strength: k.Most}})
	}
	if c.Steps < 2 {
		return list
	}
	add := func(n, depth int, inner func(op int) int) {
		for _, t := range tuples(n, depth) {
			var chain []mutator.Link
			for at, i := range t {
				l := mutator.Link{Op: k.Codes[i], Strength: c.start(k, k.Codes[i])}
				if at == 0 {
					l.Strength = inner(l.Op)
				}
				chain = append(chain, l)
			}
			list = append(list, chain)
		}
	}
	start := func(op int) int { return c.start(k, op) }
	add(len(k.Codes), 2, start)
	if c.Steps > 2 {
		add(min(len(k.Codes), inThrees), 3, start)
	}
	add(len(k.Codes), 2, func(int) int { return (k.Least + k.Most) / 2 })
	return list
}

// tuples returns all tuples of a size of the numbers below n, those of the smallest
// numbers first.
func tuples(n, size int) (list [][]int) {
	if size == 0 {
		return [][]int{nil}
	}
	for _, t := range tuples(n, size-1) {
		for i := range n {
			list = append(list, append(slices.Clone(t), i))
		}
	}
	slices.SortStableFunc(list, func(a, b []int) int { return slices.Max(a) - slices.Max(b) })
	return list
}

// start returns the strength at which an operator is first tried: the smallest that
// changes much of the text.
func (c *Config) start(k *Kind, op int) int {
	if op < len(c.Parts) && c.Parts[op] {
		return (k.Least + k.Most) / 2
	}
	return k.Least
}

// nest returns one of the nests of a unit's kind.
func (p *planner) nest(at int) Proposal {
	for i := range p.cfg.Units {
		unit := (at + i) % len(p.cfg.Units)
		if list := p.nests[p.cfg.Units[unit]]; len(list) > 0 {
			return Proposal{Unit: unit, Chain: slices.Clone(list[at%len(list)]), how: nest}
		}
	}
	x := p.random() // no unit takes a code
	x.how = nest
	return x
}

// member draws a chain, and returns the number of its cell, from 1.
func (p *planner) member() (node, int) {
	i := p.parents.draw(&p.dice)
	return p.of(i), i + 1
}

// of draws a chain of a cell.
func (p *planner) of(cell int) node {
	nodes := p.cells[cell].nodes
	if p.dice.chance(simple) {
		least := len(slices.MinFunc(nodes, func(a, b node) int { return len(a.chain) - len(b.chain) }).chain)
		short := make([]node, 0, maxNodes)
		for _, n := range nodes {
			if len(n.chain) == least {
				short = append(short, n)
			}
		}
		nodes = short
	}
	return nodes[p.dice.below(len(nodes))]
}

// join puts links after or before a chain, as far as the unit takes them and the chain
// does not get too long.
func (p *planner) join(x *Proposal, more []mutator.Link) {
	k := p.kind(x.Unit)
	fit := make([]mutator.Link, 0, len(more))
	for _, l := range more {
		if _, ok := slices.BinarySearch(k.Ops, l.Op); ok {
			fit = append(fit, l)
		}
	}
	front := p.dice.chance(0.5)
	if over := len(x.Chain) + len(fit) - p.cfg.Steps; over > 0 {
		if over >= len(fit) { // remove one of the chain's own
			at := p.dice.below(len(x.Chain))
			x.Chain = slices.Delete(x.Chain, at, at+1)
			over = len(x.Chain) + len(fit) - p.cfg.Steps
		}
		fit = fit[:max(len(fit)-over, 0)]
	}
	if front {
		x.Chain = append(fit, x.Chain...)
	} else {
		x.Chain = append(x.Chain, fit...)
	}
	if len(x.Chain) == 0 {
		x.Chain = append(x.Chain, p.pick(x.Unit, p.likely))
	}
}

func (p *planner) tune(x *Proposal) {
	l := &x.Chain[p.dice.below(len(x.Chain))]
	l.Strength = p.strength(p.kind(x.Unit), l.Op)
}

// follow varies a success.
func (p *planner) follow() Proposal {
	how := move(p.how.draw(&p.dice))
	groups := p.good
	if how == again || how == tune {
		groups = p.same
	}
	g := &p.groups[groups.draw(&p.dice)]
	a := g.nodes[p.dice.below(len(g.nodes))]
	x := Proposal{Unit: a.unit, Chain: slices.Clone(a.chain), how: how, from: g.key}
	if u := p.served(); p.dice.chance(0.5) && p.takes(u, x.Chain) {
		x.Unit = u
	}
	switch how {
	case extend:
		p.join(&x, []mutator.Link{p.pick(x.Unit, p.safe)})
	case swap:
		x.Chain[p.dice.below(len(x.Chain))] = p.pick(x.Unit, p.safe)
	case cross:
		b := &p.groups[p.good.draw(&p.dice)]
		other := b.nodes[p.dice.below(len(b.nodes))].chain
		from := p.dice.below(len(other))
		x.Chain = x.Chain[:1+p.dice.below(len(x.Chain))]
		p.join(&x, other[from:])
	case tune:
		p.tune(&x)
	}
	return x
}

// takes reports whether a unit takes the operators of a chain.
func (p *planner) takes(unit int, chain []mutator.Link) bool {
	k := p.kind(unit)
	return !slices.ContainsFunc(chain, func(l mutator.Link) bool {
		_, ok := slices.BinarySearch(k.Ops, l.Op)
		return !ok
	})
}
