package forkline

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// NewLeash returns a leash that holds no process yet.
func NewLeash() (*Leash, error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("make a pipe to end cases by: %w", err)
	}
	return &Leash{near: p[1], far: p[0]}, nil
}

// hold puts the process group of pid on the leash, whose far end pid has inherited.
func (l *Leash) hold(pid int) error {
	if l == nil {
		return nil
	}
	for _, c := range [...]struct{ command, value int }{
		{unix.F_SETSIG, int(unix.SIGKILL)}, {unix.F_SETOWN, -pid}, {unix.F_SETFL, unix.O_ASYNC},
	} {
		if _, err := unix.FcntlInt(uintptr(l.far), c.command, c.value); err != nil {
			return fmt.Errorf("have cases end with us: %w", err)
		}
	}
	unix.Close(l.far)
	l.far = -1
	return nil
}

// Close kills every process still on the leash.
func (l *Leash) Close() {
	if l == nil || l.near < 0 {
		return
	}
	if l.far >= 0 {
		unix.Close(l.far)
	}
	unix.Close(l.near)
	l.near, l.far = -1, -1
}
