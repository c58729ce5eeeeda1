package stage

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxChanged is how many changed files are named, and granularity how coarse the
// clocks of file systems may be: what is written now may be stamped as if it had
// been written so long ago.
const (
	maxChanged  = 20
	granularity = 20 * time.Millisecond
)

// Watches know which commands run in which folders, so that what changes in one
// is said of the commands alone that can have changed it. The zero value is ready
// to use.
type Watches struct {
	mu   sync.Mutex
	list map[string]*watch
}

// watch is one folder that commands share.
type watch struct {
	mu      sync.Mutex
	running int
	begun   int              // commands so far
	seen    map[string]stamp // what had changed a moment before the last look; nil: there was none
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
	ended time.Time // when the command before ended
	begun int
	among int // so many others were running when it began
}

// Begin notes that a command begins in a folder. Call End when it has ended.
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

// Change is what has changed in a folder while a command ran.
type Change struct {
	Paths  []string // sorted
	More   bool     // there are others
	Shared bool     // other commands ran in the folder meanwhile: any of them may have changed it
}

// End notes that the command has ended. If asked to look, it names the files of
// the folder that have changed since the command began, and the folders in which
// files came or went. It looks at so many files as a copy may have, and neither
// at the runs that are kept there nor into .git. What was changed so shortly
// before that it may be the work of the command before is left out.
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

// scan notes the files of a folder that may have changed since a time.
func (f *watch) scan(dir string, since time.Time) (stores, more bool) {
	since = since.Add(-granularity)
	entries := 0
	f.seen, f.ended = make(map[string]stamp), time.Time{}
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error { // what cannot be read has not been changed by a case that could
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

// tidy sorts and bounds the paths. A folder says nothing beside what changed in
// it, nor does the one that holds the runs.
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
