package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store/blob"
	"github.com/thresh-dev/thresh/store/lock"
)

// mentionDelay is how long after being put a blob may still be mentioned for the
// first time. See the package comment for the rule.
const mentionDelay = time.Hour

// GCResult is what a collection removed, or would remove.
type GCResult struct {
	Runs   []string `json:"runs"`   // removed, oldest first
	Kept   int      `json:"kept"`   // runs that remain
	Locked []string `json:"locked"` // beyond those to keep, but a process writes them
	Blobs  int      `json:"blobs"`  // removed
	Bytes  int64    `json:"bytes"`  // freed
}

// GC removes all runs but the newest keep (0 removes all), never one that a
// process is writing, and then the blobs that no remaining run mentions, by the
// rule in the package comment. A dry collection only reports what it would remove.
func (s *Store) GC(keep int, dry bool) (GCResult, error) {
	if keep < 0 {
		return GCResult{}, diag.Refused("cannot keep %d runs: give 0 or more", keep)
	}
	res := GCResult{Runs: []string{}, Locked: []string{}}
	if err := s.gc(keep, dry, &res); err != nil {
		return res, diag.Environment("clean up the store %s: %w", s.dir, err)
	}
	return res, nil
}

func (s *Store) gc(keep int, dry bool, res *GCResult) error {
	// Runs that cannot be read are not in this list. They are never removed: they
	// may hold all that is left of something.
	ids, err := s.runNames()
	if err != nil {
		return err
	}
	blobs := make(mentions)
	err = s.blobs.All(func(b blob.Info) error {
		blobs[b.ID] = 0
		return nil
	})
	if err != nil {
		return err
	}

	beyond := slices.Clone(ids[min(keep, len(ids)):])
	slices.Reverse(beyond)
	removed := make(map[string]bool)
	for _, id := range beyond {
		size, err := s.collectRun(id, dry, blobs)
		var held *lock.HeldError
		switch {
		case errors.As(err, &held):
			res.Locked = append(res.Locked, id)
			continue
		case errors.Is(err, fs.ErrNotExist):
			continue // another process collects too
		case err != nil:
			return fmt.Errorf("remove run %s: %w", id, err)
		}
		removed[id] = true
		res.Runs = append(res.Runs, id)
		res.Bytes += size
	}
	res.Kept = len(ids) - len(removed)
	return s.collectBlobs(removed, blobs, dry, res)
}

// collectRun removes the folder of a run and notes the blobs that it mentions.
func (s *Store) collectRun(id string, dry bool, blobs mentions) (size int64, err error) {
	dir := s.path(runsDir, id)
	if _, err := os.Stat(dir); err != nil {
		return 0, err
	}
	if dry {
		held, err := lock.Held(s.runPath(id, runLock))
		if err != nil {
			return 0, err
		}
		if held {
			return 0, &lock.HeldError{Path: s.runPath(id, runLock)}
		}
	} else {
		l, err := lock.Own(s.runPath(id, runLock))
		if err != nil {
			return 0, err
		}
		defer l.Close()
	}
	if err := s.findBlobs(id, mentionedByRemoved, blobs); err != nil {
		return 0, err
	}
	if size, err = treeSize(dir); err != nil || dry {
		return size, err
	}
	// Rename first, so that a kill in between leaves no half of a run.
	gone := s.path(runsDir, removedRun+id)
	if err := errors.Join(os.RemoveAll(gone), os.Rename(dir, gone)); err != nil {
		return 0, err
	}
	return size, os.RemoveAll(gone)
}

// collectBlobs removes what nothing mentions any more, and what dead processes
// left half made.
func (s *Store) collectBlobs(removed map[string]bool, blobs mentions, dry bool, res *GCResult) error {
	alone := false
	if s.session != nil && !s.wrote.Load() {
		var err error
		if alone, err = s.session.TryUpgrade(); err != nil {
			return err
		}
		if alone {
			defer func() { _ = s.session.Downgrade() }() // if this fails, closing the store releases the lock
		}
	}
	young := time.Now().Add(-mentionDelay)

	entries, err := os.ReadDir(s.path(runsDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, unbornRun), strings.HasPrefix(name, removedRun):
			size, err := s.collectLeftover(name, young, dry)
			if err != nil {
				return fmt.Errorf("remove the rest of %s: %w", name, err)
			}
			res.Bytes += size
		case !removed[name]:
			if err := s.findBlobs(name, mentionedByKept, blobs); err != nil {
				return fmt.Errorf("search run %s for blobs: %w", name, err)
			}
		}
	}
	n, freed, err := s.blobs.Sweep(func(b blob.Info) bool {
		by, known := blobs[b.ID]
		if !known || by&mentionedByKept != 0 {
			return false // put since we looked, or in use
		}
		// During the sweep no existing blob can be put, but this process may have
		// put one after it got the lock.
		return b.Put.Before(young) || alone && by&mentionedByRemoved != 0 && !s.wrote.Load()
	}, young, dry)
	res.Blobs, res.Bytes = n, res.Bytes+freed
	return err
}

// collectLeftover removes a folder that a process was making or removing when it
// died.
func (s *Store) collectLeftover(name string, young time.Time, dry bool) (int64, error) {
	dir := s.path(runsDir, name)
	fi, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && fi.ModTime().After(young) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if held, err := lock.Held(filepath.Join(dir, runLock)); held || err != nil {
		return 0, err
	}
	size, err := treeSize(dir)
	if err != nil || dry {
		return size, err
	}
	return size, os.RemoveAll(dir)
}

// mentions maps blobs to what mentions them, as bits.
type mentions map[string]uint8

const (
	mentionedByRemoved = 1 << iota
	mentionedByKept
)

// findBlobs searches everything that is stored of a run for names of blobs.
func (s *Store) findBlobs(id string, by uint8, blobs mentions) error {
	if k, err := s.entryOf(id); err == nil { // a run that cannot be read still has its files
		if _, there := blobs[k.Record]; there {
			blobs[k.Record] |= by
			if data, err := s.blobs.Get(k.Record); err == nil {
				blobs.search(data, by)
			}
		}
	}
	files, err := os.ReadDir(s.path(runsDir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		if !file.Type().IsRegular() {
			continue
		}
		if err := blobs.searchFile(s.runPath(id, file.Name()), by); err != nil {
			return err
		}
	}
	return nil
}

// Damaged reports the blobs that a run mentions and that exist but cannot be read,
// or do not match their names.
func (s *Store) Damaged(runID string) (problems []string, err error) {
	blobs := make(mentions)
	err = s.blobs.All(func(b blob.Info) error {
		blobs[b.ID] = 0
		return nil
	})
	if err == nil {
		err = s.findBlobs(runID, mentionedByKept, blobs)
	}
	if err != nil {
		return nil, environment(err)
	}
	for _, id := range slices.Sorted(maps.Keys(blobs)) {
		if blobs[id] == 0 {
			continue
		}
		if _, err := s.blobs.Get(id); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems, nil
}

func (m mentions) searchFile(path string, by uint8) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	// A name may span two reads, so the end of each read is kept for the next.
	const keep = blob.IDLen - 1
	buf := make([]byte, 0, 256<<10)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		m.search(buf, by)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(buf) > keep {
			buf = buf[:copy(buf, buf[len(buf)-keep:])]
		}
	}
}

// search marks the blobs whose names occur in b, also within longer runs of hex
// digits, since what precedes or follows a name may look like one.
func (m mentions) search(b []byte, by uint8) {
	digits := 0
	for i, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			digits = 0
			continue
		}
		if digits++; digits < blob.IDLen {
			continue
		}
		if was, there := m[string(b[i+1-blob.IDLen:i+1])]; there {
			m[string(b[i+1-blob.IDLen:i+1])] = was | by
		}
	}
}
