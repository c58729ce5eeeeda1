package command

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// inputFile is the case's input: a regular file that stays open, and a second open file description
// of it for standard input.
type inputFile struct {
	fd     int
	readFD int
	clean  unix.Stat_t
}

// create makes a new file; nothing may exist at its path.
func (f *inputFile) create(path string) error {
	f.close()
	fd, err := highFD(unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o644))
	if err != nil {
		return err
	}
	f.fd = fd
	if err := unix.Fchmod(fd, 0o644); err != nil { // regardless of the umask
		return err
	}
	if f.readFD, err = highFD(unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)); err != nil {
		return err
	}
	return unix.Fstat(fd, &f.clean)
}

func (f *inputFile) close() {
	if f.fd >= 0 {
		unix.Close(f.fd)
	}
	if f.readFD >= 0 {
		unix.Close(f.readFD)
	}
	f.fd, f.readFD = -1, -1
}

// errReplaced reports that the file at the input's path is no longer ours to reuse.
var errReplaced = errors.New("the input file was replaced")

// write replaces the file's content. The path still leads to this file, because its folder is
// unchanged.
func (f *inputFile) write(data []byte) error {
	var st unix.Stat_t
	if errno := fstat(f.fd, &st); errno != 0 {
		return fmt.Errorf("look at the input file: %w", errno)
	}
	if st.Nlink != 1 || st.Mode != f.clean.Mode || st.Uid != f.clean.Uid {
		return errReplaced
	}
	for done := 0; done < len(data); {
		n, err := unix.Pwrite(f.fd, data[done:], int64(done))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("write the input file: %w", err)
		}
		done += n
	}
	if st.Size > int64(len(data)) {
		if err := unix.Ftruncate(f.fd, int64(len(data))); err != nil {
			return fmt.Errorf("write the input file: %w", err)
		}
	}
	return nil
}

// rewind puts standard input at the start of the file.
func (f *inputFile) rewind() error {
	if _, err := unix.Seek(f.readFD, 0, 0); err != nil {
		return fmt.Errorf("rewind the input file: %w", err)
	}
	return nil
}
