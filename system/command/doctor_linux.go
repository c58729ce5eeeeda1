package command

import (
	"fmt"
	"os"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/scratch"
)

// Containment returns the parts of a sandbox that the kernel grants, and those it refuses with the
// reason, before any program runs.
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
	l := process.Limits{AddressSpace: 4 << 30}
	box, granted, refused := newSandbox(int(top.Fd()), dir.Path, l)
	group, bounds, unbound := sandboxGroup(l, 1)
	granted, refused = append(granted, bounds...), append(refused, unbound...)
	if group != nil {
		group.close()
	}
	if box != nil {
		box.close()
	}
	return granted, refused, nil
}
