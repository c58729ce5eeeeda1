package command

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/unwind"
	"golang.org/x/sys/unix"
)

// traceOptions extends tracing to everything a case starts, and kills it when we end.
const traceOptions = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// mostCaught limits how many signals that a program handles itself are examined: a runtime may use
// them for its own purposes.
const mostCaught = 100

// errNoTrace reports that crashes cannot be examined.
var errNoTrace = errors.New("the kernel does not let a process trace its child (ptrace)")

// errSlowLook reports that a crash could not be examined within the time limit.
var errSlowLook = errors.New("a case that crashed reached its time limit when it was run again to read its stack")

// trace runs a case and stops it before its fatal signal is delivered, so the kernel writes no core
// and runs no core helper. If the stack may have been overwritten, trace runs the case again with a
// guard.
func (s *spawner) trace(ctx context.Context, c process.Case) (*process.Crash, error) {
	d, err := s.look(ctx, c, nil)
	if d == nil || err != nil {
		return nil, err
	}
	if d.Doubtful {
		again, err := s.look(ctx, c, &guard{})
		if err != nil {
			return nil, err
		}
		d = cmp.Or(again, d)
	}
	return &d.Crash, nil
}

// look runs a case traced, optionally with a guard on its calls.
func (s *spawner) look(ctx context.Context, c process.Case, g *guard) (crash *unwind.Diagnosis, err error) {
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
	kid, err := s.launch()
	if err != nil {
		return nil, err
	}
	if kid.fd >= 0 {
		defer unix.Close(kid.fd)
	}
	s.started++
	s.pid = kid.pid
	s.dog.watch(s.plan.Timeout)
	t := tracer{root: kid.pid, known: map[int]bool{kid.pid: true}, guard: g}
	defer g.close()
	followErr := t.follow()
	timedOut, _, cancelled := s.dog.unwatch()
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
	if timedOut && t.crash == nil && g == nil {
		return nil, errSlowLook
	}
	return t.crash, nil
}

// tracer follows one traced program and everything it starts.
type tracer struct {
	root    int
	started bool
	known   map[int]bool // threads and children whose first stop is over
	crash   *unwind.Diagnosis
	looks   int
	guard   *guard // nil: do not follow calls
}

// follow runs the program until it ends or crashes; on a crash it kills the program. It waits for
// the end of the first process but does not reap it.
func (t *tracer) follow() error {
	kind := unix.P_PID // the program leads no group before its first stop
	for {
		pid, over, err := nextStop(kind, t.root)
		if err != nil || over && pid == t.root {
			return err
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
		}
	}
}

// nextStop waits for a stop or an end without consuming it. over means an end.
func nextStop(kind, id int) (pid int, over bool, err error) {
	var info [128]byte
	for {
		_, _, errno := unix.Syscall6(unix.SYS_WAITID, uintptr(kind), uintptr(id), uintptr(unsafe.Pointer(&info[0])),
			unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT|unix.WALL|unix.WNOTHREAD, 0, 0)
		if errno == 0 {
			break
		}
		if errno != unix.EINTR {
			return 0, false, errno
		}
	}
	const exited, dumped = 1, 3
	code := binary.LittleEndian.Uint32(info[8:])
	return int(binary.LittleEndian.Uint32(info[16:])), code >= exited && code <= dumped, nil
}

// stopped handles one stop and resumes the thread; it returns true if the program is to be killed.
func (t *tracer) stopped(pid int, ws unix.WaitStatus) bool {
	sig := ws.StopSignal()
	if t.guard != nil && t.started {
		switch ours, over := t.guard.stopped(pid, ws); {
		case over:
			t.crash = t.guard.found
			return true
		case ours:
			_ = unix.PtraceCont(pid, 0) // as below
			return false
		}
	}
	switch {
	case !t.started:
		t.started, sig = true, 0
		// Fails only if the process is gone, which the next wait reports.
		_ = unix.PtraceSetOptions(pid, traceOptions)
		if t.guard != nil && !t.guard.plant(pid) {
			return true
		}
	case int(ws)>>16 != 0: // an event, not a signal
		sig = 0
	case sig == unix.SIGSTOP && !t.known[pid]: // the first stop of a new thread or child
		t.known[pid], sig = true, 0
	case unwind.Fatal(int(sig)) && t.looks < mostCaught:
		caught := catches(pid, sig)
		t.looks++
		d, err := examine(pid)
		// If the program dies in a handler, or a handler raises the signal, the caught signal is
		// the cause.
		if err == nil && (t.crash == nil || !d.Sent && !d.Raised && !d.Handler) {
			t.crash = &d
			if d.Sent {
				t.crash = nil // somebody sent the signal: the place is chance
			}
		}
		if !caught {
			return true
		}
	}
	// Fails only if the thread has been killed meanwhile.
	_ = unix.PtraceCont(pid, int(sig))
	return false
}

// examine diagnoses a stopped thread from its signal, registers and memory.
func examine(pid int) (d unwind.Diagnosis, err error) {
	var info [128]byte
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(pid), 0, uintptr(unsafe.Pointer(&info[0])), 0, 0); errno != 0 {
		return d, errno
	}
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(pid, &r); err != nil {
		return d, err
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return d, err
	}
	defer mem.Close()
	p, err := processAt(pid, mem)
	if err != nil {
		return d, err
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(info[at:]) }
	return p.Diagnose(unwind.Stop{
		Signal: int(u32(0)), Code: int32(u32(8)), Addr: binary.LittleEndian.Uint64(info[16:]), Call: u32(24), Regs: numbered(&r),
	}), nil
}

// processAt reads the memory map of a stopped process.
func processAt(pid int, mem io.ReaderAt) (*unwind.Process, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	maps, err := os.ReadFile(dir + "/maps")
	if err != nil {
		return nil, err
	}
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		return nil, err
	}
	return unwind.New(mem, maps, exe), nil
}

// numbered returns the registers in the order of their DWARF numbers.
func numbered(r *unix.PtraceRegs) unwind.Regs {
	return unwind.Regs{r.Rax, r.Rdx, r.Rcx, r.Rbx, r.Rsi, r.Rdi, r.Rbp, r.Rsp, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15, r.Rip}
}

// catches reports whether a process handles or ignores a signal.
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
