package room

import (
	"io"
	"log"
	"os"
	"runtime/debug"
	"syscall"
)

const environmentFailed = 3 // the exit code for what the environment lacks

// init looks as entry_linux_amd64.s does, where that does not stand before the
// run time.
func init() {
	var have syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &have) != nil || have.Cur == ^uint64(0) {
		return
	}
	if have.Cur < needed {
		os.Stderr.WriteString(refusal)
		os.Exit(environmentFailed)
	}
	// Where memory ends all the same, one line says it and not a page of them.
	debug.SetTraceback("none")
	// Starlark logs that it found no 4 GB for small integers. It works without.
	log.SetOutput(io.Discard)
}
