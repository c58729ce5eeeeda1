package campaign

// Sequence puts results that come in any order back into case order: the order
// in which outcomes are folded, counted and digested, whatever the number of
// workers. Its memory is bounded by how far ahead of the oldest missing case
// results may run, which the caller limits.
type Sequence struct {
	next    int64 // index of the next result to be released
	waiting map[int64]Outcome
}

// NewSequence returns a sequence whose first case has index first.
func NewSequence(first int64) *Sequence {
	return &Sequence{next: first, waiting: make(map[int64]Outcome)}
}

// Add takes one result and calls release for every result that is now in
// order. A result that was already released or is already waiting is ignored:
// executing a case twice changes nothing. Release returning false keeps the
// rest waiting.
func (s *Sequence) Add(index int64, o Outcome, release func(int64, Outcome) bool) {
	if index < s.next {
		return
	}
	if index != s.next {
		if _, dup := s.waiting[index]; !dup {
			s.waiting[index] = o
		}
		return
	}
	for {
		s.next++
		if !release(s.next-1, o) {
			return
		}
		var ok bool
		if o, ok = s.waiting[s.next]; !ok {
			return
		}
		delete(s.waiting, s.next)
	}
}

// Next is the index of the oldest case without a result.
func (s *Sequence) Next() int64 { return s.next }
