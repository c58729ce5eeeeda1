//go:build !unix

package program

import "os"

// follow reads to the end of a pipe.
func (t *Tail) follow(r *os.File) {
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
