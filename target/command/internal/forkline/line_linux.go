package forkline

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Line is the client's end of the two pipes. It is used by one goroutine at a
// time and allocates nothing once it is open.
type Line struct {
	control, status int
	far             [2]int // the server's ends, until it has them: control, status

	poll unix.PollFd
	wait unix.Timespec
	in   [4]byte
	out  [4]byte
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

// Close closes the client's ends; a server that waits for a word sees the end
// of the control pipe and leaves.
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

// Send writes one word to the server. It does not block: a server never lets
// more than a word wait. A server that is gone is [io.ErrClosedPipe].
func (l *Line) Send(word uint32) error {
	binary.NativeEndian.PutUint32(l.out[:], word)
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(l.control), uintptr(unsafe.Pointer(&l.out[0])), 4)
		switch {
		case errno == 0 && n == 4:
			return nil
		case errno == syscall.EINTR:
		case errno == syscall.EPIPE:
			return io.ErrClosedPipe
		default:
			return fmt.Errorf("write to the control pipe: %w", errno)
		}
	}
}

// brief is how long Receive waits with the Go scheduler unaware of it. Most
// answers come within it, and telling the scheduler would cost more than the
// wait. Longer waits would hold up the garbage collector of every other lane.
const brief = 100 * time.Microsecond

// Receive reads one word. It returns [os.ErrDeadlineExceeded] when none has
// come in time, and [io.EOF] when the server has closed its end.
func (l *Line) Receive(timeout time.Duration) (uint32, error) {
	ready := l.pollRaw(min(timeout, brief))
	if !ready && timeout > brief {
		var err error
		if ready, err = l.pollSlow(timeout - brief); err != nil {
			return 0, err
		}
	}
	if !ready {
		return 0, os.ErrDeadlineExceeded
	}
	return l.read()
}

// pollRaw waits without telling the scheduler. Whatever goes wrong is "not
// ready": the slow wait that follows says what it was.
func (l *Line) pollRaw(d time.Duration) bool {
	n, errno := l.ppoll(d, true)
	return errno == 0 && n == 1
}

func (l *Line) pollSlow(d time.Duration) (bool, error) {
	for deadline := time.Now().Add(d); d > 0; d = time.Until(deadline) {
		n, errno := l.ppoll(d, false)
		switch {
		case errno == 0:
			return n == 1, nil
		case errno != syscall.EINTR:
			return false, fmt.Errorf("wait for the status pipe: %w", errno)
		}
	}
	return false, nil
}

func (l *Line) ppoll(d time.Duration, raw bool) (int, syscall.Errno) {
	l.poll = unix.PollFd{Fd: int32(l.status), Events: unix.POLLIN}
	l.wait = unix.NsecToTimespec(int64(max(d, 0)))
	fds, wait := unsafe.Pointer(&l.poll), unsafe.Pointer(&l.wait)
	var n uintptr
	var errno syscall.Errno
	if raw {
		n, _, errno = syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(fds), 1, uintptr(wait), 0, 0, 0)
	} else {
		n, _, errno = syscall.Syscall6(syscall.SYS_PPOLL, uintptr(fds), 1, uintptr(wait), 0, 0, 0)
	}
	return int(n), errno
}

// read takes the word that is ready. Servers write a word in one piece, and a
// pipe keeps a piece of four bytes whole, so that less than four is the end.
func (l *Line) read() (uint32, error) {
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(l.status), uintptr(unsafe.Pointer(&l.in[0])), 4)
		switch {
		case errno == 0 && n == 4:
			return binary.NativeEndian.Uint32(l.in[:]), nil
		case errno == 0:
			return 0, io.EOF
		case errno != syscall.EINTR:
			return 0, fmt.Errorf("read the status pipe: %w", errno)
		}
	}
}

// Discard reads and drops n bytes that follow a word, such as a dictionary.
func (l *Line) Discard(n int, timeout time.Duration) error {
	buf := make([]byte, min(n, 4096))
	for n > 0 {
		ready, err := l.pollSlow(timeout)
		if err != nil {
			return err
		}
		if !ready {
			return os.ErrDeadlineExceeded
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
