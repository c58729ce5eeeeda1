package room

import (
	"io"
	"log"
	"os"
	"runtime/debug"
	"syscall"
)

const environmentFailed = 3 // the exit code for a missing requirement of the environment

// init performs the check of entry_linux_amd64.s where that file does not run before the runtime.
func init() {
	var have syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &have) != nil || have.Cur == ^uint64(0) {
		return
	}
	if have.Cur < needed {
		os.Stderr.WriteString(refusal)
		os.Exit(environmentFailed)
	}
	// If memory runs out nevertheless, print one line and not a page.
	debug.SetTraceback("none")
	// Starlark reserves 4 GiB for small integers and works without, but logs that. With the
	// reservation, little of the allowed space would be left.
	log.SetOutput(io.Discard)
	if have.Cur < needed+2*integers {
		low := have
		low.Cur = min(low.Cur, integers)
		if syscall.Setrlimit(syscall.RLIMIT_AS, &low) == nil {
			restore = func() { _ = syscall.Setrlimit(syscall.RLIMIT_AS, &have) } // the hard limit allows it
		}
	}
}

// integers is the address space that Starlark reserves.
const integers = 1 << 32
