package zygote

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

// hazard is why a program cannot be forked at a point, as a phrase that follows "it". An earlier
// point may still be possible.
type hazard string

func (h hazard) Error() string { return "it " + string(h) }

// attempt is one attempt to bring a new process to a fork point.
type attempt struct {
	cfg   *Config
	point string
	line  [2]int // descriptors of the line in the process
	input *input

	*tracee
	inside   bool      // stopped at the entry of a system call
	tidClear uint64    // set_tid_address
	robust   [2]uint64 // set_robust_list
}

// before names what the point precedes; the text follows a hazard.
func (a *attempt) before() string {
	switch a.point {
	case PointInput:
		return " before it touches its input"
	case PointMain:
		return " before main"
	}
	return " before its first instruction"
}

// attemptPoint starts the program and brings it to the point. On success the process is detached
// and waits for words on the line.
func attemptPoint(cfg *Config, point string) (_ *Server, err error) {
	line, err := forkline.Open()
	if err != nil {
		return nil, err
	}
	a := &attempt{cfg: cfg, point: point, line: farEnds()}
	program := forkline.Program{
		Path: cfg.Path, Argv: cfg.Argv, Env: cfg.Env, Dir: cfg.Dir, Files: cfg.Files, Limits: cfg.Limits,
	}
	pid, err := line.Launch(program, a.line[0], a.line[1])
	if err != nil {
		line.Close()
		return nil, err
	}
	a.tracee = &tracee{pid: pid}
	var late atomic.Bool
	deadline := time.AfterFunc(cfg.Timeout, func() {
		late.Store(true)
		unix.Kill(pid, unix.SIGKILL)
	})
	err = a.run()
	if !deadline.Stop() && err == nil {
		err = hazard("takes longer than " + cfg.Timeout.String())
	}
	if err != nil {
		forkline.Destroy(pid)
		line.Close()
		if late.Load() {
			err = hazard("takes longer than " + cfg.Timeout.String())
		}
		if h, ok := errors.AsType[hazard](err); ok {
			err = h + hazard(a.before())
		}
		return nil, err
	}
	// A held program that does not answer is useless; killing it ends the wait.
	watch := forkline.NewWatchdog(func(int) time.Duration {
		unix.Kill(pid, unix.SIGKILL)
		return 0
	})
	return &Server{pid: pid, line: line, watch: watch, point: point, timeout: cfg.Timeout}, nil
}

// farEnds returns descriptors for the line that programs rarely touch: as high as a small
// descriptor limit allows.
func farEnds() [2]int {
	top := 1024
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err == nil && lim.Max < uint64(top) {
		top = int(lim.Max)
	}
	return [2]int{top - 2, top - 1}
}

func (a *attempt) run() error {
	if err := a.configure(); err != nil {
		return err
	}
	if err := checkImage(a.pid); err != nil {
		return err
	}
	var err error
	if a.input, err = newInput(a.cfg, a.pid); err != nil {
		return fmt.Errorf("look at the input: %w", err)
	}
	if err := a.reach(); err != nil {
		return err
	}
	return a.install()
}

// reach runs the process to the fork point.
func (a *attempt) reach() error {
	if a.point == PointInput {
		if a.cfg.InputPath == "" && !a.cfg.Stdin {
			return hazard("has no input to wait for")
		}
		return a.runTo(0)
	}
	entry, err := entryPoint(a.pid)
	if err != nil {
		return err
	}
	if err := a.runTo(entry); err != nil || a.point == PointEntry {
		return err
	}
	main, err := a.findMain()
	if err != nil {
		return err
	}
	return a.runTo(main)
}

const breakpoint = "\xcc" // int3

// runTo runs the process until it is about to execute the instruction at addr,
// or, if addr is 0, until it is about to touch its input.
func (a *attempt) runTo(addr uint64) error {
	var old [1]byte
	if addr != 0 {
		if a.read(addr, old[:]) != 1 {
			return hazard("has no code where it should start")
		}
		if err := a.write(addr, []byte(breakpoint)); err != nil {
			return err
		}
	}
	var pending syscall.Signal
	for {
		s, err := a.resume(pending)
		if err != nil {
			return err
		}
		pending = 0
		switch s.kind {
		case ended:
			return hazard("ends (" + forkline.Ended(s.ended) + ")")
		case execed:
			return hazard(executes)
		case left:
		case entered:
			touches, err := a.observe(s.info)
			if err != nil {
				return err
			}
			if touches && addr == 0 {
				a.inside = true
				return nil
			}
			if touches {
				return hazard("touches its input")
			}
		case arrived:
			if s.signal == unix.SIGTRAP && addr != 0 {
				r, err := a.regs()
				if err != nil {
					return err
				}
				if r.Rip == addr+1 {
					r.Rip = addr
					return errors.Join(a.write(addr, old[:]), a.setRegs(r))
				}
			}
			switch s.signal {
			case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
				return hazard("is stopped by " + unix.SignalName(s.signal))
			}
			pending = s.signal
		}
	}
}

// observe examines a system call that is about to be made. It reports whether the call touches the
// input; a call that makes copies unsafe is an error.
func (a *attempt) observe(info syscallInfo) (touches bool, err error) {
	if info.arch != unix.AUDIT_ARCH_X86_64 {
		return false, hazard("makes system calls of another architecture")
	}
	if a.input.touchedBy(a.tracee, info) {
		return true, nil
	}
	if reason := a.hazard(info); reason != "" {
		return false, hazard(reason)
	}
	switch info.nr {
	case unix.SYS_SET_TID_ADDRESS:
		a.tidClear = info.args[0]
	case unix.SYS_SET_ROBUST_LIST:
		a.robust = [2]uint64{info.args[0], info.args[1]}
	case unix.SYS_EXECVE, unix.SYS_EXECVEAT:
		return false, hazard(executes)
	}
	return false, nil
}

// findMain steps from the entry point through the C library's start code to the call or jump that
// passes main as its first argument, and returns main's address. glibc and musl both start like
// this.
func (a *attempt) findMain() (uint64, error) {
	const instructions = 64 // glibc needs 10, musl 12
	for range instructions {
		r, err := a.regs()
		if err != nil {
			return 0, err
		}
		var code [3]byte
		if a.read(r.Rip, code[:]) == len(code) && leavesFunction(code) && executableAt(a.pid, r.Rdi) {
			return r.Rdi, nil
		}
		s, err := a.step()
		if err != nil {
			return 0, err
		}
		if s.kind != arrived || s.signal != unix.SIGTRAP {
			break
		}
	}
	return 0, hazard("does not start like a C program")
}

// leavesFunction reports whether the code is a call or jump that compilers use to reach another
// function.
func leavesFunction(code [3]byte) bool {
	const call, jump, prefix32, prefixBnd, indirect = 0xe8, 0xe9, 0x67, 0xf2, 0xff
	if code[0] == prefix32 || code[0] == prefixBnd {
		code = [3]byte{code[1], code[2]}
	}
	switch code[0] {
	case call, jump:
		return true
	case indirect: // through memory, relative to the program counter
		return code[1] == 0x15 || code[1] == 0x25
	}
	return false
}

// single checks that the process has only one thread.
func (a *attempt) single() error {
	tasks, err := os.ReadDir(procPath(a.pid, "task"))
	if err != nil {
		return fmt.Errorf("list its threads: %w", err)
	}
	if len(tasks) != 1 {
		return hazard(startsThreads)
	}
	return nil
}
