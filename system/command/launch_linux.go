package command

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// step is one system call on the child's way from clone3 to execve. The assembly walks an array of
// steps and depends on their layout.
type step struct {
	nr      uintptr
	args    [5]uintptr
	mayFail uintptr // 0: an error ends the child and is reported
	what    stepKind
}

// stepKind is the purpose of a step, for error messages.
type stepKind uintptr

const (
	stepSession stepKind = iota
	stepStdio
	stepFolder
	stepSignals
	stepLimit
	stepContain
	stepClose
	stepExec
	stepExit
	stepTrace
)

func (k stepKind) String() string {
	return [...]string{"start a session", "connect standard input and output", "enter the run folder",
		"reset signals", "set limits", "set up the sandbox", "close descriptors", "execute", "exit", "be traced"}[k]
}

// launchpad is what parent and child share while the child starts. It must live on the heap, which
// does not move; the assembly depends on its layout.
type launchpad struct {
	clone  cloneArgs
	block  uint64 // all signals: the child must not run a Go handler
	saved  uint64 // the caller's signal mask
	first  uintptr
	failed uintptr // address of the step that failed
	errno  uintptr // and its error; 0: execve succeeded

	steps []step
	keep  []any // what the steps point at
	none  uint64
	pidFD int32
}

// cloneArgs is the first eleven fields of the kernel's struct clone_args.
type cloneArgs struct {
	flags, pidFD, childTID, parentTID, exitSignal, stack, stackSize, tls, setTID, setTIDSize, cgroup uint64
}

// newLaunchpad returns a launchpad without steps. The child shares our memory, but unlike vfork we
// do not wait for its execve: nothing here touches the launchpad until the child has ended or
// executed, and going straight to the wait saves two context switches per case.
//
// The kernel and the child get the launchpad's addresses as numbers. If this function were inlined,
// the launchpad could be allocated on a stack, which moves.
//
//go:noinline
func newLaunchpad() *launchpad {
	p := &launchpad{block: ^uint64(0)}
	p.clone.flags = unix.CLONE_VM | unix.CLONE_CLEAR_SIGHAND | unix.CLONE_PIDFD
	p.clone.pidFD = uint64(uintptr(unsafe.Pointer(&p.pidFD)))
	p.clone.exitSignal = uint64(unix.SIGCHLD)
	return p
}

func (p *launchpad) add(what stepKind, mayFail bool, nr uintptr, args ...uintptr) {
	s := step{nr: nr, what: what}
	copy(s.args[:], args)
	if mayFail {
		s.mayFail = 1
	}
	p.steps = append(p.steps, s)
}

// pin keeps v alive as long as p and returns its address for a step.
func pin[T any](p *launchpad, v *T) uintptr {
	p.keep = append(p.keep, v)
	return uintptr(unsafe.Pointer(v))
}

// addSignalReset unblocks all signals of the child. None of them is ignored: see hearSignals.
func (p *launchpad) addSignalReset() {
	p.add(stepSignals, false, unix.SYS_RT_SIGPROCMASK, 2 /* SIG_SETMASK */, uintptr(unsafe.Pointer(&p.none)), 0, 8)
}

// child is a process that was just started: its id, and a pidfd that the caller must close.
type child struct {
	pid, fd int
	forked  bool // forked from a running program
}

// start runs the steps in a child. The errno is clone3's.
func (p *launchpad) start() (child, unix.Errno) {
	p.first = uintptr(unsafe.Pointer(&p.steps[0]))
	p.failed, p.errno = 0, 0
	syscall.ForkLock.RLock() // a holder of the write lock has descriptors open that no child may inherit
	pid, errno := launch(p)
	syscall.ForkLock.RUnlock()
	return child{pid: int(pid), fd: int(p.pidFD)}, unix.Errno(errno)
}

// run runs the steps in a child that exits by itself, and waits for it.
func (p *launchpad) run() (unix.WaitStatus, error) {
	c, errno := p.start()
	if errno != 0 {
		return 0, errno
	}
	unix.Close(c.fd)
	return reap(c.pid, nil)
}

// failure reports which step of an ended child failed, if one did.
func (p *launchpad) failure() (stepKind, unix.Errno) {
	if p.errno == 0 {
		return 0, 0
	}
	s := (p.failed - p.first) / unsafe.Sizeof(step{})
	return p.steps[s].what, unix.Errno(p.errno)
}

// launchable reports whether the kernel lets launch start children.
func launchable() bool {
	if !canLaunch {
		return false
	}
	p := newLaunchpad()
	p.add(stepExit, false, unix.SYS_EXIT_GROUP, 0)
	ws, err := p.run()
	runtime.KeepAlive(p)
	return err == nil && ws.Exited() && ws.ExitStatus() == 0
}
