package app

import (
	"context"
	"errors"
	"iter"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// What faces read of a store, under the names that package store gives them.
type (
	RunQuery   = store.RunQuery
	Comparison = store.Comparison
)

// StoredRun is a run that is stored, with its campaigns compiled from what is
// kept. It implements [campaign.Stored].
type StoredRun struct {
	st        *store.Store
	j         *store.Journal
	campaigns []campaign.Any
}

// OpenStored opens a run of a folder of runs.
func (a *App) OpenStored(ctx context.Context, dir, runID string) (*StoredRun, error) {
	st, err := a.ExistingStore(dir)
	if err != nil {
		return nil, err
	}
	s := &StoredRun{st: st}
	if s.j, err = st.OpenJournal(runID); err != nil {
		_ = st.Close() // the error above is the one to report
		return nil, err
	}
	c, _, _, err := a.Stored(ctx, st.Blob, s.j.Manifest())
	if err != nil {
		_ = s.Close() // the error above is the one to report
		return nil, err
	}
	s.campaigns = c.Campaigns
	return s, nil
}

// Campaigns implements [campaign.Stored].
func (s *StoredRun) Campaigns() []campaign.Any { return s.campaigns }

// Cases implements [campaign.Stored].
func (s *StoredRun) Cases(k int) iter.Seq2[campaign.Case, campaign.Outcome] {
	return func(yield func(campaign.Case, campaign.Outcome) bool) {
		for e := range run.Cases(s.j, k) {
			if !yield(e.Case, e.Outcome) {
				return
			}
		}
	}
}

// Close closes the run.
func (s *StoredRun) Close() error { return errors.Join(s.j.Close(), s.st.Close()) }
