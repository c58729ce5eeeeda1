package program

import (
	"fmt"
	"syscall"

	"github.com/thresh-dev/thresh/port/process"
	"golang.org/x/sys/unix"
)

// attributes make a child a group of its own that does not outlive Thresh.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// limit binds a process that has just been started.
func limit(pid int, l process.Limits) error {
	for _, r := range []struct {
		what  string
		id    int
		value int64
	}{
		{"address space", unix.RLIMIT_AS, l.AddressSpace},
		{"file size", unix.RLIMIT_FSIZE, l.FileSize},
		{"processes", unix.RLIMIT_NPROC, l.Processes},
	} {
		if r.value <= 0 {
			continue
		}
		value := uint64(r.value)
		err := unix.Prlimit(pid, r.id, &unix.Rlimit{Cur: value, Max: value}, nil)
		if err != nil && err != unix.ESRCH { // it has ended already
			return fmt.Errorf("set its limit of %s: %w", r.what, err)
		}
	}
	return nil
}
