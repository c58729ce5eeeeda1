//go:build !unix

package program

import "os"

// follow starts reading a pipe to its end.
func (t *Tail) follow(r *os.File) { go t.readAll(r) }

func (t *Tail) readAll(r *os.File) {
	defer r.Close()
	var chunk [8 << 10]byte
	for {
		n, err := r.Read(chunk[:])
		t.mu.Lock()
		t.add(chunk[:n])
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// sync does nothing: this system cannot read without blocking.
func (t *Tail) sync() {}
