package command

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// capture collects a program's output in a memory file. Unlike a pipe it cannot fill up, nobody can
// hold it open, and nothing has to read it meanwhile.
type capture struct {
	name string
	fd   int
	buf  []byte
	size int64
}

func newCapture(name string) (*capture, error) {
	c := &capture{name: name, fd: -1}
	return c, c.renew()
}

// renew replaces the file; used when something may still write to the old one.
func (c *capture) renew() error {
	c.close()
	fd, err := highFD(unix.MemfdCreate(c.name, unix.MFD_CLOEXEC))
	if err != nil {
		return fmt.Errorf("make the file that catches %s: %w", c.name, err)
	}
	c.fd, c.size = fd, 0
	return nil
}

func (c *capture) close() {
	if c.fd >= 0 {
		unix.Close(c.fd)
		c.fd = -1
	}
}

// rewind empties the file. It always seeks, because a program may move the offset without writing.
func (c *capture) rewind() error {
	if c.size > 0 {
		if err := unix.Ftruncate(c.fd, 0); err != nil {
			return fmt.Errorf("empty the file that catches %s: %w", c.name, err)
		}
		c.size = 0
	}
	if _, err := unix.Seek(c.fd, 0, 0); err != nil {
		return fmt.Errorf("rewind the file that catches %s: %w", c.name, err)
	}
	return nil
}

// blockSize is the unit of st_blocks, in bytes.
const blockSize = 512

// markWritten has the next rewind empty the file although nobody read it.
func (c *capture) markWritten() { c.size = max(c.size, 1) }

// written returns the bytes the file occupies.
func (c *capture) written() int64 {
	var st unix.Stat_t
	if fstat(c.fd, &st) != 0 {
		return 0
	}
	return st.Blocks * blockSize
}

// read returns the first limit bytes of the output, and its total size. The bytes are valid until
// the next read.
func (c *capture) read(limit int64) ([]byte, int64, error) {
	var st unix.Stat_t
	if errno := fstat(c.fd, &st); errno != 0 {
		return nil, 0, fmt.Errorf("look at %s: %w", c.name, errno)
	}
	c.size = st.Size
	n := int(min(st.Size, limit))
	if n == 0 {
		return nil, st.Size, nil
	}
	if cap(c.buf) < n {
		c.buf = make([]byte, max(n, 4096))
	}
	got := c.buf[:n]
	for done := 0; done < n; {
		k, err := unix.Pread(c.fd, got[done:], int64(done))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read %s: %w", c.name, err)
		}
		if k == 0 {
			return got[:done], st.Size, nil
		}
		done += k
	}
	return got, st.Size, nil
}
