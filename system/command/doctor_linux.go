package command

import (
	"fmt"
	"os"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/scratch"
)

// Containment says which parts of a sandbox the kernel grants and which it
// refuses, and why, before any program is run.
func Containment() (granted, refused []string, err error) {
	dir, err := scratch.Make("")
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	top, err := os.Open(dir.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("open a folder to try a sandbox with: %w", err)
	}
	defer top.Close()
	box, granted, refused := newSandbox(int(top.Fd()), dir.Path, process.Limits{AddressSpace: 4 << 30}, 1)
	if box != nil {
		box.close()
	}
	return granted, refused, nil
}
