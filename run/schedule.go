package run

import (
	"sync"
	"time"
)

// schedule hands out the cases of one round to the workers, in ranges small enough to
// stop quickly and large enough to cost little.
type schedule struct {
	mu      sync.Mutex
	room    *sync.Cond
	next    int64 // first case not handed out
	end     int64 // one past the last case
	folded  int64 // oldest case without a result
	stopped bool
	chunk   int64
	size    sizing
	takers  int64
}

// sizing limits a range of cases by time and by number.
type sizing struct {
	aim  time.Duration
	most int64
}

// singly is for executors that take one case at a time.
var singly = sizing{16 * time.Millisecond, 512}

// newSchedule hands out the cases in [from, end) to the takers. The first ranges have
// chunk cases.
func newSchedule(from, end, chunk int64, size sizing, takers int) *schedule {
	s := &schedule{next: from, end: end, folded: from, chunk: max(chunk, 1), size: size, takers: int64(takers)}
	s.room = sync.NewCond(&s.mu)
	return s
}

// take returns the next range of cases. It waits while results run too far ahead of
// the oldest missing one; false means that no cases are left.
func (s *schedule) take() (lo, hi int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.stopped && s.next < s.end && s.next-s.folded >= window {
		s.room.Wait()
	}
	if s.stopped || s.next >= s.end {
		return 0, 0, false
	}
	lo = s.next
	hi = min(lo+s.chunk, s.end)
	if s.takers > 1 { // ranges shrink towards the end, so that no worker is left with much to do
		hi = min(hi, lo+max(1, (s.end-lo)/(2*s.takers)))
	}
	s.next = hi
	return lo, hi, true
}

// empty reports whether no cases are left to take.
func (s *schedule) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped || s.next >= s.end
}

// noteDuration adapts the size of later ranges to how long a range of n cases took.
func (s *schedule) noteDuration(n int64, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case d < s.size.aim/2 && n >= s.chunk && s.chunk < s.size.most:
		s.chunk = min(2*s.chunk, s.size.most)
	case d > 2*s.size.aim && s.chunk > 1:
		s.chunk /= 2
	}
}

// reached returns the current size of ranges.
func (s *schedule) reached() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chunk
}

// advance notes the oldest case without a result.
func (s *schedule) advance(folded int64) {
	s.mu.Lock()
	s.folded = folded
	s.mu.Unlock()
	s.room.Broadcast()
}

// stop stops handing out cases.
func (s *schedule) stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.room.Broadcast()
}
