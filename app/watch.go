package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// settled is how long files must stay unchanged before documents run again, because an editor
// writes a file in several steps.
const settled = 100 * time.Millisecond

// watcher runs documents again when they or their dependencies change.
type watcher struct {
	a   *App
	job Job
	ran func(campaign.Record, error)
	fs  *fsnotify.Watcher
	// looks maps each document's path to the files it depends on. All paths are absolute.
	looks map[string][]string
	// digests holds the digest of each of these files at its last run, "" for a missing one. A file
	// that a run rewrites with equal content has not changed.
	digests map[string]string
}

// Watch runs documents, and then again those that change, until ctx ends. It calls ran after each
// run.
func (a *App) Watch(ctx context.Context, job Job, ran func(campaign.Record, error)) error {
	fsw, err := fsnotify.NewWatcher()
	if err != nil {
		return diag.Environment("watching files: %w", err)
	}
	defer fsw.Close()
	w := &watcher{a: a, job: job, ran: ran, fs: fsw, looks: make(map[string][]string), digests: make(map[string]string)}
	if err := w.folders(); err != nil {
		return err
	}
	if err := w.run(ctx, nil); err != nil {
		return err
	}
	for {
		changed, err := w.wait(ctx)
		if err != nil || changed == nil {
			return err
		}
		if err := w.folders(); err != nil {
			return err
		}
		if err := w.run(ctx, changed); err != nil {
			return err
		}
	}
}

// folders watches the named folders and the folders below them.
func (w *watcher) folders() error {
	for _, p := range w.job.Paths {
		info, err := os.Stat(p)
		if err != nil {
			continue // running reports it
		}
		if !info.IsDir() {
			w.add(filepath.Dir(p))
			continue
		}
		err = filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || !d.IsDir():
				return nil // gone, or not a folder
			case path != p && strings.HasPrefix(d.Name(), "."):
				return filepath.SkipDir
			}
			w.add(path)
			return nil
		})
		if err != nil {
			return diag.Environment("searching %s for folders: %w", p, err)
		}
	}
	return nil
}

func (w *watcher) add(dir string) {
	if abs, err := filepath.Abs(dir); err == nil {
		if err := w.fs.Add(abs); err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.a.note("note: cannot watch %s: %v", dir, err)
		}
	}
}

// run runs the documents that a change concerns, all for nil. It returns only errors that end the
// watch: a failing run is part of the job.
func (w *watcher) run(ctx context.Context, changed []string) error {
	docs, problems, err := w.a.Documents(w.job.Paths, w.job.Settings())
	if err != nil {
		return err
	}
	if changed != nil {
		docs = slices.DeleteFunc(docs, func(d Document) bool { return !w.concerns(d, changed) })
		if len(docs) == 0 && len(problems) == 0 {
			return nil
		}
	}
	if len(problems) > 0 {
		w.a.warn(problems)
	}
	if len(docs) > 0 {
		w.trackDependencies(ctx, docs)
		w.ran(w.a.RunDocuments(ctx, docs, w.job))
	}
	w.a.note("watching for changes; Ctrl-C stops it")
	return nil
}

// looker is a campaign that knows which files, besides its document, its cases depend on.
type looker interface{ Looks() []string }

// trackDependencies notes which files documents depend on, and watches their folders.
func (w *watcher) trackDependencies(ctx context.Context, docs []Document) {
	for _, d := range docs {
		abs, err := filepath.Abs(d.Path)
		if err != nil {
			continue
		}
		delete(w.looks, abs)
		camps, _ := d.Contract.Compile(ctx, d.Spec, NewBundle().Fill(w.job.Settings()))
		for _, c := range camps {
			l, ok := campaign.As[looker](c)
			if !ok {
				continue
			}
			for _, file := range l.Looks() {
				if file, err = filepath.Abs(file); err == nil && !slices.Contains(w.looks[abs], file) {
					w.looks[abs] = append(w.looks[abs], file)
					w.add(filepath.Dir(file))
				}
			}
		}
	}
	for _, d := range docs {
		abs, _ := filepath.Abs(d.Path) // without looks if this fails
		for _, file := range w.looks[abs] {
			w.digests[file], _ = fileDigest(file) // "" if it is missing
		}
	}
}

// concerns reports whether a document is among the files that changed, or depends on one whose
// content differs.
func (w *watcher) concerns(d Document, changed []string) bool {
	abs, err := filepath.Abs(d.Path)
	if err != nil || slices.Contains(changed, abs) {
		return true
	}
	return slices.ContainsFunc(w.looks[abs], func(f string) bool {
		if !slices.Contains(changed, f) {
			return false
		}
		now, _ := fileDigest(f)
		return now != w.digests[f]
	})
}

// wait returns the files that changed; nil once the watch is over.
func (w *watcher) wait(ctx context.Context) ([]string, error) {
	var changed []string
	var quiet <-chan time.Time // nil: waits forever
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case err := <-w.fs.Errors:
			return nil, diag.Environment("watching files: %w", err)
		case e := <-w.fs.Events:
			name := filepath.Base(e.Name)
			if e.Op == fsnotify.Chmod || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
				continue
			}
			changed, quiet = append(changed, e.Name), time.After(settled)
		case <-quiet:
			return changed, nil
		}
	}
}
