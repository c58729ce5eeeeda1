//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// outliveFileLimit makes a write beyond the file size limit (ulimit -f) fail with an error, as on a
// full disk, instead of ending the process with a signal. Programs under test start with the
// default handling of the signal.
func outliveFileLimit() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ)
}
