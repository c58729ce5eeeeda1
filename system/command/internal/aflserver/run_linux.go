package aflserver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
	"golang.org/x/sys/unix"
)

// runningCase is the case in flight, as Kill and the watchdog see it.
type runningCase struct {
	mu     sync.Mutex
	on     bool
	pid    int  // 0: not known yet
	killed bool // by Kill
	late   bool // killed by the watchdog
}

func (f *runningCase) begin() {
	f.mu.Lock()
	f.on, f.pid, f.killed, f.late = true, 0, false, false
	f.mu.Unlock()
}

// unnamed begins a case or a warm-up whose process is not known yet.
func (f *runningCase) unnamed() {
	f.mu.Lock()
	f.pid, f.late = 0, false
	f.mu.Unlock()
}

// named records the process of the case, and kills it if that was requested before it was known.
func (f *runningCase) named(pid int) {
	f.mu.Lock()
	f.pid = pid
	if f.killed || f.late {
		unix.Kill(pid, unix.SIGKILL)
	}
	f.mu.Unlock()
}

// overdue kills the case for taking too long; it returns false if that was done before.
func (f *runningCase) overdue() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.late
	f.late = true
	if f.pid != 0 {
		unix.Kill(f.pid, unix.SIGKILL)
	}
	return !before
}

// process returns the process of the case, 0 if unknown, and whether the case was late.
func (f *runningCase) process() (pid int, late bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pid, f.late
}

func (f *runningCase) struck() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.killed
}

func (f *runningCase) end() (killed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on = false
	return f.killed
}

// Kill ends the case in flight; any goroutine may call it. The case's Run returns an error that
// wraps [ErrKilled]. Without a case in flight it does nothing, so callers must check for
// cancellation before each Run; a case that starts in between lasts at most its timeout.
func (s *Server) Kill() {
	f := &s.inFlight
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.on {
		return
	}
	f.killed = true
	if f.pid != 0 {
		unix.Kill(f.pid, unix.SIGKILL)
	}
}

// Run runs one case and returns how it ended. In persistent mode, the process of a finished case is
// kept for the next, and the status is that of an exit with 0.
//
// If SharedInput is false, Run ignores input: the caller has put it where the program reads it. A
// case that takes longer than timeout is killed, with the processes it started. Processes left by a
// case that ends by itself live until a case is killed, or Close.
func (s *Server) Run(input []byte, timeout time.Duration) (status syscall.WaitStatus, timedOut bool, err error) {
	if s.ended {
		if err := s.again(); err != nil {
			return 0, false, s.died(err)
		}
	}
	if s.pid == 0 {
		return 0, false, ErrServerDied
	}
	if s.worthAdopting() {
		if err := s.adopt(); err != nil {
			return 0, false, err
		}
	}
	if s.sharedInput && len(input) > s.cfg.MaxInput {
		return 0, false, fmt.Errorf("input of %d bytes: shared memory holds %d", len(input), s.cfg.MaxInput)
	}
	s.inFlight.begin()
	word, timedOut, err := s.runWarm(input, timeout)
	if err := s.settle(err); err != nil {
		return 0, false, err
	}
	if status = syscall.WaitStatus(word); status.Stopped() {
		status = 0
	}
	return status, timedOut, nil
}

// settle ends a case or a batch; err is an error of running it, not of the case.
func (s *Server) settle(err error) error {
	killed := s.inFlight.end()
	if err != nil {
		return s.died(err)
	}
	if !killed {
		return nil
	}
	if s.turns && s.waiting { // the case finished just before the kill took effect
		if _, err := s.line.Receive(s.cfg.Timeout); err != nil {
			return s.died(err)
		}
	}
	s.lastDied, s.waiting = true, false
	s.sweep()
	return ErrKilled
}

// warm runs an empty case in a new process. The first case of a process takes other edges than the
// following ones, because it does not enter by the loop's back edge. Which case comes first depends
// on what ran before, and edges must not.
func (s *Server) warm(timeout time.Duration) error {
	if !s.Persistent() || s.waiting || s.cannot || !s.sharedInput && !s.cfg.Stdin {
		return nil
	}
	if err := s.feed(nil, unix.SEEK_END); err != nil {
		return err
	}
	if _, _, err := s.runOne(timeout); err != nil {
		return err
	}
	// A program that ends on empty input does so every time: a warm-up is then useless, because the
	// next case is the first of its process anyway.
	s.cannot = !s.waiting && !s.inFlight.struck()
	return nil
}

// runWarm warms up a new process if necessary, then runs a case.
func (s *Server) runWarm(input []byte, timeout time.Duration) (word uint32, timedOut bool, err error) {
	if err := s.warm(timeout); err != nil {
		return 0, false, err
	}
	if err := s.feed(input, unix.SEEK_SET); err != nil {
		return 0, false, err
	}
	clear(s.counts)
	if s.comparisons != nil {
		clear(s.comparisons.mem[:comparisonsHeader])
	}
	if s.cmplog != nil { // discard comparisons from before the first case or of a killed one
		readCmplog(s.cmplog.mem, s.layouts)
	}
	return s.runOne(timeout)
}

// runOne runs one case and records how its process ended. A case that ended by itself just before
// the kill took effect has not timed out.
func (s *Server) runOne(timeout time.Duration) (word uint32, timedOut bool, err error) {
	word, killed, err := s.serve(timeout)
	if err != nil {
		return 0, false, err
	}
	status := syscall.WaitStatus(word)
	s.lastDied = killed
	s.waiting = !killed && status.Stopped()
	if s.steady++; !s.waiting {
		s.steady = 0
	}
	if killed {
		s.sweep()
	}
	return word, killed && status.Signaled() && status.Signal() == unix.SIGKILL, nil
}

// feed puts the input into shared memory or, without shared memory, seeks standard input: to its
// start, or for an empty input to its end.
func (s *Server) feed(input []byte, whence int) error {
	if s.sharedInput {
		// What a case reads beyond its input must not depend on the case before.
		last := inputHeader + int(binary.NativeEndian.Uint32(s.inputs.mem))
		binary.NativeEndian.PutUint32(s.inputs.mem, uint32(len(input)))
		if end := inputHeader + copy(s.inputs.mem[inputHeader:], input); end < last {
			clear(s.inputs.mem[end:min(last, len(s.inputs.mem))])
		}
		return nil
	}
	if s.cfg.Stdin {
		if _, err := unix.Seek(s.cfg.Files[0], 0, whence); err != nil {
			return fmt.Errorf("rewind standard input: %w", err)
		}
	}
	return nil
}

// serve has the server run a case. It returns the wait status with which the case ended, and whether
// its process was killed for taking too long.
func (s *Server) serve(timeout time.Duration) (word uint32, killed bool, err error) {
	s.work.Fill(s.bounds.budget)
	if s.adopted {
		return s.direct(timeout)
	}
	// The server must learn that a process was killed while it seemed to be waiting for its next
	// case.
	wasKilled := uint32(0)
	if s.lastDied {
		wasKilled = 1
	}
	s.inFlight.unnamed()
	if s.turns && s.waiting {
		s.start(timeout)
		word, err = s.next()
	} else {
		if s.turns {
			s.give(run)
		}
		if err := s.line.Send(wasKilled); err != nil {
			return 0, false, err
		}
		s.start(timeout)
		word, err = s.answer()
	}
	if killed = s.stop(); killed && err == nil && s.turns && word == stopped {
		_, err = s.line.Receive(s.cfg.Timeout) // that the process of the finished case was killed
	}
	return word, killed, err
}

// answer receives the process of the case, then how it ended.
func (s *Server) answer() (uint32, error) {
	pid, err := s.line.Next()
	if err != nil {
		return 0, err
	}
	if int32(pid) <= 0 {
		return 0, fmt.Errorf("it reports %d for a process", int32(pid))
	}
	s.inFlight.named(int(pid))
	if err := s.limit(int(pid)); err != nil {
		return 0, err
	}
	return s.outcome()
}

// onDeadline runs when a case may be overdue, and again if the server does not report its end.
func (s *Server) onDeadline(int) (again time.Duration) {
	if left := s.left(); left > 0 {
		return left
	}
	if s.inFlight.overdue() && !(s.turns && s.gone()) {
		return s.cfg.Timeout
	}
	unix.Kill(s.pid, unix.SIGKILL)
	if s.turns {
		s.give(told)
	}
	return 0
}

// limit applies the per-case limits to the process of a case.
func (s *Server) limit(pid int) error {
	fresh := pid != s.last
	s.last = pid
	for _, l := range s.cfg.Limits {
		if !l.PerCase() {
			continue
		}
		var err error
		switch {
		case l.Resource == unix.RLIMIT_CPU && s.Persistent():
			err = s.extend(pid, l, fresh)
		case fresh || !s.Persistent():
			err = l.Apply(pid)
		}
		// A case may end before its limits are applied.
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// extend raises the limit on processor time of a process that has run earlier cases, counting from
// what it has used. It does so at most once a second, and allows for that second.
func (s *Server) extend(pid int, l Rlimit, fresh bool) error {
	now := time.Now()
	if !fresh && now.Sub(s.armed) < time.Second {
		return nil
	}
	s.armed = now
	used, err := processorTime(pid)
	if errors.Is(err, unix.EINVAL) {
		return nil // the process has ended
	} else if err != nil {
		return fmt.Errorf("read the processor time of a case: %w", err)
	}
	var old unix.Rlimit
	if err := unix.Prlimit(pid, l.Resource, nil, &old); err != nil {
		return fmt.Errorf("read the limit on processor time: %w", err)
	}
	return Rlimit{Resource: l.Resource, Cur: min(uint64(used/time.Second)+1+l.Cur+1, old.Max), Max: old.Max}.Apply(pid)
}

// died cleans up after the server and returns an error that says how it ended.
func (s *Server) died(cause error) error {
	s.line.Close()
	if s.pid == 0 {
		return fmt.Errorf("%w: %w", ErrServerDied, cause)
	}
	ws := forkline.Destroy(s.pid)
	s.pid, s.adopted = 0, false
	if ws.Signaled() && ws.Signal() == unix.SIGKILL {
		return fmt.Errorf("%w: %w", ErrServerDied, cause)
	}
	return fmt.Errorf("%w (%s): %w", ErrServerDied, forkline.Ended(ws), cause)
}
