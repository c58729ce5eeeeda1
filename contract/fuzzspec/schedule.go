package fuzzspec

import (
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/bytemut"
)

// Which input of the corpus a case is made from: one that is cheap for what it
// reaches, that reaches what few others do, and that has had few cases so far, as
// the power schedules of AFLFast and libFuzzer's entropic have it. Cost is counted
// in edges, never timed, and all is folded, so that equal runs choose equally. It is
// what cases of the input have cost, those that ended their process or were set aside
// included, and wears it off: so dear inputs do not take all of a long campaign's time.

// reach is what is known of a tuple of edge and count class.
type reach struct {
	best   int32 // the cheapest input of the corpus that has it
	inputs int32 // how many have it
}

// entry is what is known of an input of the corpus. Of the seeds only the cases
// that were made from them are known.
type entry struct {
	work   uint64   // edges that it took in all
	tuples []uint32 // ascending
	owns   int32    // tuples that it is the cheapest for
}

// share is how often an input of the corpus is chosen, and what decides it. It stands
// beside the entry since it changes in every round.
type share struct {
	made   int64  // cases that were made from it
	used   uint64 // edges that these have cost
	worth  uint64 // by the tuples that few have
	weight uint64 // of all; 0: to be weighed
}

const (
	usualWorth = 1 << 10 // of a seed, and of an input that nothing speaks for or against
	favour     = 8       // how many times as often an input is chosen that is the cheapest for a tuple
	wearOff    = 64      // usual cases whose cost halves how often an input is chosen
	endCost    = 512     // cases that one counts for which ends its process, if that would have served others: four times what a new process and a stack to read cost, since it mostly shows what is known
	steepest   = 8       // how many times as often at most as the usual a cheap input is chosen; all others as their cost is
)

func (g *guided) unseen(tuple uint32) bool {
	_, ok := g.seen[tuple]
	return !ok
}

// pool is what the cases of the next round are made from.
func (c *Campaign) pool(s *state) bytemut.Pool {
	return bytemut.Pool{Inputs: s.corpus, Ends: s.ends, Words: s.words, Staged: s.staged, First: c.start + s.done + s.again}
}

// cost is what a case of an input is expected to take: edges, and bytes to change.
func (s *state) cost(i int) uint64 { return (s.entries[i].work + 1) * uint64(len(s.corpus[i])+16) }

// addInput adds an input to the corpus. The state's entries and tuples are its own.
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

// spend notes what a case that was made from an input has cost.
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

// usualCost is what a case of an input costs that nothing happens to.
func (s *state) usualCost(i int) uint64 {
	if s.entries[i].tuples == nil {
		return s.usual + s.caseCost()
	}
	return s.entries[i].work + s.caseCost()
}

// weigh gives every input its weight. How rare what it reaches is changes slowly:
// all are looked at again when the corpus has grown by a sixteenth.
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
		if len(works) > 0 { // the mean would be that of a few slow ones
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

// worthOf is what speaks for an input beside its cost: tuples that few have.
func (s *state) worthOf(i int) uint64 {
	rare := uint64(0) // in sixteenths
	for _, t := range s.entries[i].tuples {
		rare += 16 / uint64(max(1, s.seen[t].inputs))
	}
	return usualWorth / 16 * min(16+rare, 64)
}

// weightOf is the weight of an input by its worth, by what a case of it costs on
// average, and by what its cases have cost in all.
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
