package python

import "golang.org/x/sys/unix"

// These create descriptors that no program inherits, however it is started meanwhile.

func pipe(ends []int) error { return unix.Pipe2(ends, unix.O_CLOEXEC) }

func socketPair() ([2]int, error) {
	return unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
}
