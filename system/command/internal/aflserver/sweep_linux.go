package aflserver

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// sweep kills what a killed case left behind. Cases run in their server's process group, so it
// cannot kill the group as a whole and looks up the members instead. It repeats until none are
// left, because a member may be forking meanwhile.
func (s *Server) sweep() {
	const rounds = 100
	for range rounds {
		if !s.killMembers() {
			return
		}
	}
}

func (s *Server) killMembers() (found bool) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == s.pid {
			continue
		}
		if group, alive := processGroup(e.Name()); alive && group == s.group {
			unix.Kill(pid, unix.SIGKILL)
			found = true
		}
	}
	return found
}

// processGroup reads /proc/PID/stat, where the state and the group are the first and third field
// after the name in parentheses.
func processGroup(pid string) (group int, alive bool) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return 0, false
	}
	group, err = strconv.Atoi(string(fields[2]))
	return group, err == nil && fields[0][0] != 'Z' && fields[0][0] != 'X'
}
