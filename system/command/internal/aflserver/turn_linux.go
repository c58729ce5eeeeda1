package aflserver

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A process in persistent mode that contains our runtime takes one case after another from us
// through a word in shared memory: two context switches per case, where a stock fork server needs
// four. Its server sleeps until the process ends, and a new process then costs just a fork.
// c/runtime.c of package coverage is the other side.
const (
	turnAt = 16 // after the remaining edges and the budget

	asked = iota // set by us before the program starts
	ready        // the program's answer
	run          // run a case
	done         // the process has run it
	told         // the server's pipe has the answer
)

// stopped is the wait status of a process in persistent mode that has finished a case.
const stopped = uint32(unix.SIGSTOP)<<8 | 0x7f

func (s *Server) turn() *uint32 { return (*uint32)(unsafe.Pointer(&s.work.shared.mem[turnAt])) }

// give sets the turn and wakes the waiter.
func (s *Server) give(turn uint32) {
	atomic.StoreUint32(s.turn(), turn)
	s.wake()
}

func (s *Server) wake() { s.futex(1, 1) }

func (s *Server) futex(operation, value uintptr) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(s.turn())), operation, value, 0, 0, 0)
}

// taken waits until the running case is over, and reports whether its process says so. Only the
// watchdog limits the wait, for the reason given at Line.Next.
func (s *Server) taken() bool {
	for {
		if turn := atomic.LoadUint32(s.turn()); turn != run {
			return turn == done
		}
		s.futex(0, run)
	}
}

// next runs a case in the waiting process. If the process has ended since the last case, through a
// thread of its own, that is the outcome of this case.
func (s *Server) next() (word uint32, err error) {
	s.inFlight.named(s.last)
	if err := s.limit(s.last); err != nil {
		return 0, err
	}
	if atomic.CompareAndSwapUint32(s.turn(), done, run) {
		s.wake()
	}
	return s.outcome()
}

// outcome waits for the end of the case.
func (s *Server) outcome() (word uint32, err error) {
	if s.turns && s.taken() {
		return stopped, nil
	}
	return s.line.Next()
}

// gone reports whether the server has ended; a case may have killed it.
func (s *Server) gone() bool {
	var info unix.Siginfo
	return unix.Waitid(unix.P_PID, s.pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == nil && info.Signo != 0
}
