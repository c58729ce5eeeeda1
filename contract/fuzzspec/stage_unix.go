//go:build unix

package fuzzspec

import (
	"errors"
	"os"
	"syscall"
)

// holdStage makes an empty folder and locks it against other processes. Two processes may keep the
// same case; the second one waits. The lock ends with its process, and stays with the folder when
// the folder is moved.
func holdStage(stage string) (hold *os.File, err error) {
	for {
		if err := os.Mkdir(stage, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		d, err := os.Open(stage)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := lock(d); err != nil {
			return nil, errors.Join(err, d.Close())
		}
		ours, err := d.Stat()
		now, gone := os.Lstat(stage)
		if err == nil && gone == nil && os.SameFile(ours, now) {
			return d, emptyFolder(stage)
		}
		if err := errors.Join(err, d.Close()); err != nil {
			return nil, err
		}
	}
}

// awaitKept waits for the process that moved a folder to its place and may still remove the
// previous one. Only the holder of the stage may call it: nobody else moves a folder there.
func awaitKept(place string) error {
	d, err := os.Open(place)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(lock(d), d.Close())
}

func lock(d *os.File) error {
	for {
		if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
