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

// runningCase is the case that is being run, as Kill and the watchdog see it.
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

// unnamed begins a case, or a warm-up, that has no process yet.
func (f *runningCase) unnamed() {
	f.mu.Lock()
	f.pid, f.late = 0, false
	f.mu.Unlock()
}

// named notes the process of the case, and kills it if that was asked for
// before it had a name.
func (f *runningCase) named(pid int) {
	f.mu.Lock()
	f.pid = pid
	if f.killed || f.late {
		unix.Kill(pid, unix.SIGKILL)
	}
	f.mu.Unlock()
}

// overdue kills the case for taking too long; false: it did so before.
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

// process is that of the case, 0 if it is not known, and whether it was late.
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

// Kill ends the case in flight, from any goroutine; its Run returns an error
// that wraps [ErrKilled]. When no case is in flight it does nothing, so that a
// caller looks for cancellation before each Run; the case of one that comes in
// between lasts no longer than its timeout.
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

// Run runs one case and returns how it ended. In persistent mode the process
// of a case that finished is kept for the next, and the status says
// that it has exited with 0.
//
// When SharedInput is false, input is not looked at: the caller has put it
// where the program reads it. A case that takes longer than timeout is killed,
// with the processes that it has started. What a case leaves running when it
// ends by itself lives on until a case is killed, or Close.
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
	status = syscall.WaitStatus(word)
	switch {
	case timedOut && status.Stopped():
		// It ended as the signal was on its way; it is dead by now.
		status = syscall.WaitStatus(unix.SIGKILL)
	case status.Stopped():
		status = 0
	}
	return status, timedOut, nil
}

// settle ends a case, or several, of which err is what Thresh met.
func (s *Server) settle(err error) error {
	killed := s.inFlight.end()
	if err != nil {
		return s.died(err)
	}
	if !killed {
		return nil
	}
	if s.turns && s.waiting { // it ended as the signal was on its way
		if _, err := s.line.Receive(s.cfg.Timeout); err != nil {
			return s.died(err)
		}
	}
	s.lastDied, s.waiting = true, false
	s.sweep()
	return ErrKilled
}

// warm gives a new process an empty case. The first case of a process takes other edges
// than those that follow, since it does not come round the loop to get there. Which
// case is the first depends on what has been run before, and edges must not.
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
	// If it ends on nothing, it does so every time, and every case of it
	// is a first one if it is preceded by that.
	s.cannot = !s.waiting && !s.inFlight.struck()
	return nil
}

// runWarm runs a case.
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
	if s.cmplog != nil { // what was compared before there was a case, or by one that was killed
		readCmplog(s.cmplog.mem, s.layouts)
	}
	return s.runOne(timeout)
}

// runOne serves one case and notes how its process ended.
func (s *Server) runOne(timeout time.Duration) (word uint32, timedOut bool, err error) {
	word, timedOut, err = s.serve(timeout)
	if err != nil {
		return 0, false, err
	}
	s.lastDied = timedOut
	s.waiting = !timedOut && syscall.WaitStatus(word).Stopped()
	if s.steady++; !s.waiting {
		s.steady = 0
	}
	if timedOut {
		s.sweep()
	}
	return word, timedOut, nil
}

// feed puts the input into shared memory, or has standard input read from its
// start or, for no input, its end.
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

// serve has the server run a case and returns the wait status that it reports.
func (s *Server) serve(timeout time.Duration) (word uint32, timedOut bool, err error) {
	s.work.Fill(s.bounds.budget)
	if s.adopted {
		return s.direct(timeout)
	}
	// The server must know of a process that was killed when it seemed to be
	// waiting for its next case.
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
	if timedOut = s.stop(); timedOut && err == nil && s.turns && word == stopped {
		word, err = s.line.Receive(s.cfg.Timeout) // it ended as the signal was on its way
	}
	return word, timedOut, err
}

// answer receives the process of the case and then how it ended.
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

// onDeadline is called when a case is overdue, and again when the server does not
// tell of its end.
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

// limit lays the limits that are per case on the process of a case.
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
		// A case may be over before its limits are on it.
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// extend lays a limit on processor time on a process that has run cases
// before, counted from what it has used. It does so at most once a second, and
// grants that second.
func (s *Server) extend(pid int, l Rlimit, fresh bool) error {
	now := time.Now()
	if !fresh && now.Sub(s.armed) < time.Second {
		return nil
	}
	s.armed = now
	used, err := processorTime(pid)
	if errors.Is(err, unix.EINVAL) {
		return nil // there is no such process any more
	} else if err != nil {
		return fmt.Errorf("read the processor time of a case: %w", err)
	}
	var old unix.Rlimit
	if err := unix.Prlimit(pid, l.Resource, nil, &old); err != nil {
		return fmt.Errorf("read the limit on processor time: %w", err)
	}
	return Rlimit{Resource: l.Resource, Cur: min(uint64(used/time.Second)+1+l.Cur+1, old.Max), Max: old.Max}.Apply(pid)
}

// died cleans up after the server and says how it ended.
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
