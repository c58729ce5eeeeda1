package store

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/store/lock"
)

// index is what this process knows about the runs: the heads of their outlines.
// It is brought up to date with the folders before each answer.
type index struct {
	mu   sync.Mutex
	runs map[string]*entry
	list []*entry // newest first; nil: outdated
}

// entry is one run in the index.
type entry struct {
	*head
	data []byte    // the outline, if no file has it: the run is live, or its folder is not writable
	mod  time.Time // of the run's folder when it was looked at
	seen time.Time // when mod was read
}

// settling is how long after a change of a folder another change may leave its
// modification time as it is.
const settling = 2 * time.Second

// runList returns the runs that can be read, newest first.
func (s *Store) runList() ([]*entry, error) {
	files, err := os.ReadDir(s.path(runsDir))
	if err != nil {
		return nil, err
	}
	x := &s.index
	x.mu.Lock()
	defer x.mu.Unlock()
	there := make(map[string]bool, len(files))
	for _, f := range files {
		if !f.IsDir() || strings.HasPrefix(f.Name(), ".") {
			continue
		}
		fi, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		there[f.Name()] = true
		if _, err := s.refresh(f.Name(), fi); err != nil {
			return nil, err
		}
	}
	for id := range x.runs {
		if !there[id] {
			s.cacheEntry(id, nil)
		}
	}
	if x.list == nil {
		// Among runs of one moment the name decides: -10 is newer than -9.
		x.list = slices.SortedFunc(maps.Values(x.runs), func(a, b *entry) int {
			return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(len(b.RunID), len(a.RunID)), cmp.Compare(b.RunID, a.RunID))
		})
	}
	return x.list, nil
}

// runNames returns the names of the runs that can be read, newest first.
func (s *Store) runNames() ([]string, error) {
	runs, err := s.runList()
	names := seq.Map(runs, func(r *entry) string { return r.RunID })
	return names, err
}

// entryOf returns one run, named in full.
func (s *Store) entryOf(id string) (*entry, error) {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	return s.lookAt(id)
}

// rebuild makes the outline of a run again.
func (s *Store) rebuild(id string) (*entry, error) {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	s.cacheEntry(id, nil)
	if !s.asIs {
		_ = os.Remove(s.runPath(id, outlineFile)) // if this fails, the new outline is kept in memory
	}
	return s.lookAt(id)
}

func (s *Store) lookAt(id string) (*entry, error) {
	if !isRunName(id) {
		return nil, fs.ErrNotExist
	}
	fi, err := os.Stat(s.path(runsDir, id))
	if err != nil {
		return nil, err
	}
	k, err := s.refresh(id, fi)
	if k == nil && err == nil {
		err = errors.New("its journal cannot be read")
	}
	return k, err
}

func (s *Store) cacheEntry(id string, k *entry) {
	s.index.list = nil
	if k == nil {
		delete(s.index.runs, id)
		return
	}
	s.index.runs[id] = k
}

// refresh brings one run up to date: from its outline if that matches the
// journal, from its manifest if the run is live, and otherwise from all of its
// journal. A journal that cannot be read is reported and left alone.
func (s *Store) refresh(id string, folder fs.FileInfo) (*entry, error) {
	k := s.index.runs[id]
	if k != nil && k.data == nil && k.mod.Equal(folder.ModTime()) && k.seen.Sub(k.mod) > settling {
		return k, nil // resuming a run removes its outline
	}
	now := entry{mod: folder.ModTime(), seen: time.Now()}
	size := int64(-1)
	if fi, err := os.Stat(s.runPath(id, journalFile)); err == nil {
		size = fi.Size()
	}
	if o := s.readHead(id); o != nil && o.Journal == size {
		now.head = o
		s.cacheEntry(id, &now)
		return &now, nil
	}
	live, err := lock.Held(s.runPath(id, runLock))
	if err != nil {
		return nil, err
	}
	if k != nil && k.data != nil && live == (k.Status == statusRunning) && (live || k.Journal == size) {
		return k, nil
	}
	s.cacheEntry(id, nil)
	p, err := s.projected(id, live)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.notice("%v; the run stays in the store but cannot be shown", err)
		}
		return nil, nil
	}
	if now.head, now.data, err = p.encode(&s.pack, size); err != nil {
		return nil, err
	}
	if !live && !s.asIs && writeOutline(s.runPath(id, outlineFile), now.data) == nil {
		now.data = nil
	}
	s.cacheEntry(id, &now)
	return &now, nil
}

// readHead returns the head of a run's outline; nil if there is none or it is
// damaged.
func (s *Store) readHead(id string) *head {
	f, err := os.Open(s.runPath(id, outlineFile))
	if err != nil {
		return nil
	}
	defer f.Close()
	o, err := readOutline(f, &s.pack)
	if err != nil || o.RunID != id {
		if s.asIs {
			return nil // CheckOutline reports it
		}
		s.notice("the outline of run %s was damaged and has been rebuilt from its journal", id)
		return nil
	}
	return o.head
}

// projected returns what a run's journal says; for a live run, what its manifest
// says.
func (s *Store) projected(id string, live bool) (projection, error) {
	if live {
		m, err := s.manifestOf(id)
		return projection{manifest: m, status: statusRunning}, err
	}
	j, err := s.OpenJournal(id)
	if err != nil {
		return projection{}, err
	}
	defer j.Close()
	p, err := project(j, false)
	if !s.blobs.Has(p.blob) {
		p.blob = ""
	}
	return p, err
}

// removeDatabase removes the index database of earlier versions.
func (s *Store) removeDatabase() {
	for _, name := range [...]string{"index.db", "index.db-wal", "index.db-shm", "index.lock"} {
		_ = os.Remove(s.path(name)) // if this fails, it does no harm
	}
}
