package command

import (
	"fmt"
	"os"

	"github.com/thresh-dev/thresh/port/process"
)

// Containment says which parts of a sandbox the kernel grants and which it
// refuses, and why, before any program is run.
func Containment() (granted, refused []string, err error) {
	dir, err := os.MkdirTemp("", "thresh-doctor-*")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder to try a sandbox with: %w", err)
	}
	defer os.RemoveAll(dir)
	top, err := os.Open(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open a folder to try a sandbox with: %w", err)
	}
	defer top.Close()
	box, granted, refused := newSandbox(int(top.Fd()), dir, process.Limits{})
	if box != nil {
		box.close()
	}
	return granted, refused, nil
}
