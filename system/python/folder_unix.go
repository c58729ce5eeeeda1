//go:build unix

package python

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// folder is the private place of a lane, <parent>/thresh-<pid>-<random>, in
// memory where there is room. It is locked while its owner lives, which is how
// every thresh process tells the folders of dead ones and removes them.
type folder struct {
	top  string
	lock int
}

func newFolder() (*folder, error) {
	parent := tempParent()
	removeStale(parent)
	var random [6]byte
	rand.Read(random[:])
	name := "thresh-" + strconv.Itoa(os.Getpid()) + "-" + hex.EncodeToString(random[:])
	// Under another name until it is locked, lest it be taken for a dead one's.
	hidden := filepath.Join(parent, "."+name)
	if err := os.Mkdir(hidden, 0o755); err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	f := &folder{top: filepath.Join(parent, name)}
	var err error
	if f.lock, err = unix.Open(hidden, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
		if err = unix.Flock(f.lock, unix.LOCK_EX|unix.LOCK_NB); err == nil {
			err = os.Rename(hidden, f.top)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a temporary folder: %w", err), os.Remove(hidden))
	}
	return f, nil
}

// removeStale removes what processes that were killed have left. What cannot be
// removed is somebody else's.
func removeStale(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, "thresh-*"))
	for _, dir := range left {
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && int(st.Uid) == os.Geteuid() && unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			wipe(dir)
		}
		unix.Close(fd)
	}
}

// fresh returns an empty folder for a case.
func (f *folder) fresh() (string, error) {
	dir := filepath.Join(f.top, "tmp")
	if err := wipe(dir); err != nil {
		return "", fmt.Errorf("clear the temporary folder: %w", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a temporary folder: %w", err)
	}
	return dir, nil
}

func (f *folder) close() error {
	err := wipe(f.top)
	unix.Close(f.lock)
	return err
}

// wipe removes a tree, folders that were made inaccessible included.
func wipe(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// anonymous returns a new file that has no name.
func (f *folder) anonymous() (*os.File, error) {
	file, err := os.CreateTemp(f.top, "file")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("make a temporary file: %w", err), file.Close())
	}
	return file, nil
}
