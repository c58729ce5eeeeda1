package aflserver

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A process in persistent mode that our runtime is in takes one case after the other
// from us, by a word in shared memory: two changes of process for one case, where a
// stock fork server makes four. Its server sleeps until the process ends, which costs
// no more than a fork then. c/runtime.c of package coverage has the other side.
const (
	turnAt = 16 // behind what a case may still do, and may do in all

	asked = iota // by us, before the program starts
	ready        // the program's answer
	run          // a case
	done         // the process has done it
	told         // the server has: its pipe has the answer
)

// stopped is the wait status of a process in persistent mode that has done a case.
const stopped = uint32(unix.SIGSTOP)<<8 | 0x7f

func (s *Server) turn() *uint32 { return (*uint32)(unsafe.Pointer(&s.work.shared.mem[turnAt])) }

// give gives the turn to whoever waits for it.
func (s *Server) give(turn uint32) {
	atomic.StoreUint32(s.turn(), turn)
	s.wake()
}

func (s *Server) wake() { s.futex(1, 1) }

func (s *Server) futex(operation, value uintptr) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(s.turn())), operation, value, 0, 0, 0)
}

// taken waits until the case that runs is over, and reports whether its process says
// so. Nothing limits the wait but the watchdog, for the reason that Line.Next gives.
func (s *Server) taken() bool {
	for {
		if turn := atomic.LoadUint32(s.turn()); turn != run {
			return turn == done
		}
		s.futex(0, run)
	}
}

// next serves a case by the process that waits for it. One that has ended since the
// last case, by a thread of its own, ends this one.
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

// gone reports whether the server has ended: a case may have killed it.
func (s *Server) gone() bool {
	var info unix.Siginfo
	return unix.Waitid(unix.P_PID, s.pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == nil && info.Signo != 0
}
