package room

import (
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"syscall"
)

const environmentFailed = 3 // the exit code for what the environment lacks

func init() {
	var have syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &have) != nil || have.Cur == ^uint64(0) {
		return
	}
	if why := refusal(have.Cur); why != "" {
		fmt.Fprintln(os.Stderr, why)
		os.Exit(environmentFailed)
	}
	// Where memory ends all the same, one line says it and not a page of them.
	debug.SetTraceback("none")
	// Starlark logs that it found no 4 GB for small integers. It works without.
	log.SetOutput(io.Discard)
}
