package zygote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
	"golang.org/x/sys/unix"
)

// tracee is a process under ptrace. All methods must be called on the thread that started the
// process.
type tracee struct{ pid int }

// stop is the reason why a tracee is not running.
type stop struct {
	kind   stopKind
	signal syscall.Signal     // arrived
	ended  syscall.WaitStatus // ended
	info   syscallInfo        // entered, left
}

type stopKind int

const (
	ended   stopKind = iota // the process has ended
	entered                 // a system call is about to be made
	left                    // a system call has been made
	arrived                 // a signal is about to be delivered
	execed                  // another program has replaced it
)

// syscallInfo is the kernel's struct ptrace_syscall_info.
type syscallInfo struct {
	op   uint8
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	nr   uint64 // left: the return value
	args [6]uint64
}

const (
	ptraceGetSyscallInfo = 0x420e
	syscallInfoEntry     = 1
	syscallInfoExit      = 2
	syscallStop          = unix.SIGTRAP | 0x80 // as PTRACE_O_TRACESYSGOOD marks it
)

func (t *tracee) configure() error {
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACEEXEC
	if err := syscall.PtraceSetOptions(t.pid, options); err != nil {
		return fmt.Errorf("set trace options: %w", err)
	}
	return nil
}

// resume lets the tracee run to its next system call or signal, delivering the
// signal sig first if it is not 0.
func (t *tracee) resume(sig syscall.Signal) (stop, error) {
	if err := syscall.PtraceSyscall(t.pid, int(sig)); err != nil && !errors.Is(err, unix.ESRCH) {
		return stop{}, fmt.Errorf("resume: %w", err)
	} // no such process: it was killed while stopped, and the wait reports it
	return t.wait()
}

// step lets the tracee execute one instruction.
func (t *tracee) step() (stop, error) {
	if err := syscall.PtraceSingleStep(t.pid); err != nil && !errors.Is(err, unix.ESRCH) {
		return stop{}, fmt.Errorf("single-step: %w", err)
	}
	return t.wait()
}

func (t *tracee) wait() (stop, error) {
	ws, err := forkline.Wait(t.pid)
	switch {
	case err != nil:
		return stop{}, err
	case !ws.Stopped():
		return stop{kind: ended, ended: ws}, nil
	case ws.StopSignal() == syscallStop:
		return t.syscallStop()
	case ws.StopSignal() == unix.SIGTRAP && ws.TrapCause() == unix.PTRACE_EVENT_EXEC:
		return stop{kind: execed}, nil
	}
	return stop{kind: arrived, signal: ws.StopSignal()}, nil
}

func (t *tracee) syscallStop() (stop, error) {
	var info syscallInfo
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, ptraceGetSyscallInfo, uintptr(t.pid),
		unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return stop{}, fmt.Errorf("ask for the system call (Linux 5.3 or later is needed): %w", errno)
	}
	if info.op == syscallInfoEntry {
		return stop{kind: entered, info: info}, nil
	}
	return stop{kind: left, info: info}, nil
}

func (t *tracee) regs() (syscall.PtraceRegs, error) {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(t.pid, &r); err != nil {
		return r, fmt.Errorf("read registers: %w", err)
	}
	return r, nil
}

func (t *tracee) setRegs(r syscall.PtraceRegs) error {
	if err := syscall.PtraceSetRegs(t.pid, &r); err != nil {
		return fmt.Errorf("set registers: %w", err)
	}
	return nil
}

// read fills b from the tracee's memory and returns the number of bytes that are mapped.
func (t *tracee) read(addr uint64, b []byte) int {
	if len(b) == 0 {
		return 0
	}
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	remote := []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}
	n, err := unix.ProcessVMReadv(t.pid, local, remote, 0)
	if err != nil {
		return 0
	}
	return n
}

// word reads 64 bits; false if they are not mapped.
func (t *tracee) word(addr uint64) (uint64, bool) {
	var b [8]byte
	if t.read(addr, b[:]) != len(b) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

// text reads a NUL-terminated string; false if it is unmapped or longer than a path may be.
func (t *tracee) text(addr uint64) (string, bool) {
	var s []byte
	for len(s) < unix.PathMax {
		// A read must not extend into the next page, which may be unmapped.
		b := make([]byte, min(256, pageSize-addr%pageSize))
		n := t.read(addr, b)
		if n == 0 {
			return "", false
		}
		for i, c := range b[:n] {
			if c == 0 {
				return string(append(s, b[:i]...)), true
			}
		}
		s, addr = append(s, b[:n]...), addr+uint64(n)
	}
	return "", false
}

// write changes the tracee's memory, even where the tracee itself may only read.
func (t *tracee) write(addr uint64, b []byte) error {
	if _, err := syscall.PtracePokeData(t.pid, uintptr(addr), b); err != nil {
		return fmt.Errorf("write to memory: %w", err)
	}
	return nil
}

// detach sets the registers for the last time and lets the tracee go.
func (t *tracee) detach(r syscall.PtraceRegs) error {
	r.Orig_rax = ^uint64(0) // not in a system call: nothing to restart
	if err := t.setRegs(r); err != nil {
		return err
	}
	if err := syscall.PtraceDetach(t.pid); err != nil {
		return fmt.Errorf("detach: %w", err)
	}
	return nil
}

// execute makes the tracee perform a system call and returns its result. The tracee must be stopped
// with registers r, either outside a system call or, if inside, at the entry of one, which ours
// replaces.
func (t *tracee) execute(r syscall.PtraceRegs, inside bool, nr uint64, args [6]uint64) (uint64, error) {
	q := r
	q.Rax, q.Rdi, q.Rsi, q.Rdx, q.R10, q.R8, q.R9 = nr, args[0], args[1], args[2], args[3], args[4], args[5]
	if inside {
		q.Orig_rax = nr
		if err := t.setRegs(q); err != nil {
			return 0, err
		}
		s, err := t.resume(0)
		return t.result(s, err, left)
	}
	q.Orig_rax = ^uint64(0)
	var old [2]byte
	if t.read(r.Rip, old[:]) != len(old) {
		return 0, errors.New("read the code at the fork point")
	}
	if err := t.write(r.Rip, []byte(syscallInstruction)); err != nil {
		return 0, err
	}
	if err := t.setRegs(q); err != nil {
		return 0, err
	}
	s, err := t.step()
	v, err := t.result(s, err, arrived)
	if err != nil {
		return 0, err
	}
	return v, t.write(r.Rip, old[:])
}

const syscallInstruction = "\x0f\x05"

func (t *tracee) result(s stop, err error, want stopKind) (uint64, error) {
	if err != nil {
		return 0, err
	}
	if s.kind != want || want == arrived && s.signal != unix.SIGTRAP {
		return 0, errors.New("it was disturbed while it was prepared")
	}
	r, err := t.regs()
	if err != nil {
		return 0, err
	}
	if e := -int64(r.Rax); e > 0 && e < 4096 {
		return 0, fmt.Errorf("make room in it: %w", syscall.Errno(e))
	}
	return r.Rax, nil
}
