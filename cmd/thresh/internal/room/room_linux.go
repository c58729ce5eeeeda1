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
	// Starlark takes 4 GiB for small integers, and works without: what is allowed
	// would else be all but gone. It logs that it found none.
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
