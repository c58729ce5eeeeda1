package shrink

import (
	"math/bits"
	"slices"

	"github.com/thresh-dev/thresh/engine/choice"
)

// quantity reports whether number i is an amount.
func (s *tapes) quantity(i int) bool { return s.best.Marks[i].Kind == choice.Number }

// alike returns the indexes, from i on, of the quantities with the same limit
// as number i, which may belong together.
func (s *tapes) alike(i int) []int {
	var list []int
	for k := i; k < len(s.best.Values); k++ {
		if s.best.Marks[k] == s.best.Marks[i] {
			list = append(list, k)
		}
	}
	return list
}

// clearNumbers sets all quantities to 0, or all of one limit, or replaces them
// by their ranks, which keeps what is equal and what is larger.
func (s *tapes) clearNumbers() {
	c := slices.Clone(s.best.Values)
	for i := range c {
		if s.quantity(i) {
			c[i] = 0
		}
	}
	if s.try(c) {
		return
	}
	seen := map[choice.Mark]bool{}
	for i := 0; i < len(s.best.Values) && s.stats.Err == nil; i++ {
		if m := s.best.Marks[i]; !s.quantity(i) || seen[m] {
			continue
		} else {
			seen[m] = true
		}
		list := s.alike(i)
		c := slices.Clone(s.best.Values)
		for _, k := range list {
			c[k] = 0
		}
		if s.try(c) {
			continue
		}
		var ranks []uint64
		for _, k := range list {
			ranks = append(ranks, s.best.Values[k])
		}
		slices.Sort(ranks)
		ranks = slices.Compact(ranks)
		c = slices.Clone(s.best.Values)
		for _, k := range list {
			r, _ := slices.BinarySearch(ranks, c[k])
			c[k] = uint64(r)
		}
		s.try(c)
	}
}

// lower makes every number as small as possible.
func (s *tapes) lower() {
	for i := 0; i < len(s.best.Values) && s.stats.Err == nil; i++ {
		if s.quantity(i) {
			s.lowerAt(i, func(to uint64) []uint64 { return s.with(i, to) })
		}
	}
}

// lowerAt lowers number i; candidate returns a tape with the number set to a
// value. It tries small steps first, since a number that cannot be lowered by
// these is most likely needed as it is. Then it halves the length in bits, and
// then searches what is left.
func (s *tapes) lowerAt(i int, candidate func(uint64) []uint64) {
	v := s.best.Values[i]
	if v == 0 || s.try(candidate(0)) || v == 1 {
		return
	}
	step := uint64(1)
	switch {
	case s.try(candidate(v - 1)):
		v--
	case v > 2 && s.try(candidate(v-2)):
		v -= 2
		step = 2 // numbers that stand for 0, -1, 1, -2 ... keep their sign this way
	default:
		return
	}
	odd := v % 2
	fit := func(to uint64) uint64 {
		if step == 2 && to%2 != odd {
			return to + 1
		}
		return to
	}
	low := uint64(0) // is refused
	for short, long := 0, bits.Len64(v); long-short > 1 && s.stats.Err == nil && i < len(s.best.Values); {
		mid := (short + long) / 2
		to := fit(1<<mid - 1)
		if to < v && to > low && s.try(candidate(to)) {
			v, long = to, mid
		} else {
			low, short = min(max(low, to), v), mid
		}
	}
	for v-low > step && s.stats.Err == nil && i < len(s.best.Values) {
		mid := fit(low + (v-low)/2)
		if mid >= v {
			return
		}
		if s.try(candidate(mid)) {
			v = mid
		} else {
			low = mid
		}
	}
}

// together lowers equal quantities at once.
func (s *tapes) together() {
	for i := 0; i < len(s.best.Values) && s.stats.Err == nil; i++ {
		v := s.best.Values[i]
		if v == 0 || !s.quantity(i) || s.earlier(i) {
			continue
		}
		list := slices.DeleteFunc(s.alike(i), func(k int) bool { return s.best.Values[k] != v })
		if len(list) < 2 {
			continue
		}
		s.lowerAt(i, func(to uint64) []uint64 {
			c := slices.Clone(s.best.Values)
			for _, k := range list {
				if k < len(c) {
					c[k] = to
				}
			}
			return c
		})
	}
}

// earlier reports whether an earlier quantity equals number i.
func (s *tapes) earlier(i int) bool {
	for k := range i {
		if s.best.Marks[k] == s.best.Marks[i] && s.best.Values[k] == s.best.Values[i] {
			return true
		}
	}
	return false
}
