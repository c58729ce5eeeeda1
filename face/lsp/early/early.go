// Package early gives the heap of the language server its first memory while the program still
// starts. The first check of a long document would otherwise wait for the system at each of
// thousands of new pages. It imports little, so that it is initialized before most other packages:
// they need one processor, and this another.
package early

import (
	"os"
	"runtime"
	"runtime/debug"
)

// size is the memory that the first check of a model of 5,000 lines takes, rounded up.
const size = 28 << 20

func init() {
	if len(os.Args) > 1 && os.Args[1] == "lsp" && runtime.GOMAXPROCS(0) > 1 {
		debug.SetGCPercent(-1) // a collection would look for pointers in it; the server sets its own percentage
		go func() { touch([size]byte{}) }()
	}
}

// touch takes memory that has just been written. An argument is on the stack, and the memory of a
// stack is free for the heap when its goroutine ends, without a collection.
//
//go:noinline
func touch(all [size]byte) byte { return all[size/2] }
