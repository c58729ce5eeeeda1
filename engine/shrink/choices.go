package shrink

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/engine/choice"
)

// Choices makes the decisions of a generator simple while what it generates
// still holds: run generates from a tape and says which decisions were really
// taken, with their spans, and whether the result holds. A shorter tape is
// simpler; of two of one length, the one whose first differing number is
// smaller. So whatever is generated is always something that the generator can
// make, and no knowledge of its values is needed.
//
// The first call of run is with start; if that does not hold, start comes back
// with [ErrInput]. Work ends early at the first error of run, or when ctx is
// done, with the best so far. No tape is run twice. The same answers lead to
// the same result by the same calls.
func Choices(ctx context.Context, start []uint64, run func([]uint64) (choice.Tape, bool, error)) ([]uint64, Stats) {
	s := &tapes{ctx: ctx, run: run, known: map[string]struct{}{}}
	s.best.Values = slices.Clone(start)
	if !s.ask(start) {
		if s.stats.Err == nil {
			s.stats.Err = ErrInput
		}
		return s.best.Values, s.stats
	}
	passes := []func(){s.shorten, s.dropSpans, s.zeroSpans, s.hoist, s.lower, s.together, s.sort, s.pairs, s.dropAndLower, s.windows}
	for before := -1; before != s.version && s.stats.Err == nil; {
		before = s.version
		for _, pass := range passes {
			pass()
			s.stats.Passes++
		}
	}
	return s.best.Values, s.stats
}

// tapes is the state of one call of Choices.
type tapes struct {
	ctx     context.Context
	run     func([]uint64) (choice.Tape, bool, error)
	best    choice.Tape
	known   map[string]struct{} // tapes that were run
	version int                 // counts changes of best
	stats   Stats
}

// ask runs a tape; if it holds and is simpler than the best, or is the first, it
// becomes the best.
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
		s.stats.CacheHits++
		return false
	}
	s.known[key] = struct{}{}
	s.stats.Tests++
	tape, held, err := s.run(values)
	if err != nil {
		s.stats.Err = fmt.Errorf("running a tape of %d choices: %w", len(values), err)
		return false
	}
	s.known[fingerprint(tape.Values)] = struct{}{}
	if !held || s.stats.Tests > 1 && compareTapes(tape.Values, s.best.Values) >= 0 {
		return false
	}
	s.best = choice.Tape{Values: slices.Clone(tape.Values), Spans: slices.Clone(tape.Spans)}
	s.version++
	return true
}

// fingerprint is a tape without the zeros at its end, which mean nothing.
func fingerprint(values []uint64) string {
	for len(values) > 0 && values[len(values)-1] == 0 {
		values = values[:len(values)-1]
	}
	var b []byte
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	return string(b)
}

// compareTapes orders tapes by simplicity.
func compareTapes(a, b []uint64) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return slices.Compare(a, b)
}

// try asks for a candidate unless it is surely no simpler.
func (s *tapes) try(candidate []uint64) bool {
	if compareTapes(candidate, s.best.Values) >= 0 {
		return false
	}
	return s.ask(candidate)
}

// without is the best tape less a range.
func (s *tapes) without(lo, hi int) []uint64 {
	return slices.Concat(s.best.Values[:lo], s.best.Values[hi:])
}

// with is the best tape with one number changed.
func (s *tapes) with(i int, v uint64) []uint64 {
	c := slices.Clone(s.best.Values)
	c[i] = v
	return c
}
