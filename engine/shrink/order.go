package shrink

import "slices"

// The order of plainness: a shorter input is simpler; of two inputs of one length,
// the one whose first differing byte is plainer. So only finitely many inputs are
// simpler than a given one, and a simplest form exists.

// plainest are the bytes that irrelevant content turns into, in order: a reader
// sees at once that a run of them means nothing.
var plainest = [...]byte{'a', '0', ' ', 0}

// byRank holds all bytes from the plainest on, rank their positions in it: after
// plainest come digits, lower-case letters, capitals, the other printable bytes,
// and then the unprintable ones by value.
var byRank, rank = func() (order [256]byte, place [256]uint8) {
	seen := [256]bool{}
	n := 0
	add := func(b byte) {
		if !seen[b] {
			seen[b] = true
			order[n], place[b] = b, uint8(n)
			n++
		}
	}
	for _, b := range plainest {
		add(b)
	}
	for _, r := range [][2]int{{'0', '9'}, {'a', 'z'}, {'A', 'Z'}, {'!', '~'}, {0, 255}} {
		for b := r[0]; b <= r[1]; b++ {
			add(byte(b))
		}
	}
	return order, place
}()

// simpler reports whether a comes before b.
func simpler(a, b []byte) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	for i := range a {
		if a[i] != b[i] {
			return rank[a[i]] < rank[b[i]]
		}
	}
	return false
}

// plain makes every byte as plain as possible: first many at once, then each byte
// by steps down the order.
func (s *search) plain() {
	for _, to := range plainest {
		step := len(s.best)
		for lo := 0; lo < len(s.best) && !s.stopped(); {
			hi := min(lo+step, len(s.best))
			switch {
			case !s.plainer(lo, hi, to):
				lo = hi
			case (step > 1 || likely(s.best[lo], to)) && s.fill(lo, hi, to):
				lo, step = hi, 2*step
			case step > 1:
				step = 1
			default:
				lo = hi
			}
		}
	}
	for i := 0; i < len(s.best) && !s.stopped(); i++ {
		s.lower(i)
	}
}

// plainer reports whether filling a range with a byte would make it simpler.
func (s *search) plainer(lo, hi int, to byte) bool {
	return slices.ContainsFunc(s.best[lo:hi], func(b byte) bool { return rank[b] > rank[to] })
}

// likely reports whether a byte that must be of its kind could be to.
func likely(b, to byte) bool {
	switch to {
	case '0':
		return b < 0x80 && (digit(b) || !letter(b))
	case ' ':
		return blank(b)
	case 0:
		return b < ' ' || b > '~'
	default:
		return true
	}
}

// fill tries to replace all bytes of a range that are less plain than to.
func (s *search) fill(lo, hi int, to byte) bool {
	s.next = append(s.next[:0], s.best...)
	for i := lo; i < hi; i++ {
		if rank[s.next[i]] > rank[to] {
			s.next[i] = to
		}
	}
	return s.try()
}

// lower finds the plainest byte for a place where a threshold counts. Most bytes
// that are left must be exactly what they are, so the first step is one down; only
// if that holds is a search worth its tests.
func (s *search) lower(i int) {
	const floor = len(plainest) - 1
	high := int(rank[s.best[i]])
	if high <= floor+1 || !s.set(i, byRank[high-1]) {
		return
	}
	for low, high := floor, high-1; high-low > 1; {
		mid := (low + high) / 2
		if s.set(i, byRank[mid]) {
			high = mid
		} else {
			low = mid
		}
	}
}

// set tries another byte at a place.
func (s *search) set(i int, b byte) bool {
	return s.edit(edit{i, i + 1, []byte{b}})
}

// reorderPairs sorts neighbouring bytes, so that if X and Y may come in any order,
// there is one result.
func (s *search) reorderPairs() {
	for i := 0; i+1 < len(s.best) && !s.stopped(); {
		a, b := s.best[i], s.best[i+1]
		if rank[b] < rank[a] && s.edit(edit{i, i + 2, []byte{b, a}}) {
			i = max(0, i-1)
			continue
		}
		i++
	}
}
