package forkline

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// PerCase reports whether a limit must be applied to each case instead of to the server that forks
// the cases. In a server that lives for a million cases, processor time adds up, and a limit on
// processes would keep the server from forking.
func (r Rlimit) PerCase() bool {
	return r.Resource == unix.RLIMIT_CPU || r.Resource == unix.RLIMIT_NPROC
}

// Apply applies the limit to a process.
func (r Rlimit) Apply(pid int) error {
	if r.Resource == Group {
		if _, err := unix.Write(int(r.Cur), strconv.AppendInt(nil, int64(pid), 10)); err != nil {
			return fmt.Errorf("enter a control group: %w", err)
		}
		return nil
	}
	lim := unix.Rlimit{Cur: r.Cur, Max: r.Max}
	if err := unix.Prlimit(pid, r.Resource, &lim, nil); err != nil {
		return fmt.Errorf("set resource limit %d to %d: %w", r.Resource, r.Cur, err)
	}
	return nil
}
