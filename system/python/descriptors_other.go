//go:build unix && !linux

package python

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// These create descriptors that no program started by os/exec inherits.

func pipe(ends []int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(ends); err != nil {
		return err
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	return nil
}

func socketPair() ([2]int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
	}
	return pair, err
}
