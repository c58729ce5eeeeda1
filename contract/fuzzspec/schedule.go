package fuzzspec

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/bytemut"
)

// Which input of the corpus a case is made from: one that is cheap for what it
// reaches, that reaches what few others do, and that has had few cases so far, as
// the power schedules of AFLFast and libFuzzer's entropic have it. Cost is counted
// in edges, never timed, and all is folded, so that equal runs choose equally.

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
	made   int64    // cases that were made from it
	worth  uint64   // its weight before cases were made from it
}

const (
	usualWorth = 1 << 10 // of a seed, and of an input that nothing speaks for or against
	favour     = 8       // how many times as often an input is chosen that is the cheapest for a tuple
	wearOff    = 64      // cases after which an input is chosen half as often
	failCost   = 128     // cases that a failing one counts for, if its process would have served others: a new process, and its stack to read
	asideCost  = 4       // times its edges that a case set aside counts for: it teaches nothing, and its process ends
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
	s.entries = append(s.entries, entry{work: work, tuples: tuples})
	for _, t := range tuples {
		r, known := s.seen[t]
		if !known || s.cost(at) < s.cost(int(r.best)) {
			if known {
				s.entries[r.best].owns--
			}
			r.best = int32(at)
			s.entries[at].owns++
		}
		r.inputs++
		s.seen[t] = r
	}
}

// weigh gives every input its weight. How rare what it reaches is changes slowly:
// all are looked at again when the corpus has grown by a sixteenth.
func (s *state) weigh() {
	from := s.weighed
	if n := len(s.entries); n > s.weighed+s.weighed/16 {
		from, s.weighed = 0, n
	}
	var works []uint64
	for _, e := range s.entries {
		if e.tuples != nil && from == 0 {
			works = append(works, e.work)
		}
	}
	if len(works) > 0 { // the mean would be that of a few slow ones
		slices.Sort(works)
		s.usual = works[len(works)/2]
	}
	for i := range s.entries {
		if e := &s.entries[i]; i >= from || e.worth == 0 {
			e.worth = s.weightOf(e)
		}
	}
	s.ends = make([]uint64, len(s.entries))
	sum := uint64(0)
	for i, e := range s.entries {
		w := e.worth
		if e.owns > 0 || e.tuples == nil {
			w *= favour
		}
		sum += max(1, w*wearOff/uint64(wearOff+e.made))
		s.ends[i] = sum
	}
}

// weightOf is the weight of an input by its cost and by the tuples that few have.
func (s *state) weightOf(e *entry) uint64 {
	if e.tuples == nil {
		return usualWorth
	}
	rare := uint64(0) // in sixteenths
	for _, t := range e.tuples {
		rare += 16 / uint64(max(1, s.seen[t].inputs))
	}
	speed := min(256*(s.usual+keptWork)/(e.work+keptWork), 256*steepest) // in parts of 256
	return max(1, usualWorth/16*min(16+rare, 64)*speed/256)
}
