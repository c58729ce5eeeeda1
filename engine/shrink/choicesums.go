package shrink

import (
	"math/bits"
	"slices"
)

// merge removes a number with its span and adds it to the next number of the
// same limit, for conditions on sums.
func (s *tapes) merge() {
	for i := 0; i < len(s.best.Values) && s.stats.Err == nil; i++ {
		if !s.quantity(i) || s.best.Values[i] == 0 || s.dense(i) {
			continue
		}
		list := s.alike(i)
		from, to := s.around(i)
		if len(list) < 2 || list[1] < to {
			continue
		}
		for _, sum := range s.sums(i, list[1]) {
			c := slices.Clone(s.best.Values)
			c[list[1]] = sum
			end := s.fullEnd(from)
			if c = slices.Delete(c, from, to); s.tryShorter(c) || end >= 0 && s.tryShorter(slices.Insert(c, end-(to-from), 0)) {
				i = max(i-(to-from), from) - 1
				break
			}
		}
	}
}

// sums returns possible sums of the numbers i and j, which have the same limit:
// of numbers that stand for 0, -1, 1, -2 ... as integers of that many bits, and
// of plain ones up to their limit.
func (s *tapes) sums(i, j int) []uint64 {
	a, b, limit := s.best.Values[i], s.best.Values[j], s.best.Marks[i].Limit
	plain, carry := bits.Add64(a, b, 0)
	full := func(sum uint64) bool { return carry == 1 || limit > 0 && sum >= limit }
	var signed uint64
	switch {
	case a&1 == b&1:
		if signed = plain + a&1; full(signed) {
			signed = 2*limit - 1 - signed // beyond one end of the range it wraps to the other
		}
	default:
		even, odd := a, b
		if a&1 == 1 {
			even, odd = b, a
		}
		if signed = odd - even; even > odd {
			signed = even - odd - 1
		}
	}
	if full(plain) {
		plain = limit - 1
	}
	if plain == signed {
		return []uint64{plain}
	}
	return []uint64{signed, plain}
}

// around returns the innermost span of more than one number that contains number
// i.
func (s *tapes) around(i int) (from, to int) {
	from, to = i, i+1
	for _, x := range s.best.Spans {
		if x.From <= i && i < x.To && x.To-x.From > 1 {
			from, to = x.From, x.To // the innermost begins last
		}
	}
	return from, to
}

// pairs lowers two numbers together, for conditions on their difference, and
// lowers one while it raises a later one, for conditions on sums.
func (s *tapes) pairs() {
	for i := 0; i < len(s.best.Values) && s.stats.Err == nil; i++ {
		for n := 1; n <= near && i < len(s.best.Values) && s.best.Values[i] > 0 && s.quantity(i); n++ {
			list := s.alike(i)
			if n >= len(list) || n > 1 && len(list) > 3 || s.dense(i) {
				break
			}
			s.shift(i, list[n], ^uint64(0))
			if i < len(s.best.Values) && list[n] < len(s.best.Values) {
				s.shift(i, list[n], 1)
			}
		}
	}
}

// near is how many later numbers of the same limit are paired with a number:
// more would cost a test for every pair.
const near = 2

// dense reports whether the numbers with the limit of number i are the ranks 0
// to n-1, n at least three, so that their order matters and not their sums.
func (s *tapes) dense(i int) bool {
	var values []uint64
	for k, m := range s.best.Marks {
		if m == s.best.Marks[i] {
			values = append(values, s.best.Values[k])
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	return len(values) > 2 && values[len(values)-1] == uint64(len(values)-1)
}

// shift takes as much as possible from number i and adds it to number j, times
// sign (1, or -1 in two's complement). Numbers that stand for 0, -1, 1, -2 ...
// keep their sign if they change by an even amount; a negative one that becomes
// 0 changes by one more.
func (s *tapes) shift(i, j int, sign uint64) {
	move := func(d, more uint64) bool {
		b := s.best.Values
		if d == 0 || i >= len(b) || j >= len(b) || d > b[i] || sign != 1 && d > b[j] {
			return false
		}
		c := slices.Clone(b)
		c[i] -= d
		if sign == 1 {
			c[j] += min(d+more, s.best.Marks[j].Limit-1-b[j])
		} else {
			c[j] -= d
		}
		return s.try(c)
	}
	step := uint64(1)
	switch {
	case sign == 1 && (move(s.best.Values[i], 1) || move(s.best.Values[i], 0)):
		return
	case move(1, 0):
	case move(2, 0):
		step = 2
	default:
		return
	}
	// Try to move all, then as much as halving finds.
	if most := s.room(i, j, sign); move(most, 0) || move(most-most%2, 0) || move((most-1)-(most-1)%2, 0) {
		return
	}
	for hi := s.room(i, j, sign); hi > 1 && s.stats.Err == nil; {
		mid := hi / 2
		mid += mid % step
		if mid >= hi {
			return
		}
		if move(mid, 0) {
			hi = min(hi-mid, s.room(i, j, sign))
		} else {
			hi = mid
		}
	}
}

// room returns how much of number i can be moved to number j, which has the same
// limit, or subtracted from both.
func (s *tapes) room(i, j int, sign uint64) uint64 {
	b := s.best.Values
	switch {
	case i >= len(b) || j >= len(b):
		return 0
	case sign == 1:
		return min(b[i], s.best.Marks[j].Limit-1-b[j])
	}
	return min(b[i], b[j])
}
