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

// ours is what Make calls a folder. Nothing else is ever removed: people have
// their own folders whose names begin with thresh.
var ours = regexp.MustCompile(`^thresh-[0-9]+-[0-9a-f]{12}$`)

var swept sync.Map // parents in which this process has looked for what others left

// Make makes an empty folder in parent; "" means where this system keeps
// temporary files. On its first call for a parent it removes what killed
// processes have left there.
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
	// It is as long for every process: the length of what a program is called with decides addresses.
	name := fmt.Sprintf("thresh-%07d-%s", os.Getpid(), hex.EncodeToString(random[:]))
	// It has another name until it is locked, so that nobody takes it for a dead one's.
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

// Close removes the folder, also where a program has made parts of it
// inaccessible. It may be called again.
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

// Sweep removes the folders in parent whose owners have died. What cannot be
// removed stays: it is somebody else's.
func Sweep(parent string) {
	entries, _ := os.ReadDir(parent) // what cannot be read cannot be swept
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

// Remove removes a tree, folders that were made inaccessible included.
func Remove(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error { // what it misses, RemoveAll names
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
