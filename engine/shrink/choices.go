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

// shorten cuts the tape's end off: what is beyond it reads as zeros.
func (s *tapes) shorten() {
	for lo, hi := 0, len(s.best.Values); lo < hi && s.stats.Err == nil; {
		mid := (lo + hi) / 2
		if s.try(s.best.Values[:mid]) {
			hi = min(mid, len(s.best.Values))
		} else {
			lo = mid + 1
		}
	}
}

// siblings are the spans directly below each other's parent, group by group,
// outermost groups first.
func (s *tapes) siblings() [][]choice.Span {
	type open struct {
		span  choice.Span
		group int
	}
	var groups [][]choice.Span
	var stack []open
	top := -1
	for _, x := range s.best.Spans {
		for len(stack) > 0 && x.From >= stack[len(stack)-1].span.To {
			stack = stack[:len(stack)-1]
		}
		at := &top
		if len(stack) > 0 {
			at = &stack[len(stack)-1].group
		}
		if *at < 0 {
			*at = len(groups)
			groups = append(groups, nil)
		}
		groups[*at] = append(groups[*at], x)
		stack = append(stack, open{x, -1})
	}
	return groups
}

// dropSpans deletes runs of sibling spans: half of them, then fewer, down to
// single ones, the last first, since what comes late more often hangs on what
// came before than the other way round.
func (s *tapes) dropSpans() {
	for g := 0; s.stats.Err == nil; g++ {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		for size := len(groups[g]) / 2; ; size /= 2 {
			size = max(size, 1)
			s.dropRuns(g, size)
			if size == 1 {
				break
			}
		}
	}
}

func (s *tapes) dropRuns(g, size int) {
	for end := -1; s.stats.Err == nil; {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		list := groups[g]
		if end < 0 || end > len(list) {
			end = len(list)
		}
		if end < size {
			return
		}
		lo, hi := list[end-size].From, list[end-1].To
		gone := false
		if end > size && list[end-size-1].To < lo {
			gone = s.try(s.without(list[end-size-1].To, hi)) // with what asked for it
		}
		if gone || s.try(s.without(lo, hi)) {
			end -= size
		} else {
			end -= max(size, 1)
		}
		if end <= 0 {
			return
		}
	}
}

// zeroSpans makes whole spans as simple as can be.
func (s *tapes) zeroSpans() {
	for k := 0; k < len(s.best.Spans) && s.stats.Err == nil; k++ {
		x := s.best.Spans[k]
		if x.To-x.From < 2 {
			continue // single numbers have a pass of their own
		}
		c := slices.Clone(s.best.Values)
		clear(c[x.From:x.To])
		s.try(c)
	}
}

// hoist puts a span in the place of one around it.
func (s *tapes) hoist() {
	for i := 0; i < len(s.best.Spans) && s.stats.Err == nil; i++ {
		outer := s.best.Spans[i]
		for j := i + 1; j < len(s.best.Spans) && s.best.Spans[j].From < outer.To; j++ {
			inner := s.best.Spans[j]
			if inner.To-inner.From == outer.To-outer.From {
				continue
			}
			b := s.best.Values
			if s.try(slices.Concat(b[:outer.From], b[inner.From:inner.To], b[outer.To:])) || s.hoistTurned(outer, j) {
				j = i
				if i >= len(s.best.Spans) {
					return
				}
				outer = s.best.Spans[i]
			}
		}
	}
}

// hoistTurned is hoist with two neighbours within the inner span exchanged.
func (s *tapes) hoistTurned(outer choice.Span, j int) bool {
	b, inner := s.best.Values, s.best.Spans[j]
	for k := j + 1; k < len(s.best.Spans) && s.best.Spans[k].To <= inner.To; k++ {
		x := s.best.Spans[k]
		for _, y := range s.best.Spans[k+1:] {
			if y.From == x.To && y.To <= inner.To {
				return s.try(slices.Concat(b[:outer.From], b[inner.From:x.From], b[y.From:y.To], b[x.From:x.To], b[y.To:inner.To], b[outer.To:]))
			}
		}
	}
	return false
}

// lower makes every number as small as it can be: 0, else the smallest that a
// binary search finds.
func (s *tapes) lower() {
	for i := 0; i < len(s.best.Values) && s.stats.Err == nil; i++ {
		s.lowerAt(i, func(v uint64) []uint64 { return s.with(i, v) })
	}
}

// lowerAt lowers number i by candidates that hold it at a value: it tries a few
// small ones, and then halves what is left.
func (s *tapes) lowerAt(i int, candidate func(uint64) []uint64) {
	v := s.best.Values[i]
	if v == 0 || s.try(candidate(0)) {
		return
	}
	lo, p := uint64(0), uint64(1)
	for p < v && !s.try(candidate(p)) {
		if lo = p; p == 8 || p > v/2 {
			p = v
			break
		}
		p *= 2
	}
	if p == v && v-lo > 16 && !s.try(candidate(v-1)) && !s.try(candidate(v-2)) {
		return // it cannot be lowered by a little: it is most likely needed as it is
	}
	for p-lo > 1 && s.stats.Err == nil && i < len(s.best.Values) {
		mid := lo + (p-lo)/2
		if s.try(candidate(mid)) {
			p = mid
		} else {
			lo = mid
		}
	}
}

// dropAndLower deletes a span and lowers what may count it: one of the two
// numbers before it and its siblings; or all numbers, since some may name what
// comes after it.
func (s *tapes) dropAndLower() {
	const few = 48
	for g := 0; len(s.best.Values) <= few && s.stats.Err == nil; g++ {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		for k := len(groups[g]) - 1; k >= 0; k-- {
			if groups = s.siblings(); g < len(groups) && k < len(groups[g]) {
				s.dropCounted(groups[g][k], groups[g][0].From)
			}
		}
	}
}

func (s *tapes) dropCounted(x choice.Span, first int) {
	for i, tries := first-1, 2; i >= 0 && tries > 0; i-- {
		if s.best.Values[i] == 0 {
			continue
		}
		tries--
		c := s.without(x.From, x.To)
		c[i]--
		if s.try(c) {
			return
		}
	}
	c := s.without(x.From, x.To)
	for i := range c {
		if c[i] > 0 {
			c[i]--
		}
	}
	s.try(c)
}

// begins reports whether a span begins at number i. If it is 1, it most likely
// says that there is something, and not what.
func (s *tapes) begins(i int) bool {
	return slices.ContainsFunc(s.best.Spans, func(x choice.Span) bool { return x.From == i })
}

// together lowers numbers that are equal at once.
func (s *tapes) together() {
	for i := 0; i < len(s.best.Values) && s.stats.Err == nil; i++ {
		v := s.best.Values[i]
		if v == 0 || v == 1 && s.begins(i) || slices.Index(s.best.Values, v) != i && v > 1 || !slices.Contains(s.best.Values[i+1:], v) {
			continue
		}
		s.lowerAt(i, func(to uint64) []uint64 {
			was := s.best.Values[i]
			c := slices.Clone(s.best.Values)
			for k := range c {
				if c[k] == was && (was > 1 || !s.begins(k)) {
					c[k] = to
				}
			}
			return c
		})
	}
}

// near is how many later numbers are looked at together with one: more would
// cost a test for every pair.
const near = 8

// pairs lowers two numbers together, for conditions on their difference, and
// lowers one while it raises a later one, for conditions on sums.
func (s *tapes) pairs() {
	for i := 0; i < len(s.best.Values) && s.stats.Err == nil; i++ {
		for j, count := i+1, 0; j < len(s.best.Values) && s.best.Values[i] > 0 && count < near; j++ {
			if s.best.Values[j] < 2 && s.best.Values[i] < 2 {
				continue // two flags
			}
			count++
			s.shift(i, j, ^uint64(0))
			s.shift(i, j, 1)
			if i >= len(s.best.Values) || j >= len(s.best.Values) {
				return
			}
		}
	}
}

// shift takes as much as can be from number i and adds it to number j, times
// sign (1, or -1 in two's complement). Numbers that stand for 0, -1, 1, -2 ...
// keep their sign if they are moved by even steps; a negative one that becomes
// 0 moves by one more.
func (s *tapes) shift(i, j int, sign uint64) {
	move := func(d, more uint64) bool {
		b := s.best.Values
		if i >= len(b) || j >= len(b) || d == 0 || d > b[i] || sign != 1 && d > b[j] {
			return false
		}
		c := slices.Clone(b)
		c[i] -= d
		c[j] += sign*d + more
		return s.try(c)
	}
	v := s.best.Values[i]
	if sign != 1 {
		v = min(v, s.best.Values[j])
	}
	step := uint64(1)
	switch {
	case sign == 1 && v == 1:
		move(1, 1)
		return
	case move(1, 0):
	case v > 1 && move(2, 0):
		step = 2
	default:
		return
	}
	// Some can go: all of it, or as much as halving finds.
	if v = s.atMost(i, j, sign, v); move(v, 0) || move(v-v%2, 0) || move((v-1)-(v-1)%2, 0) {
		return
	}
	for lo, hi := uint64(0), s.atMost(i, j, sign, v); hi-lo > 1 && hi > lo && s.stats.Err == nil; {
		mid := lo + (hi-lo)/2
		mid += mid % step
		if mid >= hi {
			return
		}
		if move(mid, 0) {
			lo, hi = 0, s.atMost(i, j, sign, hi-mid)
		} else {
			hi = mid
		}
	}
}

// atMost bounds by how much number i can still be shifted.
func (s *tapes) atMost(i, j int, sign, most uint64) uint64 {
	b := s.best.Values
	if i >= len(b) || j >= len(b) {
		return 0
	}
	if sign != 1 {
		most = min(most, b[j])
	}
	return min(most, b[i])
}

// windows deletes one or two neighbouring numbers anywhere, whatever span they
// are of: the end of one list and the beginning of the next, for one list of both.
func (s *tapes) windows() {
	const few = 40
	for size := 2; size >= 1; size-- {
		for lo := len(s.best.Values) - size; lo >= 0 && len(s.best.Values) <= few && s.stats.Err == nil; lo-- {
			if lo+size <= len(s.best.Values) {
				s.try(s.without(lo, lo+size))
			}
		}
	}
}

// sort puts sibling spans into order, the simplest first.
func (s *tapes) sort() {
	for g := 0; s.stats.Err == nil; g++ {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		for k := 1; k < len(groups[g]); k++ {
			for n := k; n > 0 && n < len(groups[g]) && s.swap(groups[g][n-1], groups[g][n]); n-- {
				if groups = s.siblings(); g >= len(groups) {
					return
				}
			}
		}
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
