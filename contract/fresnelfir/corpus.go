package fresnelfir

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/choice"
)

// The corpus is what traversals begin with that do not begin at the start: the
// decisions up to a step that reached something new. It is part of what a
// campaign has learned, and so the same everywhere; what the model and the
// module were like there is kept beside it, by each executor (see [snapshots]).

// entry is a beginning.
type entry struct {
	number int64 // counts entries from 1
	tape   []uint64
	tries  int32 // traversals that began with it, fewer the more came of them
}

// Bounds of the corpus.
const (
	maxCorpus        = 512
	maxCorpusNumbers = 1 << 18
)

// begin is where a case begins: its key, and the entry, nil for the start. It
// depends on state and index alone.
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
	// Of three, the one from which least was tried: what is new comes first.
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

// fairTries is how many traversals begin with an entry before it has to show
// something for more of them.
const fairTries = 16

// collect adds beginnings to the corpus; least useful ones go.
func (s *state) collect(tape []uint64, cuts []int) {
	for _, at := range cuts {
		if at > maxCorpusNumbers {
			continue
		}
		if n := at - len(tape); n > 0 { // tapes are written without the zeros that they end with
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

// credit notes what came of a case that began with an entry.
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

// finder finds the steps at which a traversal reaches something that the
// campaign has not.
type finder struct {
	known  *state
	looked int          // events that were looked at
	edges  map[int]bool // points of the module's code that were new
	cuts   []int        // where on the tape steps end that reached something
}

// maxCuts is how many beginnings one traversal gives: the last ones.
const maxCuts = 4

// observe is called after each step, with what it reached in t.seen.
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
