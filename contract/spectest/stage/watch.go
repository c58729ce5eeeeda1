package stage

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxChanged limits the changed files that are named. granularity is the assumed resolution of file
// system clocks: a new file may be stamped with a time that much earlier.
const (
	maxChanged  = 20
	granularity = 20 * time.Millisecond
)

// Watches knows which commands run in which folders, so that a change in a folder is attributed
// only to commands that can have made it. The zero value is ready to use.
type Watches struct {
	mu   sync.Mutex
	list map[string]*watch
}

// watch is one folder that commands share.
type watch struct {
	mu      sync.Mutex
	running int
	begun   int              // commands so far
	seen    map[string]stamp // changes just before the last look; nil: none yet
	ended   time.Time        // when the last command ended since then; zero: none did
}

// stamp distinguishes one state of a file from another.
type stamp struct {
	modified time.Time
	size     int64
}

// Watch is one command in a folder.
type Watch struct {
	dir   string
	of    *watch
	start time.Time
	ended time.Time // when the previous command ended
	begun int
	among int // number of other commands running when it began
}

// Begin records that a command begins in a folder. Call End when it has ended.
func (w *Watches) Begin(dir string) *Watch {
	w.mu.Lock()
	if w.list == nil {
		w.list = make(map[string]*watch)
	}
	f := w.list[dir]
	if f == nil {
		f = &watch{}
		w.list[dir] = f
	}
	w.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.scan(dir, time.Now())
	}
	f.running++
	f.begun++
	return &Watch{dir: dir, of: f, start: time.Now(), ended: f.ended, begun: f.begun, among: f.running - 1}
}

// Beside returns how many other commands have run in the folder since this one began.
func (w *Watch) Beside() int {
	if w == nil {
		return 0
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	return w.among + w.of.begun - w.begun
}

// Change lists what changed in a folder while a command ran.
type Change struct {
	Paths  []string // sorted
	More   bool     // there are more
	Shared bool     // other commands ran in the folder meanwhile: any of them may have made the changes
}

// End records that the command has ended. If look is set, it names the files of the folder that
// changed since the command began, and the folders in which files appeared or disappeared. It looks
// at no more files than a copy may have, and skips stored runs and .git. A change so early that the
// previous command may have made it is left out.
func (w *Watch) End(look bool) Change {
	f := w.of
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running--
	c := Change{Shared: w.among+f.begun-w.begun > 0}
	if !look {
		f.ended = time.Now()
		return c
	}
	before := f.seen
	stores, more := f.scan(w.dir, w.start)
	for path, s := range f.seen {
		if old, known := before[path]; known && old == s || !s.modified.After(w.ended) {
			continue
		}
		c.Paths = append(c.Paths, path)
	}
	c.tidy(stores, more)
	return c
}

// scan records the files of a folder that may have changed since a time.
func (f *watch) scan(dir string, since time.Time) (stores, more bool) {
	since = since.Add(-granularity)
	entries := 0
	f.seen, f.ended = make(map[string]stamp), time.Time{}
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error { // a case cannot have changed what this process cannot read
		if err != nil {
			return nil
		}
		if entries++; entries > maxEntries {
			more = true
			return fs.SkipAll
		}
		if d.IsDir() && p != dir && (d.Name() == ".git" || IsStore(p)) {
			stores = stores || d.Name() != ".git"
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil || info.ModTime().Before(since) {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return nil
		}
		if rel = filepath.ToSlash(rel); d.IsDir() {
			rel += "/"
		}
		f.seen[rel] = stamp{info.ModTime(), info.Size()}
		return nil
	})
	return stores, more
}

// tidy sorts and limits the paths. It drops a folder if something within it is listed, and the
// folder that contains the store.
func (c *Change) tidy(stores, more bool) {
	slices.Sort(c.Paths)
	all := slices.Clone(c.Paths)
	list := slices.DeleteFunc(c.Paths, func(p string) bool {
		if p == "./" {
			return len(all) > 1 || stores
		}
		return strings.HasSuffix(p, "/") && slices.ContainsFunc(all, func(q string) bool { return q != p && strings.HasPrefix(q, p) })
	})
	c.Paths, c.More = list, more
	if len(list) > maxChanged {
		c.Paths, c.More = list[:maxChanged], true
	}
}
