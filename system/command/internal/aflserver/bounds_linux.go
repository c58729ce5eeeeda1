package aflserver

import (
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
	"golang.org/x/sys/unix"
)

// bounds are limits that end a case of a guided campaign before its timeout.
type bounds struct {
	budget    uint64        // edges; 0: none
	processor time.Duration // processor time; 0: none
}

// Bound sets limits for the next cases. A program that counts edges enforces the budget itself and
// ends with SIGXCPU. Processor time is enforced like the timeout and is included in it.
func (s *Server) Bound(budget uint64, processor time.Duration) { s.bounds = bounds{budget, processor} }

// Counts reports whether the program enforces a budget.
func (s *Server) Counts() bool { return s.work != nil }

// Work returns the number of edges the last run took, repetitions included; 0 if the program does
// not count.
func (s *Server) Work() uint64 { return s.work.Taken() }

// clock tracks the time of the case in flight.
type clock struct {
	ends  time.Time // deadline
	limit time.Duration
	grace forkline.Grace
	pid   int           // process whose processor time was last read; 0: none
	used  time.Duration // processor time that pid had used before the case
	over  bool          // its process has ended, and its server has been given time to report it
}

// start starts the clock of a case.
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

// stop stops the clock and reports whether the case was killed for exceeding it.
func (s *Server) stop() (late bool) {
	s.watch.Stop()
	_, late = s.inFlight.process()
	return late
}

// left returns how long the case in flight may run before the next check; 0 means that it has
// reached its time limit, not counting waits for a processor, or used up its processor time. A
// process that has run earlier cases, or has yet to fork the case's process, is first asked what it
// had used before, and gets its full time from then.
func (s *Server) left() time.Duration {
	c := &s.clock
	pid, late := s.inFlight.process()
	switch {
	case late:
		return 0
	case s.turns && atomic.LoadUint32(s.turn()) != run, !s.turns && s.line.Said():
		return c.limit // we had no processor ourselves and may have missed that it is over
	case s.turns && s.gone():
		return 0 // nobody will report how the case ended
	case pid == 0:
		pid = s.pid
	}
	used, err := processorTime(pid)
	if err != nil {
		// The case is over. Its server is about to report it, or already has and we had no
		// processor to act on it: a finished case must not become late.
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

// look returns how the process of a case stands. Its server may be about to start it or to report
// its end.
func (s *Server) look(pid int) forkline.Standing {
	standing := forkline.Look(pid)
	standing.Ready = standing.Ready || pid != s.pid && forkline.Look(s.pid).Ready
	return standing
}

func processorTime(pid int) (time.Duration, error) {
	var used unix.Timespec
	clock := int32(^pid)<<3 | 2 // as clock_getcpuclockid(3) computes it
	err := unix.ClockGettime(clock, &used)
	return time.Duration(used.Nano()), err
}
