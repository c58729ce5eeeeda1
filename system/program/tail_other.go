//go:build !unix

package program

import "os"

// follow has a pipe read to its end.
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

// sync can read nothing without waiting, here.
func (t *Tail) sync() {}
