//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// outliveFileLimit makes a write beyond a limit on the size of files (ulimit
// -f) an error that is reported, as a full disk is, in place of a signal that ends
// the process. Programs under test are started with the signal as it was.
func outliveFileLimit() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ)
}
