package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

// spawner is the reference executor: a new process by execve for every case.
type spawner struct {
	*laneState
	pad        *launchpad // nil: start by syscall.ForkExec
	exec       int        // index of the execve step
	enter      int        // index of the step into the working directory
	generation int        // the lane's generation when the pad was made
	shells     *shells    // forks cases from a held shell where possible; nil: never

	traced      bool // trace the next process
	untraceable bool // the kernel refused to trace
}

func newSpawner(g *laneState, direct bool) *spawner {
	s := &spawner{laneState: g}
	if direct {
		s.makePad()
	} else {
		g.note("programs are started by fork and exec of the Go runtime: the kernel or processor does not allow the direct way; limits reach a program only just after its start")
		if g.box != nil {
			g.note("sandbox: rules that a program lays on itself are not applied for the same reason")
		}
	}
	return s
}

// makePad builds the child's steps to execve.
func (s *spawner) makePad() {
	p := newLaunchpad()
	s.pad, s.generation = p, s.laneState.generation
	p.add(stepSession, false, unix.SYS_SETSID)
	// Equal cases should end equally, and some bugs depend on addresses.
	p.add(stepSession, true, unix.SYS_PERSONALITY, forkline.FixedAddresses())
	if s.traced {
		p.add(stepTrace, false, unix.SYS_PTRACE, unix.PTRACE_TRACEME)
	}
	p.add(stepStdio, false, unix.SYS_DUP3, uintptr(s.stdin()), 0, 0)
	p.add(stepStdio, false, unix.SYS_DUP3, uintptr(s.out.fd), 1, 0)
	p.add(stepStdio, false, unix.SYS_DUP3, uintptr(s.err.fd), 2, 0)
	s.enter = len(p.steps)
	p.add(stepFolder, false, unix.SYS_FCHDIR, uintptr(s.folder.runFD()))
	p.add(stepFolder, false, unix.SYS_UMASK, 0o022)
	// If this process is killed, its cases must not outlive it.
	p.add(stepSession, false, unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
	for _, l := range s.limits {
		if l.Resource == forkline.Group {
			p.add(stepLimit, false, unix.SYS_WRITE, uintptr(l.Cur), pin(p, &[]byte("0")[0]), 1)
			continue
		}
		lim := pin(p, &unix.Rlimit{Cur: l.Cur, Max: l.Max})
		p.add(stepLimit, false, unix.SYS_PRLIMIT64, 0, uintptr(l.Resource), lim, 0)
	}
	if s.box != nil {
		s.box.addSteps(p)
	}
	p.add(stepClose, false, unix.SYS_CLOSE_RANGE, 3, ^uintptr(0)>>32, 0)
	p.addSignalReset()
	s.exec = len(p.steps)
	p.add(stepExec, false, unix.SYS_EXECVE)
}

func (s *spawner) name() process.Executor { return process.Spawn }

func (s *spawner) close() error {
	if s.shells != nil {
		s.shells.close()
	}
	return s.laneState.close()
}

// startTries is how often to try to start a program that another process had open for writing a
// moment ago, or for which there was no room for another process.
const startTries = 8

func (s *spawner) run(ctx context.Context, runID string, input []byte, limit time.Duration) (process.Result, error) {
	s.cpu.pin()
	defer s.cpu.unpin()
	pause := time.Millisecond
	for try := 1; ; try++ {
		if err := s.prepare(ctx, runID, input); err != nil {
			return process.Result{}, err
		}
		res, err := s.once(ctx, limit)
		if try < startTries && (errors.Is(err, unix.ETXTBSY) || errors.Is(err, unix.EAGAIN)) {
			select {
			case <-time.After(pause):
				pause *= 2
				continue
			case <-ctx.Done():
				return process.Result{}, ctx.Err()
			}
		}
		if err != nil {
			return process.Result{}, err
		}
		res.Executor, res.Work = process.Spawn, s.work.Taken()
		return res, nil
	}
}

func (s *spawner) once(ctx context.Context, limit time.Duration) (process.Result, error) {
	if err := ctx.Err(); err != nil {
		return process.Result{}, err
	}
	began := time.Now()
	c, err := s.launch()
	if err != nil {
		return process.Result{}, err
	}
	res, err := s.await(ctx, c, began, limit)
	if err != nil || s.pad == nil || c.forked {
		return res, err
	}
	if what, errno := s.pad.failure(); errno != 0 {
		if what != stepExec {
			return res, fmt.Errorf("start %s: %s: %w", s.image.command.Path, what, errno)
		}
		return res, execError(s.image.command.Path, errno)
	}
	return res, nil
}

// launch starts the process of the prepared case.
func (s *spawner) launch() (child, error) {
	if s.shells != nil && !s.traced {
		if c, ok := s.shells.fork(); ok {
			return c, nil
		}
	}
	if s.pad == nil {
		return s.forkExec()
	}
	if s.generation != s.laneState.generation {
		s.makePad()
	}
	if dir := s.image.dir; dir != nil {
		s.pad.steps[s.enter].nr, s.pad.steps[s.enter].args = unix.SYS_CHDIR, [5]uintptr{uintptr(unsafe.Pointer(&dir[0]))}
	} else {
		s.pad.steps[s.enter].nr, s.pad.steps[s.enter].args = unix.SYS_FCHDIR, [5]uintptr{uintptr(s.folder.runFD())}
	}
	s.pad.steps[s.exec].args = [5]uintptr{uintptr(unsafe.Pointer(&s.image.path[0])), address(s.image.argv), address(s.image.envp)}
	if s.box != nil {
		if err := s.box.enter(); err != nil {
			return child{}, err
		}
	}
	c, errno := s.pad.start()
	if s.box != nil {
		if err := s.box.leave(); err != nil {
			return child{}, err
		}
	}
	if errno != 0 {
		return child{}, fmt.Errorf("start a process: %w", errno)
	}
	return c, nil
}

// forkExec starts the process the slow, portable way.
func (s *spawner) forkExec() (child, error) {
	c := s.image.command
	pid, err := syscall.ForkExec(c.Path, c.Argv, &syscall.ProcAttr{
		Dir: cmp.Or(c.Dir, s.folder.run), Env: c.Env,
		Files: []uintptr{uintptr(s.stdin()), uintptr(s.out.fd), uintptr(s.err.fd)},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Ptrace: s.traced},
	})
	if err != nil {
		if errno, ok := errors.AsType[syscall.Errno](err); ok {
			return child{}, execError(c.Path, errno)
		}
		return child{}, fmt.Errorf("start %s: %w", c.Path, err)
	}
	for _, l := range s.limits {
		_ = l.Apply(pid) // fails only if the program has already ended
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		// The kernel is too old; the descriptor only makes a short wait cheaper.
		fd = -1
	}
	return child{pid: pid, fd: fd}, nil
}

// execError explains why a program could not be executed.
func execError(path string, errno syscall.Errno) error {
	switch errno {
	case unix.ENOENT:
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the program %s no longer exists: %w", path, errno)
		}
		return fmt.Errorf("the interpreter or loader that %s names does not exist: %w", path, errno)
	case unix.EACCES:
		return fmt.Errorf("the program %s may not be executed: %w", path, errno)
	case unix.ENOEXEC:
		return fmt.Errorf("%s is not a program that this system can run (a script needs a #! line): %w", path, errno)
	case unix.ETXTBSY:
		return fmt.Errorf("the program %s is being written to: %w", path, errno)
	case unix.E2BIG:
		return fmt.Errorf("arguments and environment of %s are too long: %w", path, errno)
	}
	return fmt.Errorf("execute %s: %w", path, errno)
}

// executable checks a program before the first case.
func executable(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("the program cannot be run: %w", err)
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not a program: it is not a regular file", path)
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return fmt.Errorf("the program %s may not be executed: %w", path, err)
	}
	return nil
}
