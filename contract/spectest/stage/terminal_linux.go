package stage

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// terminal opens both ends of a pseudo-terminal. A session leader that opens the path gets it as
// its controlling terminal.
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

// send types a text. For a key that sends a signal, the kernel would discard unread output and echo
// the key after the signal, when the program may have answered already. Such a key is echoed first,
// so that no output is lost.
func (t *Terminal) send(text string) error {
	raw, err := t.near.SyscallConn()
	if err != nil {
		return err
	}
	for err == nil && text != "" {
		var now *unix.Termios
		fault := raw.Control(func(fd uintptr) { now, err = unix.IoctlGetTermios(int(fd), unix.TCGETS) })
		if err = errors.Join(fault, err); err != nil {
			return err
		}
		at := -1
		if now.Lflag&unix.ISIG != 0 {
			at = strings.IndexAny(text, string([]byte{now.Cc[unix.VINTR], now.Cc[unix.VQUIT], now.Cc[unix.VSUSP]}))
		}
		if at != 0 {
			if at < 0 {
				at = len(text)
			}
			_, err = t.near.WriteString(text[:at])
			text = text[at:]
			continue
		}
		if now.Lflag&unix.ECHO != 0 {
			_, err = t.far.Write([]byte{'^', text[0] ^ 0x40})
		}
		signal := map[byte]unix.Signal{now.Cc[unix.VINTR]: unix.SIGINT, now.Cc[unix.VQUIT]: unix.SIGQUIT, now.Cc[unix.VSUSP]: unix.SIGTSTP}[text[0]]
		fault = raw.Control(func(fd uintptr) { err = errors.Join(err, unix.IoctlSetInt(int(fd), unix.TIOCSIG, int(signal))) })
		err, text = errors.Join(err, fault), text[1:]
	}
	return err
}
