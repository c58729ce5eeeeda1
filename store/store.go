package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store/blob"
	"github.com/thresh-dev/thresh/store/lock"
)

const (
	runsDir     = "runs"
	blobsDir    = "blobs"
	sessionLock = "lock"
	journalFile = "journal"
	outlineFile = "outline"
	runLock     = "lock"

	unbornRun     = ".new-"  // a run's folder before it has a manifest
	removedRun    = ".gone-" // a run's folder while it is being removed
	unbornOutline = ".outline-"

	// A run may hold private data: only its owner can read it unless the owner changes that.
	folderMode = 0o700
	fileMode   = 0o600
)

// Store is an open store. It is safe for concurrent use, and any number of
// processes may have one store open.
type Store struct {
	dir     string // as given
	root    string // absolute
	blobs   *blob.Dir
	session *lock.Lock // nil: the store is not writable
	asIs    bool       // files are not repaired
	index   index
	pack    packer
	told    sync.Map    // cached answers of [Store.tells]
	wrote   atomic.Bool // a blob was put or a run begun, so a mention may not be written yet

	// Contract returns the contract of that name, which decodes its outcomes; nil: unknown.
	// CaseNames returns the names that the document of a run's campaign gives its cases;
	// nil: none. Set both before use.
	Contract  func(name string) any
	CaseNames func(runID string, c *campaign.CampaignRecord) func(campaign.Case) string

	mu      sync.Mutex
	notices []string
}

// Open opens the store in the folder dir and creates it if there is none. An existing store
// can be read if its files can. Outlines that are missing, damaged or outdated are rebuilt;
// [Store.Notices] reports what of this a user should know. Errors have exit code 3.
func Open(dir string) (*Store, error) { return openAs(dir, false) }

// OpenAsIs is Open for checking a store, which must exist: it repairs no file, so that
// damage can be reported.
func OpenAsIs(dir string) (*Store, error) { return openAs(dir, true) }

func openAs(dir string, asIs bool) (*Store, error) {
	s, err := open(dir, asIs)
	if err != nil {
		return nil, diag.Environment("cannot use %s as a store: %w", dir, err)
	}
	return s, nil
}

func open(dir string, asIs bool) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	fi, err := os.Stat(abs)
	if err == nil && !fi.IsDir() {
		return nil, errors.New("it is a file, not a folder")
	}
	fresh := errors.Is(err, fs.ErrNotExist)
	readable := func() bool {
		fi, err := os.Stat(filepath.Join(abs, runsDir))
		return err == nil && fi.IsDir()
	}
	for _, sub := range [...]string{runsDir, blobsDir} {
		if asIs {
			break
		}
		if err := os.MkdirAll(filepath.Join(abs, sub), folderMode); err != nil && !readable() {
			return nil, err
		}
	}
	if fresh && !asIs {
		if err := hide(abs); err != nil {
			return nil, err
		}
	}
	s := &Store{dir: dir, root: abs, blobs: blob.Open(filepath.Join(abs, blobsDir)), index: index{runs: make(map[string]*entry)}, asIs: asIs}
	if s.session, err = lock.Wait(filepath.Join(abs, sessionLock), lock.Shared); err != nil && !unwritable(err) {
		return nil, err
	}
	if !asIs {
		s.removeDatabase()
	}
	if _, err := s.runList(); err != nil {
		return nil, errors.Join(fmt.Errorf("list its runs: %w", err), s.Close())
	}
	return s, nil
}

// hide keeps a new store out of git with a .gitignore of its own, which users who want to
// commit runs can delete.
func hide(root string) error {
	err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*\n"), 0o600)
	if err != nil && unwritable(err) {
		return nil
	}
	return err
}

// unwritable reports whether err says that a place is at most readable.
func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Close closes the store. Writers and journals must have been closed.
func (s *Store) Close() error {
	if s.session == nil {
		return nil
	}
	return s.session.Close()
}

// Dir returns the folder, as it was given to Open.
func (s *Store) Dir() string { return s.dir }

// Notices returns what a user should know about damage that was found and repaired, by Open
// first of all.
func (s *Store) Notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notices)
}

func (s *Store) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.notices, text) {
		s.notices = append(s.notices, text)
	}
}

func (s *Store) path(elem ...string) string {
	return filepath.Join(append([]string{s.root}, elem...)...)
}

func (s *Store) runPath(id, file string) string { return s.path(runsDir, id, file) }

// isRunName reports whether id can name a run's folder, and nothing outside the folder of
// runs.
func isRunName(id string) bool {
	return id != "" && !strings.HasPrefix(id, ".") && !strings.ContainsAny(id, `/\`)
}

// PutBlob stores data and returns its name, the hex SHA-256 of data.
func (s *Store) PutBlob(data []byte) (string, error) {
	s.wrote.Store(true)
	id, err := s.blobs.Put(data)
	return id, environment(err)
}

// Blob returns the content of a blob, checked against its name.
func (s *Store) Blob(id string) ([]byte, error) {
	data, err := s.blobs.Get(id)
	return data, environment(err)
}

// environment gives an error exit code 3; nil stays nil.
func environment(err error) error {
	if err == nil {
		return nil
	}
	return diag.Environment("%w", err)
}

// treeSize adds up the files below a folder, without those that vanish meanwhile.
func treeSize(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var fi fs.FileInfo
			if fi, err = d.Info(); err == nil {
				bytes += fi.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil
		}
		return err
	})
	return bytes, err
}
