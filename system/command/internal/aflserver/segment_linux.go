package aflserver

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// segment is a System V shared memory segment. The kernel removes it when the last process that has
// it attached ends, for whatever reason.
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
	// Linux lets processes attach a segment marked for removal by its id as long as another process
	// has it attached.
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

// variable returns the environment variable through which a program finds the segment. It has the
// same length for every segment, because the length of the environment affects addresses.
func (s *segment) variable(name string) string { return fmt.Sprintf("%s%010d", name, s.id) }

func (s *segment) close() {
	if s.mem != nil {
		// The only possible error is that it is not attached, which the nil check rules out.
		_ = unix.SysvShmDetach(s.mem)
		s.mem = nil
	}
}
