package forkline

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Waited is how long a process has been ready to run while others
// ran, by its thread that waited longest: the second number of schedstat (see
// Documentation/scheduler/sched-stats.rst of Linux). It is 0 where the kernel
// does not keep it.
func Waited(pid int) time.Duration {
	// The pattern is sound, so there is no error.
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	var most time.Duration
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		var ran, waited int64
		if _, err := fmt.Sscan(string(text), &ran, &waited); err == nil {
			most = max(most, time.Duration(waited))
		}
	}
	return most
}
