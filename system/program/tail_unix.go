//go:build unix

package program

import (
	"os"
	"syscall"
)

// follow has a pipe read to its end. What is read is read under the lock, so
// that Take can read as well and miss nothing that was written before it, however
// late the goroutine begins.
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

// drain reads what is there; the lock is held.
func (t *Tail) drain(fd uintptr) (some, ended bool) {
	if t.chunk == nil {
		t.chunk = make([]byte, 8<<10)
	}
	for range 256 { // a flood leaves others their turn
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

// sync reads what was written and not read yet; the lock is held.
func (t *Tail) sync() {
	if t.from != nil {
		_ = t.from.Control(func(fd uintptr) { t.drain(fd) }) // a closed pipe has nothing more to say
	}
}
