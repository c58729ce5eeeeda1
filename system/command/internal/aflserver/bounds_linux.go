package aflserver

import (
	"time"

	"golang.org/x/sys/unix"
)

// bounds end a case of a guided campaign before its timeout.
type bounds struct {
	budget    uint64        // edges; 0: none
	processor time.Duration // processor time; 0: none
}

// Bound bounds the cases to come. The budget is kept by a program that counts, which
// then ends by SIGXCPU; processor time is kept like the timeout, which it is part of.
func (s *Server) Bound(budget uint64, processor time.Duration) { s.bounds = bounds{budget, processor} }

// Work returns how many edges the last run took, in all; 0 if the program does not count.
func (s *Server) Work() uint64 { return s.work.Taken() }

// start begins the time of a case.
func (s *Server) start(timeout time.Duration) {
	if s.bounds.processor > 0 {
		s.ends, s.used = time.Now().Add(timeout), -1
		timeout = min(timeout, s.bounds.processor)
	}
	s.watch.Start(timeout)
}

// stop ends it, and reports whether the case was killed for it.
func (s *Server) stop() (late bool) {
	s.watch.Stop()
	_, late = s.inFlight.process()
	return late
}

// unused is how long the case in flight may go on as its process has not had the
// processor for as long as it may. A process that has run cases before is asked
// first when the time limit was reached, and gets all of it again.
func (s *Server) unused() time.Duration {
	pid, late := s.inFlight.process()
	rest := time.Until(s.ends)
	if s.bounds.processor == 0 || late || pid == 0 || rest <= 0 {
		return 0
	}
	now, err := processorTime(pid)
	if err != nil {
		return 0
	}
	if s.used < 0 {
		if s.used = 0; s.Persistent() {
			s.used = now
		}
	}
	if left := s.bounds.processor - (now - s.used); left > 0 {
		return min(max(left, time.Millisecond), rest)
	}
	return 0
}

func processorTime(pid int) (time.Duration, error) {
	var used unix.Timespec
	clock := int32(^pid)<<3 | 2 // as clock_getcpuclockid(3) makes it
	err := unix.ClockGettime(clock, &used)
	return time.Duration(used.Nano()), err
}
