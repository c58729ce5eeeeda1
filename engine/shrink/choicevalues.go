package shrink

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/choice"
)

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
