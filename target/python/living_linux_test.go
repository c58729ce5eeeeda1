package python

import "golang.org/x/sys/unix"

func living(m mark) int {
	found := m.processes()
	for _, fd := range found {
		unix.Close(fd)
	}
	return len(found)
}
