// Package lock provides file locks that the kernel releases when their owner
// dies, however it dies. They guard a run against two writers and the store
// against a collector that removes what another process is about to use.
//
// A lock belongs to an open file, so two locks of one process exclude each
// other as those of two processes do. Who holds a lock is also written into
// the file, for messages only: the kernel alone decides who holds it.
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

// errHeld is what the system's part returns for a lock that is held elsewhere.
var errHeld = errors.New("the lock is held")

// HeldError says that somebody else holds a lock.
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

// fileMode: what a lock guards is its owner's.
const fileMode = 0o600

// Wait takes the lock at path, creating the file, and waits for as long as
// others hold it. A file that cannot be written to is locked as well.
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

// probing is how long a holder that merely looks ([Held]) may keep a lock.
const (
	probing    = 250 * time.Millisecond
	probeRetry = 5 * time.Millisecond
)

// Own takes the exclusive lock at path and writes the owner into the file. It
// fails with a [*HeldError] if another process holds it, and with
// fs.ErrNotExist if the file was removed meanwhile.
func Own(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	err = lockFile(f, Exclusive, false)
	for end := time.Now().Add(probing); errors.Is(err, errHeld) && time.Now().Before(end); {
		time.Sleep(probeRetry) // it may be no owner, but somebody who looks for one
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

// Held reports whether somebody owns the lock at path. It creates nothing, and
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

// TryUpgrade makes a shared lock exclusive if there is no other holder. If that
// fails, the lock is shared still.
func (l *Lock) TryUpgrade() (bool, error) {
	err := lockFile(l.f, Exclusive, false)
	if errors.Is(err, errHeld) {
		return false, l.Downgrade() // a failed change may have given the lock up
	}
	return err == nil, err
}

// Downgrade makes the lock shared.
func (l *Lock) Downgrade() error { return lockFile(l.f, Shared, true) }

// Close gives the lock back. Its file stays: removing it would let two owners
// lock two files of one name.
func (l *Lock) Close() error { return l.f.Close() }

// samefile fails if path no longer names f: it was removed between opening and
// locking.
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

// owner is the error that names who holds f, as far as that can be read.
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
