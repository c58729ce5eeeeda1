// Package scratch makes temporary folders that are removed even if their owner
// is killed: each is locked while its owner lives, and the next process that
// makes one removes the unlocked ones.
package scratch

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// Folder is a temporary folder of this process, PARENT/thresh-PID-RANDOM.
type Folder struct {
	Path string // absolute, without links
	lock *os.File
}

// ours matches the names that Make gives folders. Nothing else is ever removed: people have their
// own folders whose names begin with thresh.
var ours = regexp.MustCompile(`^thresh-[0-9]+-[0-9a-f]{12}$`)

var swept sync.Map // parents in which this process has swept

// Make makes an empty folder in parent; "" means this system's folder for temporary files. Its
// first call for a parent removes the folders that killed processes left there.
func Make(parent string) (*Folder, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	parent, err := filepath.EvalSymlinks(parent)
	if err == nil {
		parent, err = filepath.Abs(parent)
	}
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	if _, done := swept.LoadOrStore(parent, true); !done {
		Sweep(parent)
	}
	var random [6]byte
	rand.Read(random[:])
	// The path has the same length for every process, because the length of a program's arguments
	// affects its addresses.
	name := fmt.Sprintf("thresh-%07d-%s", os.Getpid(), hex.EncodeToString(random[:]))
	// The folder has another name until it is locked, so that nobody sweeps it.
	hidden := filepath.Join(parent, "."+name)
	f := &Folder{Path: filepath.Join(parent, name)}
	if err := os.Mkdir(hidden, 0o755); err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	if f.lock, err = lock(hidden); err == nil {
		err = os.Rename(hidden, f.Path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a temporary folder: %w", err), f.unlock(), os.Remove(hidden))
	}
	return f, nil
}

// Close removes the folder, even if a program has made parts of it inaccessible. It may be called
// again.
func (f *Folder) Close() error {
	err := Remove(f.Path)
	return errors.Join(err, f.unlock())
}

func (f *Folder) unlock() error {
	if f.lock == nil {
		return nil
	}
	err := f.lock.Close()
	f.lock = nil
	return err
}

// Sweep removes the folders in parent whose owners have died. It ignores failures: what cannot be
// removed belongs to somebody else.
func Sweep(parent string) {
	entries, _ := os.ReadDir(parent) // an unreadable parent cannot be swept
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		if !e.IsDir() || !ours.MatchString(e.Name()) || !own(dir) {
			continue
		}
		if held, err := lock(dir); err == nil && held != nil {
			_ = Remove(dir)
			_ = held.Close()
		}
	}
}

// Remove removes a tree, including folders that were made inaccessible.
func Remove(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error { // RemoveAll reports what this misses
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove a temporary folder: %w", err)
	}
	return nil
}
