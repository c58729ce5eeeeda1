//go:build unix

package program

import (
	"os"
	"syscall"
)

// follow starts reading a pipe to its end. All reads hold the lock, so that Take can read, too, and
// misses nothing written before it, however late the goroutine starts.
func (t *Tail) follow(r *os.File) {
	raw, err := r.SyscallConn()
	if err != nil {
		r.Close()
		return
	}
	t.from = raw
	go t.readAll(r, raw)
}

func (t *Tail) readAll(r *os.File, raw syscall.RawConn) {
	defer r.Close()
	for {
		ended := false
		err := raw.Read(func(fd uintptr) bool {
			t.mu.Lock()
			defer t.mu.Unlock()
			ok, end := t.drain(fd)
			ended = end
			return ok || end
		})
		if err != nil || ended {
			t.mu.Lock()
			t.from = nil
			t.mu.Unlock()
			return
		}
	}
}

// drain reads what is available. The caller must hold the lock.
func (t *Tail) drain(fd uintptr) (some, ended bool) {
	if t.chunk == nil {
		t.chunk = make([]byte, 8<<10)
	}
	for range 256 { // a flood of output must not hold the lock forever
		n, err := syscall.Read(int(fd), t.chunk)
		switch {
		case n > 0:
			t.add(t.chunk[:n])
			some = true
		case err == syscall.EAGAIN:
			return some, false
		case err == syscall.EINTR:
		default:
			return some, true
		}
	}
	return some, false
}

// sync reads what was written but not yet read. The caller must hold the lock.
func (t *Tail) sync() {
	if t.from != nil {
		_ = t.from.Control(func(fd uintptr) { t.drain(fd) }) // a closed pipe has no more output
	}
}
