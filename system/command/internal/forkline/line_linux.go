package forkline

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Line is the client's end of the two pipes. One goroutine may use it at a time; Send and Next
// allocate nothing.
type Line struct {
	control, status int
	far             [2]int // the server's ends until it has inherited them: control, status

	in, out [4]byte
}

// Open makes the pipes.
func Open() (*Line, error) {
	var control, status [2]int
	if err := unix.Pipe2(control[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("make the control pipe: %w", err)
	}
	if err := unix.Pipe2(status[:], unix.O_CLOEXEC); err != nil {
		unix.Close(control[0])
		unix.Close(control[1])
		return nil, fmt.Errorf("make the status pipe: %w", err)
	}
	return &Line{control: control[1], status: status[0], far: [2]int{control[0], status[1]}}, nil
}

// Close closes the client's ends; a server that waits for a word sees the end of the control pipe
// and exits.
func (l *Line) Close() {
	l.closeFar()
	if l.control >= 0 {
		unix.Close(l.control)
		unix.Close(l.status)
		l.control, l.status = -1, -1
	}
}

func (l *Line) closeFar() {
	if l.far[0] >= 0 {
		unix.Close(l.far[0])
		unix.Close(l.far[1])
		l.far = [2]int{-1, -1}
	}
}

// Send writes one word to the server. It does not block, because a server never leaves more than
// one word unread. If the server is gone, it returns [io.ErrClosedPipe].
func (l *Line) Send(word uint32) error {
	binary.NativeEndian.PutUint32(l.out[:], word)
	for {
		n, err := unix.Write(l.control, l.out[:])
		switch {
		case err == nil && n == len(l.out):
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EPIPE):
			return io.ErrClosedPipe
		case err == nil:
			return fmt.Errorf("write to the control pipe: %w", io.ErrShortWrite)
		default:
			return fmt.Errorf("write to the control pipe: %w", err)
		}
	}
}

// Next waits for one word without a limit; a [Watchdog] that kills the server ends the wait. It
// returns [io.EOF] when the server has closed its end.
//
// A limit on the wait itself, through poll(2) or the like, would have the kernel set and cancel a
// timer for each word. On a virtual machine that takes longer than most cases of a persistent
// server.
func (l *Line) Next() (uint32, error) {
	for {
		n, err := unix.Read(l.status, l.in[:])
		switch {
		case err == nil && n == len(l.in):
			return binary.NativeEndian.Uint32(l.in[:]), nil
		case err == nil:
			// Servers write each word at once, and a pipe does not split it.
			return 0, io.EOF
		case !errors.Is(err, unix.EINTR):
			return 0, fmt.Errorf("read the status pipe: %w", err)
		}
	}
}

// Receive is Next with a limit: it returns [os.ErrDeadlineExceeded] if no word arrives in time. It
// is meant for greetings, not for cases.
func (l *Line) Receive(timeout time.Duration) (uint32, error) {
	if err := l.ready(timeout); err != nil {
		return 0, err
	}
	return l.Next()
}

// Said reports whether there is something to read, or end of file. Any goroutine may call it.
func (l *Line) Said() bool { return l.ready(0) == nil }

// ready waits until the status pipe has something to read or is at its end.
func (l *Line) ready(timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	fds := []unix.PollFd{{Fd: int32(l.status), Events: unix.POLLIN}}
	for {
		left := unix.NsecToTimespec(max(time.Until(deadline).Nanoseconds(), 0))
		n, err := unix.Ppoll(fds, &left, nil)
		switch {
		case err == nil && n == 1:
			return nil
		case err == nil:
			return os.ErrDeadlineExceeded
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("wait for the status pipe: %w", err)
		}
	}
}

// Discard reads and drops the n bytes that follow a word, such as a dictionary.
func (l *Line) Discard(n int, timeout time.Duration) error {
	buf := make([]byte, min(n, 4096))
	for n > 0 {
		if err := l.ready(timeout); err != nil {
			return err
		}
		k, err := unix.Read(l.status, buf[:min(n, len(buf))])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("read the status pipe: %w", err)
		case k == 0:
			return io.EOF
		default:
			n -= k
		}
	}
	return nil
}
