// Package lock provides file locks that the kernel releases when their owner
// dies, however it dies. They guard a run against two writers and the store
// against a collector that removes what another process is about to use.
//
// A lock belongs to an open file, so two locks of one process exclude each
// other like those of two processes. The owner of a lock is also written into
// the file, but only for messages: the kernel decides who holds it.
//
// The package imports the standard library and golang.org/x/sys only.
package lock

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Mode is how a lock is held.
type Mode int

// The modes: any number of holders, or one alone.
const (
	Shared Mode = iota
	Exclusive
)

// errHeld is the error of lockFile if the lock is held elsewhere.
var errHeld = errors.New("the lock is held")

// HeldError says that another process holds a lock.
type HeldError struct {
	Path    string
	PID     int       // 0 if not known
	Started time.Time // of that process; zero if not known
}

func (e *HeldError) Error() string {
	switch {
	case e.PID == 0:
		return "locked by another process"
	case e.Started.IsZero():
		return fmt.Sprintf("locked by process %d", e.PID)
	}
	return fmt.Sprintf("locked by process %d, started %s", e.PID, e.Started.Format("2006-01-02 15:04:05 MST"))
}

// Lock is a held lock.
type Lock struct{ f *os.File }

// fileMode: a lock belongs to the same owner as what it guards.
const fileMode = 0o600

// Wait takes the lock at path, creates the file if necessary, and waits as long
// as others hold the lock. It also locks a file that is not writable.
func Wait(path string, mode Mode) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		r, rerr := os.Open(path)
		if rerr != nil {
			return nil, err
		}
		f = r
	}
	if err := lockFile(f, mode, true); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{f}, nil
}

// probing is how long [Held] may briefly hold a lock.
const (
	probing    = 250 * time.Millisecond
	probeRetry = 5 * time.Millisecond
)

// Own takes the exclusive lock at path and writes the owner into the file. It
// fails with a [*HeldError] if another process holds the lock, and with
// fs.ErrNotExist if the file was removed meanwhile.
func Own(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	err = lockFile(f, Exclusive, false)
	for end := time.Now().Add(probing); errors.Is(err, errHeld) && time.Now().Before(end); {
		time.Sleep(probeRetry) // the holder may not be an owner, but a caller of Held
		err = lockFile(f, Exclusive, false)
	}
	if errors.Is(err, errHeld) {
		err = owner(f, path)
	} else if err == nil {
		err = samefile(f, path)
	}
	if err == nil {
		err = writeOwner(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Lock{f}, nil
}

// Held reports whether somebody owns the lock at path. It creates nothing and
// does not wait.
func Held(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = lockFile(f, Shared, false)
	if errors.Is(err, errHeld) {
		return true, nil
	}
	return false, err
}

// TryUpgrade makes a shared lock exclusive if there is no other holder.
// Otherwise the lock stays shared.
func (l *Lock) TryUpgrade() (bool, error) {
	err := lockFile(l.f, Exclusive, false)
	if errors.Is(err, errHeld) {
		return false, l.Downgrade() // a failed change may have released the lock
	}
	return err == nil, err
}

// Downgrade makes the lock shared.
func (l *Lock) Downgrade() error { return lockFile(l.f, Shared, true) }

// Close releases the lock. Its file stays: if it were removed, two owners could
// lock two files of one name.
func (l *Lock) Close() error { return l.f.Close() }

// samefile fails if path no longer names f, because it was removed between
// opening and locking.
func samefile(f *os.File, path string) error {
	a, err := f.Stat()
	if err != nil {
		return err
	}
	b, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(a, b) {
		return fmt.Errorf("%s was replaced: %w", filepath.Base(path), fs.ErrNotExist)
	}
	return nil
}

func writeOwner(f *os.File) error {
	text := fmt.Sprintf("pid %d\nstarted %s\n", os.Getpid(), processStart().UTC().Format(time.RFC3339))
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// owner returns the error that names the owner of f, as far as it can be read.
func owner(f *os.File, path string) error {
	e := &HeldError{Path: path}
	b := make([]byte, 256)
	n, _ := f.ReadAt(b, 0)
	in := bufio.NewScanner(strings.NewReader(string(b[:n])))
	for in.Scan() {
		switch key, value, _ := strings.Cut(in.Text(), " "); key {
		case "pid":
			e.PID, _ = strconv.Atoi(value)
		case "started":
			e.Started, _ = time.Parse(time.RFC3339, value)
		}
	}
	return e
}
