package aflserver

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// segment is a System V shared memory segment. The kernel removes it when the
// last process that has it attached is gone, however that comes about.
type segment struct {
	id  int
	mem []byte
}

func newSegment(size int) (*segment, error) {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, size, unix.IPC_CREAT|0o600)
	if err != nil {
		return nil, fmt.Errorf("make %d bytes of shared memory: %w", size, err)
	}
	mem, err := unix.SysvShmAttach(id, 0, 0)
	// Linux lets a segment that is marked for removal be attached by its id
	// for as long as somebody has it.
	_, rerr := unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	if err != nil {
		return nil, fmt.Errorf("attach shared memory: %w", err)
	}
	s := &segment{id: id, mem: mem}
	if rerr != nil {
		s.close()
		return nil, fmt.Errorf("mark shared memory for removal: %w", rerr)
	}
	return s, nil
}

// variable is what a program finds the segment by. It is as long for every segment, since
// the length of the environment decides addresses.
func (s *segment) variable(name string) string { return fmt.Sprintf("%s%010d", name, s.id) }

func (s *segment) close() {
	if s.mem != nil {
		// The only error is that it is not attached, which nil rules out.
		_ = unix.SysvShmDetach(s.mem)
		s.mem = nil
	}
}
