package fuzzspec

import (
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/bytemut"
)

// The schedule chooses which input of the corpus a case is made from. It prefers inputs that are
// cheap for what they reach, that reach what few others do, and that have had few cases so far, as
// in the power schedules of AFLFast and libFuzzer's entropic. Cost is counted in edges, never
// timed, and everything is folded, so that equal runs choose equally. The cost of an input is what
// its cases cost, including those that ended their process or were set aside; it wears the input
// off, so that expensive inputs do not take all of a long campaign's time.

// reach describes an edge/hit-count tuple.
type reach struct {
	best   int32 // the cheapest input of the corpus that has the tuple
	inputs int32 // number of inputs that have it
}

// entry describes an input of the corpus. Seeds have no tuples or work, only cases made from them.
type entry struct {
	work   uint64   // total edges taken
	tuples []uint32 // ascending
	owns   int32    // number of tuples for which it is the cheapest
}

// share is the weight of an input of the corpus and what decides it. It is separate from the entry
// because it changes in every round.
type share struct {
	made   int64  // cases made from it
	used   uint64 // edges that those cases cost
	worth  uint64 // grows with tuples that few inputs have
	weight uint64 // the result; 0: not yet weighed
}

const (
	usualWorth = 1 << 10 // worth of a seed, and of an input with no rare tuples
	favour     = 8       // factor for an input that is the cheapest for a tuple
	wearOff    = 64      // number of usual cases whose cost halves the weight of an input
	endCost    = 512     // overhead, in cases, of a case that ends a process that would have served others: four times the cost of a new process and of reading a stack, since such a case mostly shows what is known
	steepest   = 8       // maximum factor for an input that is cheaper than usual; the factor of others follows their cost
)

func (g *guided) unseen(tuple uint32) bool {
	_, ok := g.seen[tuple]
	return !ok
}

// pool is what the cases of the next round are made from.
func (c *Campaign) pool(s *state) bytemut.Pool {
	return bytemut.Pool{Inputs: s.corpus, Ends: s.ends, Words: s.words, Staged: s.staged, First: c.start + s.done + s.again}
}

// cost is the expected cost of a case of an input: edges, and bytes to change.
func (s *state) cost(i int) uint64 { return (s.entries[i].work + 1) * uint64(len(s.corpus[i])+16) }

// addInput adds an input to the corpus. The caller has cloned the entries and tuples.
func (s *state) addInput(input []byte, work uint64, tuples []uint32) {
	at := len(s.corpus)
	s.corpus = append(slices.Clip(s.corpus), input)
	s.entries, s.shares = append(s.entries, entry{work: work, tuples: tuples}), append(s.shares, share{})
	for _, t := range tuples {
		r, known := s.seen[t]
		if !known || s.cost(at) < s.cost(int(r.best)) {
			if known {
				s.entries[r.best].owns--
				s.shares[r.best].weight = 0
			}
			r.best = int32(at)
			s.entries[at].owns++
		}
		r.inputs++
		s.seen[t] = r
	}
}

// spend records the cost of a case made from an input.
func (s *state) spend(parent int, o campaign.Outcome) {
	cost, e := s.usualCost(parent), &s.shares[parent]
	_, _, aside := decodeAside(o.Data)
	if aside = aside && o.Verdict == campaign.VerdictPass; aside {
		cost += max(s.facts.Budget, leastBudget)
	}
	if s.facts.Kept && (aside || o.Verdict == campaign.VerdictFail) {
		cost += endCost * s.caseCost()
	}
	e.made++
	e.used += cost
	e.weight = 0
}

// usualCost is the cost of an uneventful case of an input.
func (s *state) usualCost(i int) uint64 {
	if s.entries[i].tuples == nil {
		return s.usual + s.caseCost()
	}
	return s.entries[i].work + s.caseCost()
}

// weigh computes the weight of every input. Rarity changes slowly: all inputs are weighed again
// only when the corpus has grown by a sixteenth.
func (s *state) weigh() {
	from := s.weighed
	if n := len(s.entries); n > s.weighed+s.weighed/16 {
		from, s.weighed = 0, n
		var works []uint64
		for _, e := range s.entries {
			if e.tuples != nil {
				works = append(works, e.work)
			}
		}
		if len(works) > 0 { // the mean would reflect a few slow inputs
			slices.Sort(works)
			s.usual = works[len(works)/2]
		}
	}
	s.ends = make([]uint64, len(s.entries))
	sum := uint64(0)
	for i := range s.shares {
		e := &s.shares[i]
		if i >= from || e.worth == 0 {
			e.worth, e.weight = s.worthOf(i), 0
		}
		if e.weight == 0 {
			e.weight = s.weightOf(i)
		}
		sum += e.weight
		s.ends[i] = sum
	}
}

// worthOf is the value of an input apart from its cost: it grows with tuples that few inputs have.
func (s *state) worthOf(i int) uint64 {
	rare := uint64(0) // in sixteenths
	for _, t := range s.entries[i].tuples {
		rare += 16 / uint64(max(1, s.seen[t].inputs))
	}
	return usualWorth / 16 * min(16+rare, 64)
}

// weightOf is the weight of an input: its worth, scaled by the average cost of its cases and by
// their total cost.
func (s *state) weightOf(i int) uint64 {
	const scale = 1 << 24
	e, usual := s.shares[i], s.usual+s.caseCost()
	w := e.worth
	if s.entries[i].owns > 0 || s.entries[i].tuples == nil {
		w *= favour
	}
	mean := (wearOff*s.usualCost(i) + e.used) / (wearOff + uint64(e.made))
	w *= min(usual*scale/mean, steepest*scale)
	return max(1, w*wearOff/(wearOff+e.used/usual))
}
