package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store/blob"
	"github.com/thresh-dev/thresh/store/lock"
)

// Import copies a run of another store with everything that it keeps. It skips
// a run that this store has already. It refuses a run that has the same name
// here but other outcomes, and a run that is still being written.
func (s *Store) Import(from *Store, runID string) error {
	if s.root == from.root {
		return nil
	}
	if held, err := lock.Held(from.runPath(runID, runLock)); err == nil && held {
		return diag.Environment("run %s of the store %s is still being written", runID, from.dir)
	}
	journal, err := os.ReadFile(from.runPath(runID, journalFile))
	if err != nil {
		return diag.Environment("read run %s of the store %s: %w", runID, from.dir, err)
	}
	here, err := os.ReadFile(s.runPath(runID, journalFile))
	switch {
	case err == nil && bytes.Equal(here, journal):
		return nil
	case err == nil:
		return diag.WithHint(diag.Refused("run %s is in %s and in %s with different outcomes: both ran the same cases", runID, s.dir, from.dir),
			"give each job its part with --shard I/N, or its own --seed")
	}
	s.wrote.Store(true)
	if err := s.adopt(from, runID); err != nil {
		return diag.Environment("copy run %s from %s to %s: %w", runID, from.dir, s.dir, err)
	}
	return nil
}

// adopt copies the blobs first: a run in this store has the blobs that it
// mentions.
func (s *Store) adopt(from *Store, runID string) error {
	err := from.blobs.All(func(b blob.Info) error {
		if s.blobs.Has(b.ID) {
			return nil
		}
		data, err := from.blobs.Get(b.ID)
		if err == nil {
			_, err = s.blobs.Put(data)
		}
		return err
	})
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(s.path(runsDir), unbornRun)
	if err != nil {
		return err
	}
	files, err := os.ReadDir(from.path(runsDir, runID))
	for _, f := range files {
		if err != nil {
			break
		}
		if name := f.Name(); f.Type().IsRegular() && name != outlineFile && name != runLock {
			var data []byte
			if data, err = os.ReadFile(from.runPath(runID, name)); err == nil {
				err = os.WriteFile(filepath.Join(tmp, name), data, fileMode)
			}
		}
	}
	if err == nil {
		err = os.Rename(tmp, s.path(runsDir, runID))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(tmp))
	}
	flushDir(s.path(runsDir))
	return nil
}
