package fresnelfir

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/choice"
)

// The corpus holds the beginnings of traversals that do not begin at the start: the decisions up to
// a step that reached something new. It is part of the learned state and so the same everywhere.
// Each executor also keeps the state of the model and the module at that point (see [snapshots]).

// entry is one such beginning.
type entry struct {
	number int64 // number of the entry, from 1
	tape   []uint64
	tries  int32 // traversals that began with it, reduced when they succeed
}

// Limits of the corpus.
const (
	maxCorpus        = 512
	maxCorpusNumbers = 1 << 18
)

// begin returns where a case begins: its key, and the entry, or nil for the start. It depends only
// on state and index.
func (c *Campaign) begin(s *state, index int64) (from *entry, key uint64) {
	key = choice.Key(c.seed, uint64(index))
	if s == nil || len(s.corpus) == 0 || s.path(index) != nil {
		return nil, key
	}
	roll := key
	draw := func(n int) int {
		roll = choice.Key(roll, 1)
		return int(roll >> 1 % uint64(n))
	}
	if draw(2) == 0 {
		return nil, key
	}
	// Of three entries, take the one that was tried least, so that new ones come first.
	for range 3 {
		if e := &s.corpus[draw(len(s.corpus))]; from == nil || e.tries < from.tries {
			from = e
		}
	}
	if n := int(from.tries); n > fairTries && draw(n) >= fairTries {
		return nil, key
	}
	return from, key
}

// fairTries is how many traversals begin with an entry before it must show something to get more.
const fairTries = 16

// collect adds beginnings to the corpus and drops the least useful ones.
func (s *state) collect(tape []uint64, cuts []int) {
	for _, at := range cuts {
		if at > maxCorpusNumbers {
			continue
		}
		if n := at - len(tape); n > 0 { // tapes are stored without trailing zeros
			tape = append(tape, make([]uint64, n)...)
		}
		if slices.ContainsFunc(s.corpus, func(e entry) bool { return slices.Equal(e.tape, tape[:at]) }) {
			continue
		}
		s.entries++
		s.corpus = append(s.corpus, entry{number: s.entries, tape: tape[:at:at]})
		s.numbers += at
	}
	for len(s.corpus) > maxCorpus || s.numbers > maxCorpusNumbers && len(s.corpus) > 1 {
		worst := 0
		for i := range s.corpus {
			if s.corpus[i].tries > s.corpus[worst].tries {
				worst = i
			}
		}
		s.numbers -= len(s.corpus[worst].tape)
		s.corpus = slices.Delete(s.corpus, worst, worst+1)
	}
}

// credit records the result of a case that began with an entry.
func (s *state) credit(number int64, gained bool) {
	at, found := slices.BinarySearchFunc(s.corpus, number, func(e entry, n int64) int { return int(e.number - n) })
	switch {
	case !found:
	case gained:
		s.corpus[at].tries /= 2
	default:
		s.corpus[at].tries++
	}
}

// finder finds the steps at which a traversal reaches something new to the campaign.
type finder struct {
	known  *state
	looked int          // number of events already inspected
	edges  map[int]bool // new points of the module's code
	cuts   []int        // positions on the tape at which such steps end
}

// maxCuts is how many beginnings one traversal yields: the last ones.
const maxCuts = 4

// observe is called after each step; t.seen holds what the step reached.
func (f *finder) observe(t *traversal) {
	found := false
	for _, e := range t.seen.events[f.looked:] {
		found = found || f.known.isNew(e)
	}
	f.looked = len(t.seen.events)
	if t.dev != nil {
		for at := range f.known.fresh(t.dev.inst.Take()) {
			if !f.edges[at] {
				f.edges[at], found = true, true
			}
		}
	}
	if found && t.failed == nil && t.canStep() {
		if len(f.cuts) == maxCuts {
			f.cuts = slices.Delete(f.cuts, 0, 1)
		}
		f.cuts = append(f.cuts, t.src.Len())
	}
}
