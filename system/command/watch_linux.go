package command

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watch finds out with one system call, whatever the number of folders, that nothing in them was
// created, removed, renamed or given other attributes: the kernel queues such events before the
// causing call returns. It does not interpret the events; after any event the folders are checked.
type watch struct {
	fd  int // no watch; every folder must be checked
	buf []byte
}

const changes = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ATTRIB |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

// newWatch watches folders. The kernel limits each user's watches; getting none is not an error.
func newWatch(dirs []fixedDir) watch {
	w := watch{fd: -1, buf: make([]byte, 4096)}
	fd, err := highFD(unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK))
	if err != nil {
		return w
	}
	for _, d := range dirs {
		if _, err := unix.InotifyAddWatch(fd, fmt.Sprintf("/proc/self/fd/%d", d.fd), changes); err != nil {
			unix.Close(fd)
			return w
		}
	}
	w.fd = fd
	return w
}

// unchanged reports whether nothing has happened since it was last called.
func (w *watch) unchanged() bool {
	if w.fd < 0 {
		return false
	}
	for quiet := true; ; quiet = false {
		n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(w.fd), uintptr(unsafe.Pointer(&w.buf[0])), uintptr(len(w.buf)))
		if errno != 0 || n == 0 {
			return quiet && errno == unix.EAGAIN
		}
	}
}

func (w *watch) close() {
	if w.fd >= 0 {
		unix.Close(w.fd)
		w.fd = -1
	}
}
