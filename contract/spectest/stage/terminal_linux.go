package stage

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// terminal opens both ends of a pseudo-terminal. Whoever leads a session and opens
// the path has it as its controlling terminal.
func terminal(columns, rows int) (*Terminal, error) {
	t := &Terminal{}
	var err error
	if t.near, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, fmt.Errorf("making a pseudo-terminal: %w", err)
	}
	raw, err := t.near.SyscallConn()
	if err == nil {
		var fault error
		err = raw.Control(func(fd uintptr) {
			number, unnamed := unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
			t.Path = "/dev/pts/" + strconv.Itoa(number)
			fault = errors.Join(unnamed, unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
				unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)}))
		})
		err = errors.Join(err, fault)
	}
	if err == nil {
		t.far, err = os.OpenFile(t.Path, os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a pseudo-terminal: %w", err), t.near.Close())
	}
	return t, nil
}
