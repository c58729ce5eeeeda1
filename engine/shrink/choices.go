package shrink

import (
	"context"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/engine/choice"
)

// Choices simplifies the decisions of a generator while the result still holds.
// run generates from a tape and returns which decisions were actually taken,
// with their spans, and whether the result holds. A shorter tape is simpler; of
// two tapes of one length, the one whose first differing number is smaller. So
// the result is always something that the generator can make, and no knowledge
// of its values is needed.
//
// The first call of run is with start; if that does not hold, Choices returns
// start with [ErrInput]. Work ends early at the first error of run, or when ctx
// is done, with the best tape so far. No tape is run twice. Equal answers lead
// to equal results by equal calls.
func Choices(ctx context.Context, start []uint64, run func([]uint64) (choice.Tape, bool, error)) ([]uint64, Stats) {
	s := &tapes{ctx: ctx, run: run, known: map[string]struct{}{}}
	s.best.Values = slices.Clone(start)
	if !s.ask(start) {
		if s.stats.Err == nil {
			s.stats.Err = ErrInput
		}
		return s.best.Values, s.stats
	}
	// First remove what is superfluous or equal, since each number that is left
	// costs tests in all later passes; then lower the numbers.
	coarse := []func(){s.clearNumbers, s.zeroSpans, s.dropSpans, s.clearNumbers, s.merge, s.sort, s.dropNamed, s.picks, s.hoist}
	fine := []func(){s.together, s.pairs, s.lower, s.sort, s.join, s.dropNeighbours, s.dropAndLower}
	for before := -1; before != s.version && s.stats.Err == nil; {
		before = s.version
		s.settle(coarse)
		s.settle(fine)
	}
	return s.best.Values, s.stats
}

// settle repeats passes until none of them finds anything simpler.
func (s *tapes) settle(passes []func()) {
	for before := -1; before != s.version && s.stats.Err == nil; {
		before = s.version
		for _, pass := range passes {
			pass()
		}
	}
}

// tapes is the state of one call of Choices.
type tapes struct {
	ctx     context.Context
	run     func([]uint64) (choice.Tape, bool, error)
	best    choice.Tape
	known   map[string]struct{} // tapes that have been run
	last    choice.Tape         // what the last run took; valid until the next
	shorter bool                // for now only a shorter tape counts as simpler
	version int                 // counts changes of best
	stats   Stats
}

// ask runs a tape, which becomes the best if it holds and is simpler than the
// best, or the first.
func (s *tapes) ask(values []uint64) bool {
	if s.stats.Err != nil {
		return false
	}
	if err := s.ctx.Err(); err != nil {
		s.stats.Err = fmt.Errorf("shrinking: %w", context.Cause(s.ctx))
		return false
	}
	key := fingerprint(values)
	if _, was := s.known[key]; was {
		return false
	}
	s.known[key] = struct{}{}
	s.stats.Tests++
	tape, held, err := s.run(values)
	if err != nil {
		s.stats.Err = fmt.Errorf("running a tape of %d choices: %w", len(values), err)
		return false
	}
	s.last = tape
	if held && s.shorter && len(tape.Values) >= len(s.best.Values) {
		delete(s.known, key) // another pass may accept it
		return false
	}
	s.known[fingerprint(tape.Values)] = struct{}{}
	if !held || s.stats.Tests > 1 && compareTapes(tape.Values, s.best.Values) >= 0 {
		return false
	}
	s.best = choice.Tape{Values: slices.Clone(tape.Values), Marks: slices.Clone(tape.Marks), Spans: slices.Clone(tape.Spans)}
	s.version++
	return true
}

// fingerprint identifies a tape.
func fingerprint(values []uint64) string { return string(choice.Encode(values)) }

// compareTapes orders tapes by simplicity.
func compareTapes(a, b []uint64) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return slices.Compare(a, b)
}

// try asks for a candidate unless it cannot be simpler.
func (s *tapes) try(candidate []uint64) bool {
	if compareTapes(candidate, s.best.Values) >= 0 {
		return false
	}
	return s.ask(candidate)
}

// tryShorter is try for candidates that remove something and pay for it
// elsewhere. If the result were not shorter, this could be repeated as often as
// a number can be lowered by one.
func (s *tapes) tryShorter(candidate []uint64) bool {
	s.shorter = true
	defer func() { s.shorter = false }()
	return s.try(candidate)
}

// replace puts other numbers in the place of a span. If the span then takes more
// or fewer numbers, what follows was read as something else, so it tries again
// with as many as the span takes.
func (s *tapes) replace(span int, by []uint64) bool {
	x, b := s.best.Spans[span], s.best.Values
	tests := s.stats.Tests
	if s.try(slices.Concat(b[:x.From], by, b[x.To:])) {
		return true
	}
	if s.stats.Tests == tests || s.stats.Err != nil || span >= len(s.last.Spans) {
		return false
	}
	y := s.last.Spans[span]
	if y.From != x.From || y.To-y.From == len(by) {
		return false
	}
	return s.try(slices.Concat(b[:x.From], s.last.Values[y.From:y.To], b[x.To:]))
}

// without returns the best tape without a range.
func (s *tapes) without(lo, hi int) []uint64 {
	return slices.Concat(s.best.Values[:lo], s.best.Values[hi:])
}

// with returns the best tape with one number changed.
func (s *tapes) with(i int, v uint64) []uint64 {
	c := slices.Clone(s.best.Values)
	c[i] = v
	return c
}

// sort puts sibling spans into order, the simplest first.
func (s *tapes) sort() {
	for g := 0; s.stats.Err == nil; g++ {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		for k := 1; k < len(groups[g]); k++ {
			s.insert(g, k)
			if groups = s.siblings(); g >= len(groups) {
				return
			}
		}
	}
}

// insert moves sibling k of a group to its place among those before it or, if
// that fails, as far as it goes step by step.
func (s *tapes) insert(g, k int) {
	list := s.siblings()[g]
	text := func(i int) []uint64 { return s.best.Values[list[i].From:list[i].To] }
	to := k
	for to > 0 && compareTapes(text(to-1), text(k)) > 0 {
		to--
	}
	if k-to > 1 {
		order := slices.Clone(s.best.Values[:list[to].From])
		order = append(order, text(k)...)
		order = append(order, s.best.Values[list[to].From:list[k].From]...)
		if s.try(append(order, s.best.Values[list[k].To:]...)) {
			return
		}
	}
	for ; k > 0 && k < len(list) && s.swap(list[k-1], list[k]); k-- {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		list = groups[g]
	}
}

// swap exchanges two neighbouring spans if that is simpler.
func (s *tapes) swap(a, b choice.Span) bool {
	v := s.best.Values
	if b.To > len(v) || a.To > b.From {
		return false
	}
	return s.try(slices.Concat(v[:a.From], v[b.From:b.To], v[a.To:b.From], v[a.From:a.To], v[b.To:]))
}
