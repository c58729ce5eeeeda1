package command

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/unwind"
	"golang.org/x/sys/unix"
)

// traceOptions has all that a case starts traced as well, and killed with us.
const traceOptions = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// mostCaught bounds the signals that a program handles itself which are looked
// at: a runtime may use them for its own ends.
const mostCaught = 100

// errNoTrace is why crashes cannot be looked at.
var errNoTrace = errors.New("the kernel does not let a process trace its child (ptrace)")

// trace runs a case and stops it before its fatal signal is delivered: no core
// is written then, and no helper of the kernel's is run.
func (s *spawner) trace(ctx context.Context, c process.Case) (crash *process.Crash, err error) {
	if s.untraceable {
		return nil, errNoTrace
	}
	s.cpu.pin() // the kernel ties a traced process to one thread
	defer s.cpu.unpin()
	if err := s.prepare(ctx, c.RunID, c.Input); err != nil {
		return nil, err
	}
	s.traced = true
	s.generation = -1
	defer func() { s.traced, s.generation = false, -1 }()
	began := time.Now()
	kid, err := s.launch()
	if err != nil {
		return nil, err
	}
	if kid.fd >= 0 {
		defer unix.Close(kid.fd)
	}
	s.started++
	s.pid = kid.pid
	s.dog.watch(began.Add(s.plan.Timeout))
	t := tracer{root: kid.pid, known: map[int]bool{kid.pid: true}}
	followErr := t.follow()
	_, _, cancelled := s.dog.unwatch()
	s.out.markWritten()
	s.err.markWritten()
	unix.Kill(-kid.pid, unix.SIGKILL)
	unix.Kill(kid.pid, unix.SIGKILL)
	_, huntErr := s.reaper.hunt(kid.pid)
	_, err = reap(kid.pid, &s.usage)
	if err = errors.Join(followErr, huntErr, err); err != nil {
		return nil, fmt.Errorf("look at a crash: %w", err)
	}
	s.ended++
	if cancelled {
		return nil, ctx.Err()
	}
	if s.pad != nil {
		if what, errno := s.pad.failure(); errno != 0 {
			s.untraceable = what == stepTrace
			return nil, errNoTrace
		}
	}
	return t.crash, nil
}

// tracer follows one traced program and all that it starts.
type tracer struct {
	root    int
	started bool
	known   map[int]bool // threads and children whose first stop is over
	crash   *process.Crash
	looks   int
}

// follow lets the program run to its end, or to its crash, where it is killed.
// The end of the first process is seen but not reaped.
func (t *tracer) follow() error {
	kind := unix.P_PID // it leads no group before its first stop
	for {
		var info [128]byte
		_, _, errno := unix.Syscall6(unix.SYS_WAITID, uintptr(kind), uintptr(t.root), uintptr(unsafe.Pointer(&info[0])),
			unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT|unix.WALL|unix.WNOTHREAD, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return errno
		}
		code, pid := binary.LittleEndian.Uint32(info[8:]), int(binary.LittleEndian.Uint32(info[16:]))
		const exited, dumped = 1, 3
		if over := code >= exited && code <= dumped; over && pid == t.root {
			return nil
		}
		var ws unix.WaitStatus
		if _, err := unix.Wait4(pid, &ws, unix.WALL|unix.WNOTHREAD, nil); err == unix.EINTR {
			continue
		} else if err != nil {
			return err
		}
		if !ws.Stopped() {
			continue
		}
		kind = unix.P_PGID
		if t.stopped(pid, ws) {
			unix.Kill(-t.root, unix.SIGKILL)
			unix.Kill(pid, unix.SIGKILL)
			continue
		}
	}
}

// stopped handles one stop and lets the thread go on; true: it crashed.
func (t *tracer) stopped(pid int, ws unix.WaitStatus) bool {
	sig := ws.StopSignal()
	switch {
	case !t.started:
		t.started, sig = true, 0
		// Fails only if the process is gone, which the next wait says.
		_ = unix.PtraceSetOptions(pid, traceOptions)
	case int(ws)>>16 != 0: // an event, not a signal
		sig = 0
	case sig == unix.SIGSTOP && !t.known[pid]: // how a new thread or child begins
		t.known[pid], sig = true, 0
	case unwind.Fatal(int(sig)) && t.looks < mostCaught:
		caught := catches(pid, sig)
		t.looks++
		d, err := examine(pid)
		// A death in a handler, or raised by one, shows in what was caught.
		if err == nil && (t.crash == nil || !d.Sent && !d.Handler) {
			t.crash = &d.Crash
			if d.Sent {
				t.crash = nil // somebody killed it: where it was then is chance
			}
		}
		if !caught {
			return true
		}
	}
	// Fails only if the thread was killed meanwhile.
	_ = unix.PtraceCont(pid, int(sig))
	return false
}

// examine reads a stopped thread.
func examine(pid int) (d unwind.Diagnosis, err error) {
	var info [128]byte
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(pid), 0, uintptr(unsafe.Pointer(&info[0])), 0, 0); errno != 0 {
		return d, errno
	}
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(pid, &r); err != nil {
		return d, err
	}
	dir := "/proc/" + strconv.Itoa(pid)
	mem, err := os.Open(dir + "/mem")
	if err != nil {
		return d, err
	}
	defer mem.Close()
	maps, err := os.ReadFile(dir + "/maps")
	if err != nil {
		return d, err
	}
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		return d, err
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(info[at:]) }
	return unwind.New(mem, maps, exe).Diagnose(unwind.Stop{
		Signal: int(u32(0)), Code: int32(u32(8)), Addr: binary.LittleEndian.Uint64(info[16:]), Call: u32(24),
		Regs: unwind.Regs{r.Rax, r.Rdx, r.Rcx, r.Rbx, r.Rsi, r.Rdi, r.Rbp, r.Rsp, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15, r.Rip},
	}), nil
}

// catches says whether a process handles or ignores a signal.
func catches(pid int, sig unix.Signal) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		if key != "SigCgt" && key != "SigIgn" {
			continue
		}
		mask, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		if err == nil && mask>>(sig-1)&1 != 0 {
			return true
		}
	}
	return false
}
