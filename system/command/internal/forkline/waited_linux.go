package forkline

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Look returns a process's standing from schedstat (see Documentation/scheduler/sched-stats.rst of
// Linux). Values that the kernel does not keep are 0.
func Look(pid int) (s Standing) {
	// Glob fails only for a malformed pattern.
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, task := range tasks {
		text, err := os.ReadFile(task + "/schedstat")
		if err != nil {
			continue // the thread has ended
		}
		var used, waited int64
		if _, err := fmt.Sscan(string(text), &used, &waited); err == nil {
			s.Used += time.Duration(used)
			s.Waited = max(s.Waited, time.Duration(waited))
		}
		stat, _ := os.ReadFile(task + "/stat")
		_, state, _ := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(" "))
		s.Ready = s.Ready || len(state) > 0 && (state[0] == 'R' || state[0] == 't' || state[0] == 'Z' && len(tasks) == 1)
	}
	return s
}
