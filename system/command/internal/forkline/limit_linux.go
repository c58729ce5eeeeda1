package forkline

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// PerCase reports whether a limit must be laid on each case instead of on the
// server that makes the cases. Processor time adds up in a server that lives
// for a million cases, and the number of processes would stop the server from
// making the next one.
func (r Rlimit) PerCase() bool {
	return r.Resource == unix.RLIMIT_CPU || r.Resource == unix.RLIMIT_NPROC
}

// Apply lays the limit on a process.
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
