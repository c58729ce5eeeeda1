//go:build unix

package python

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A frame is eight hexadecimal digits, the length, and that many bytes of JSON.
const headLen = 8

// largestFrame limits the memory, in bytes, that hostile code can make this process hold.
const largestFrame = 64 << 20

// errClosed reports that the other side closed its end of a link.
var errClosed = errors.New("the other side closed its end")

// link is this process's end of a socket that carries frames. Its descriptor is nonblocking.
type link struct {
	fd  int
	buf []byte // read but not yet taken
}

// socketpair returns two connected sockets; ours is nonblocking.
func socketpair() (ours, theirs int, err error) {
	pair, err := socketPair()
	if err != nil {
		return -1, -1, fmt.Errorf("make a socket pair: %w", err)
	}
	neverBlock(pair[0])
	return pair[0], pair[1], nil
}

// neverBlock has reads and writes of an open descriptor return at once.
func neverBlock(fd int) { _ = unix.SetNonblock(fd, true) } // fails for a closed one only

// fill reads the available bytes. It returns errClosed at the end.
func (l *link) fill() error {
	for {
		if cap(l.buf)-len(l.buf) < 4096 {
			l.buf = append(make([]byte, 0, 2*cap(l.buf)+16<<10), l.buf...)
		}
		n, err := unix.Read(l.fd, l.buf[len(l.buf):cap(l.buf)])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return nil
		case err != nil || n == 0:
			return errClosed
		default:
			l.buf = l.buf[:len(l.buf)+n]
			if len(l.buf) < cap(l.buf) {
				return nil
			}
		}
	}
}

// take removes and returns the first complete frame; nil if there is none. The bytes are valid
// until the next fill.
func (l *link) take() ([]byte, error) {
	if len(l.buf) < headLen {
		return nil, nil
	}
	n, err := strconv.ParseUint(string(l.buf[:headLen]), 16, 32)
	if err != nil || n > largestFrame {
		return nil, fmt.Errorf("the frame's length %q is not one", l.buf[:headLen])
	}
	end := headLen + int(n)
	if len(l.buf) < end {
		return nil, nil
	}
	frame := l.buf[headLen:end:end]
	l.buf = l.buf[end:]
	return frame, nil
}

// send writes a frame; it fails if the other side does not read it by the deadline. A closed
// end is no error: frames sent before count, and the wait for them sees the end.
func (l *link) send(v any, deadline time.Time) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write a frame: %w", err)
	}
	if err := l.write(append(fmt.Appendf(nil, "%08x", len(body)), body...), deadline); err != errClosed {
		return err
	}
	return nil
}

func (l *link) write(data []byte, deadline time.Time) error {
	for len(data) > 0 {
		n, err := unix.Write(l.fd, data)
		switch err {
		case nil:
			data = data[n:]
		case unix.EINTR:
		case unix.EAGAIN:
			poll := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLOUT}}
			left := time.Until(deadline)
			if left <= 0 {
				return fmt.Errorf("write a frame: %w", unix.ETIMEDOUT)
			}
			if _, err := unix.Poll(poll, milliseconds(left)); err != nil && err != unix.EINTR {
				return fmt.Errorf("write a frame: %w", err)
			}
		default:
			return errClosed
		}
	}
	return nil
}

// milliseconds rounds up, so that short waits do not become a busy loop.
func milliseconds(d time.Duration) int {
	return int(min(max(0, (d+time.Millisecond-1)/time.Millisecond), 1<<30))
}
