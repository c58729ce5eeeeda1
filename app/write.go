package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/thresh-dev/thresh/store/lock"
)

// WriteWhole writes a file atomically.
func WriteWhole(file string, data []byte, mode os.FileMode) error {
	return WriteWholly(file, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteWholly is [WriteWhole] for content written in parts.
func WriteWholly(file string, mode os.FileMode, write func(io.Writer) error) error {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // a device or a pipe
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, mode)
		if err != nil {
			return err
		}
		return errors.Join(writeBuffered(f, write), f.Close())
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".thresh-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := writeBuffered(tmp, write); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(mode); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), file); err != nil {
		return fmt.Errorf("putting it in place: %w", err)
	}
	return nil
}

func writeBuffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// OwnFile creates a file that only one process can own until it closes it.
func OwnFile(file string) (io.Closer, error) { return lock.Own(file) }
