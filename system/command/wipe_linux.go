package command

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// empty removes everything in a folder, given by its descriptor. It follows no symbolic link, opens
// folders that were made inaccessible, and handles trees of any depth by moving folders up instead
// of descending.
func empty(dir int) error {
	w := wiper{dir: dir}
	for round := 0; ; round++ {
		names, err := list(dir)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return nil
		}
		if round > 1_000_000 {
			return errors.New("the folder never becomes empty")
		}
		for _, name := range names {
			if err := w.remove(name); err != nil {
				return err
			}
		}
	}
}

type wiper struct {
	dir   int
	moved int
}

// remove removes one entry. It moves a folder's subfolders up, to be removed in a later round.
func (w *wiper) remove(name string) error {
	err := unix.Unlinkat(w.dir, name, 0)
	if err == nil || err == unix.ENOENT {
		return nil
	}
	if err != unix.EISDIR && err != unix.EPERM {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	if err := unix.Unlinkat(w.dir, name, unix.AT_REMOVEDIR); err == nil || err == unix.ENOENT {
		return nil
	}
	sub, err := openDir(w.dir, name)
	if err == unix.EACCES {
		if err = unix.Fchmodat(w.dir, name, 0o700, 0); err == nil {
			sub, err = openDir(w.dir, name)
		}
	}
	if err != nil {
		return fmt.Errorf("open %q to remove it: %w", name, err)
	}
	defer unix.Close(sub)
	if err := unix.Fchmod(sub, 0o700); err != nil {
		return fmt.Errorf("open %q to remove it: %w", name, err)
	}
	names, err := list(sub)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := w.lift(sub, n); err != nil {
			return err
		}
	}
	if err := unix.Unlinkat(w.dir, name, unix.AT_REMOVEDIR); err != nil && err != unix.ENOENT {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	return nil
}

func (w *wiper) lift(sub int, name string) error {
	err := unix.Unlinkat(sub, name, 0)
	if err == nil || err == unix.ENOENT {
		return nil
	}
	if unix.Unlinkat(sub, name, unix.AT_REMOVEDIR) == nil {
		return nil
	}
	for {
		w.moved++
		to := ".wipe" + strconv.Itoa(w.moved)
		err = unix.Renameat2(sub, name, w.dir, to, unix.RENAME_NOREPLACE)
		switch err {
		case nil, unix.ENOENT:
			return nil
		case unix.EEXIST:
			continue
		case unix.EACCES: // a folder must be writable to be moved
			if err := unix.Fchmodat(sub, name, 0o700, 0); err == nil {
				if unix.Renameat2(sub, name, w.dir, to, unix.RENAME_NOREPLACE) == nil {
					return nil
				}
			}
		}
		return fmt.Errorf("remove %q: %w", name, err)
	}
}

// list returns the names in a folder without "." and "..".
func list(dir int) ([]string, error) {
	if _, err := unix.Seek(dir, 0, 0); err != nil {
		return nil, fmt.Errorf("list a folder: %w", err)
	}
	var names []string
	buf := make([]byte, 8192)
	for {
		n, err := unix.ReadDirent(dir, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list a folder: %w", err)
		}
		if n <= 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}
