package aflserver

import (
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
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

// Counts reports whether the program keeps to a budget.
func (s *Server) Counts() bool { return s.work != nil }

// Work returns how many edges the last run took, in all; 0 if the program does not count.
func (s *Server) Work() uint64 { return s.work.Taken() }

// clock is the time of the case in flight.
type clock struct {
	ends  time.Time // at the latest
	limit time.Duration
	grace forkline.Grace
	pid   int           // of the process that was last asked what it has used; 0: none
	used  time.Duration // of processor time by it, before the case
	over  bool          // its process has ended, which its server was given time to say
}

// start begins the time of a case.
func (s *Server) start(timeout time.Duration) {
	s.clock = clock{ends: time.Now().Add(timeout), limit: timeout}
	s.clock.grace.Begin(timeout)
	first := timeout
	if s.Persistent() {
		first /= 10
	}
	if s.bounds.processor > 0 {
		first = min(first, s.bounds.processor)
	}
	s.watch.Start(first)
}

// stop ends it, and reports whether the case was killed for it.
func (s *Server) stop() (late bool) {
	s.watch.Stop()
	_, late = s.inFlight.process()
	return late
}

// left is how long the case in flight may go on before it is looked at again, since it
// has neither reached its time limit, in which waiting for a processor does not count,
// nor used up its processor time. A process that has run cases before, or has yet to
// make that of the case, is first asked what it used before, and has all its time from then.
func (s *Server) left() time.Duration {
	c := &s.clock
	pid, late := s.inFlight.process()
	switch {
	case late:
		return 0
	case s.turns && atomic.LoadUint32(s.turn()) != run, !s.turns && s.line.Said():
		return c.limit // we have not had a processor ourselves to see how it goes, or that it is over
	case s.turns && s.gone():
		return 0 // nobody will say how the case ended
	case pid == 0:
		pid = s.pid
	}
	used, err := processorTime(pid)
	if err != nil {
		// The case is over. Its server is about to say so, or has, and we have read it but
		// had no processor since: what is over does not become late.
		if !c.over || pid != s.pid && forkline.Look(s.pid).Ready {
			c.over = true
			return s.cfg.Timeout
		}
		return 0
	}
	if pid != c.pid {
		c.pid, c.used = pid, 0
		c.grace.Since(forkline.Standing{})
		if s.Persistent() || pid == s.pid {
			c.used, c.ends = used, time.Now().Add(c.limit)
			c.grace.Since(s.look(pid))
		}
	}
	rest := time.Until(c.ends)
	if rest <= 0 {
		rest = c.grace.More(func() forkline.Standing { return s.look(pid) })
		c.ends = time.Now().Add(rest)
	}
	if s.bounds.processor == 0 || rest == 0 {
		return rest
	}
	unused := s.bounds.processor - (used - c.used)
	if unused <= 0 {
		return 0
	}
	return min(max(unused, time.Millisecond), rest)
}

// look is how the process of a case stands. Its server may be about to start it, or to say
// how it has ended.
func (s *Server) look(pid int) forkline.Standing {
	standing := forkline.Look(pid)
	standing.Ready = standing.Ready || pid != s.pid && forkline.Look(s.pid).Ready
	return standing
}

func processorTime(pid int) (time.Duration, error) {
	var used unix.Timespec
	clock := int32(^pid)<<3 | 2 // as clock_getcpuclockid(3) makes it
	err := unix.ClockGettime(clock, &used)
	return time.Duration(used.Nano()), err
}
