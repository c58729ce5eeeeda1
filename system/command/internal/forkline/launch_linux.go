package forkline

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Launch starts a program with the server's ends of the line at the two given descriptors. It
// leaves the program stopped before its first instruction, traced by the calling thread, with all
// limits applied that are not per case. The program has its own session.
//
// The caller must have locked its goroutine to its thread: only that thread may trace the program.
// The program inherits the thread's processor affinity, Landlock rules and seccomp rules.
func (l *Line) Launch(p Program, control, status int) (int, error) {
	files := make([]uintptr, max(control, status)+1)
	for i := range files {
		files[i] = ^uintptr(0) // closed in the program
	}
	for i, fd := range p.Files {
		if fd >= 0 {
			files[i] = uintptr(fd)
		}
	}
	files[control], files[status] = uintptr(l.far[0]), uintptr(l.far[1])
	if p.Leash != nil {
		files[control-1] = uintptr(p.Leash.far)
	}
	// The thread gets its own persona back before anything else runs on it.
	own := persona(ask)
	persona(FixedAddresses())
	defer persona(own)
	pid, err := syscall.ForkExec(p.Path, p.Argv, &syscall.ProcAttr{
		Dir: p.Dir, Env: p.Env, Files: files,
		// If this process were killed before it set trace options, the program would stay stopped
		// forever.
		Sys: &syscall.SysProcAttr{Ptrace: true, Setsid: true, Pdeathsig: unix.SIGKILL},
	})
	l.closeFar()
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", p.Path, err)
	}
	if err := errors.Join(p.Leash.hold(pid), atExec(pid, p.Limits)); err != nil {
		Destroy(pid)
		return 0, fmt.Errorf("start %s: %w", p.Path, err)
	}
	return pid, nil
}

func atExec(pid int, limits []Rlimit) error {
	ws, err := Wait(pid)
	if err != nil {
		return err
	}
	if !ws.Stopped() || ws.StopSignal() != unix.SIGTRAP {
		return errors.New("it did not stop at its first instruction")
	}
	for _, r := range limits {
		if r.PerCase() {
			continue
		}
		if err := r.Apply(pid); err != nil {
			return err
		}
	}
	return nil
}

// FixRandom replaces the kernel's random bytes of a program that has not run yet and is traced by
// the calling thread with constant ones. The program's stack protector derives from them.
func FixRandom(pid int) error {
	const atRandom = 25
	auxv, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	if err != nil {
		return err
	}
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.LittleEndian.Uint64(auxv) == atRandom {
			_, err = syscall.PtracePokeData(pid, uintptr(binary.LittleEndian.Uint64(auxv[8:])), []byte("0123456789abcdef"))
			return err
		}
	}
	return nil
}

// Wait waits until a server ends or, while it is traced, stops.
func Wait(pid int) (syscall.WaitStatus, error) {
	var ws syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &ws, unix.WALL, nil)
		switch {
		case err == nil:
			return ws, nil
		case !errors.Is(err, unix.EINTR):
			return 0, fmt.Errorf("wait for process %d: %w", pid, err)
		}
	}
}

// Destroy kills a server and its process group, reaps the server and returns how it ended.
func Destroy(pid int) syscall.WaitStatus {
	// The group id stays taken until its leader is reaped, so this cannot hit another group.
	unix.Kill(-pid, unix.SIGKILL)
	unix.Kill(pid, unix.SIGKILL)
	for {
		ws, err := Wait(pid)
		if err != nil || ws.Exited() || ws.Signaled() {
			return ws
		}
	}
}

// Ended describes how a process ended.
func Ended(ws syscall.WaitStatus) string {
	if ws.Signaled() {
		return "killed by " + unix.SignalName(ws.Signal())
	}
	return fmt.Sprintf("exit status %d", ws.ExitStatus())
}

// Arguments of personality(2).
const (
	ask            = 0xffffffff
	fixedAddresses = 0x0040000 // ADDR_NO_RANDOMIZE
)

func persona(p uintptr) uintptr {
	old, _, _ := unix.RawSyscall(unix.SYS_PERSONALITY, p, 0, 0)
	return old
}

// FixedAddresses returns the calling thread's persona with address randomization turned off: a case
// then behaves the same each time and in every executor.
func FixedAddresses() uintptr { return persona(ask) | fixedAddresses }
