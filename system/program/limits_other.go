//go:build !linux

package program

import (
	"errors"

	"github.com/thresh-dev/thresh/port/process"
)

// limit cannot bind a process that runs already, here.
func limit(_ int, l process.Limits) error {
	if l.AddressSpace > 0 || l.FileSize > 0 || l.Processes > 0 {
		return errors.New("limits of a running program can be set on Linux alone")
	}
	return nil
}
