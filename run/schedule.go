package run

import (
	"sync"
	"time"
)

// schedule hands the cases of one round to the workers, in small ranges so
// that the hand-over costs little and an end is noticed soon.
type schedule struct {
	mu      sync.Mutex
	room    *sync.Cond
	next    int64 // first case not handed out
	end     int64 // one past the last case
	folded  int64 // oldest case without a result
	stopped bool
	chunk   int64
}

func newSchedule(from, end int64) *schedule {
	s := &schedule{next: from, end: end, folded: from, chunk: 1}
	s.room = sync.NewCond(&s.mu)
	return s
}

// take returns the next range of cases, waiting while results run too far
// ahead of the oldest missing one; false means that there are none left.
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
	s.next = hi
	return lo, hi, true
}

// took tells how long a range of n cases took: ranges are sized to a few
// milliseconds.
func (s *schedule) took(n int64, d time.Duration) {
	const aim = 4 * time.Millisecond
	const most = 512
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case d < aim/2 && n >= s.chunk && s.chunk < most:
		s.chunk *= 2
	case d > 2*aim && s.chunk > 1:
		s.chunk /= 2
	}
}

// advance tells how far results are complete.
func (s *schedule) advance(folded int64) {
	s.mu.Lock()
	s.folded = folded
	s.mu.Unlock()
	s.room.Broadcast()
}

// stop hands out nothing more.
func (s *schedule) stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.room.Broadcast()
}
