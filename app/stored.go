package app

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// Types of package store that faces use under the same names.
type (
	RunQuery     = store.RunQuery
	FindingQuery = store.FindingQuery
	Comparison   = store.Comparison
)

// StoredRun is a stored run. It implements [campaign.Stored].
type StoredRun struct {
	app *App
	st  *store.Store
	j   *store.Journal
}

// OpenStored opens a run in a folder of runs.
func (a *App) OpenStored(dir, runID string) (*StoredRun, error) {
	st, err := a.ExistingStore(dir)
	if err != nil {
		return nil, err
	}
	j, err := st.OpenJournal(runID)
	if err != nil {
		_ = st.Close() // the error above is the one to report
		return nil, err
	}
	return &StoredRun{a, st, j}, nil
}

// Campaigns implements [campaign.Stored].
func (s *StoredRun) Campaigns(ctx context.Context) ([]campaign.Any, error) {
	c, _, _, err := s.app.Stored(ctx, s.st.Blob, s.j.Manifest())
	return c.Campaigns, err
}

// Outcomes implements [campaign.Stored].
func (s *StoredRun) Outcomes(k int) iter.Seq[campaign.StoredCase] {
	return s.cases(run.Outcomes(s.j, k))
}

// Cases implements [campaign.Stored].
func (s *StoredRun) Cases(k int) iter.Seq[campaign.StoredCase] { return s.cases(run.Cases(s.j, k)) }

func (s *StoredRun) cases(list iter.Seq[store.Entry]) iter.Seq[campaign.StoredCase] {
	created := s.j.Manifest().Created
	return func(yield func(campaign.StoredCase) bool) {
		for e := range list {
			if !yield(campaign.StoredCase{Case: e.Case, Outcome: e.Outcome, At: created.Add(e.At)}) {
				return
			}
		}
	}
}

// Blob implements [campaign.Stored].
func (s *StoredRun) Blob(id string) ([]byte, error) { return s.st.Blob(id) }

// State implements [campaign.Stored].
func (s *StoredRun) State(c campaign.Any, k int) (any, error) {
	return run.StateOf(c, k, s.j)
}

// Close closes the run.
func (s *StoredRun) Close() error { return errors.Join(s.j.Close(), s.st.Close()) }

// Earlier returns the newest stored run of one document that has the cases of campaign c and whose
// options pass; "" if there is none. changed names a file of b that has changed since the newest
// run whose options pass; "" if none has.
func (a *App) Earlier(dir string, doc Document, c campaign.Any, b *Bundle, passes func(options map[string][]string) bool) (id, changed string, err error) {
	st, err := a.OpenStore(dir)
	if err != nil {
		return "", "", err
	}
	defer st.Close()
	runs, err := st.Runs(store.RunQuery{Contract: doc.Contract.Name(), Limit: math.MaxInt32})
	if err != nil {
		return "", "", err
	}
	spec, newest := storedAs(doc), true
	for _, r := range runs {
		j, err := st.OpenJournal(r.RunID)
		if err != nil {
			continue // an unreadable run cannot be continued either
		}
		m := j.Manifest()
		j.Close()
		var set Settings
		if json.Unmarshal(m.Settings, &set) != nil || len(m.Specs) != 1 || len(m.Identities) != 1 || m.Specs[0].Blob != spec || !passes(set.Options) {
			continue
		}
		if m.Identities[0] == c.Identity() {
			return r.RunID, "", nil
		}
		if changed = b.Changed(m); newest && changed != "" {
			return "", changed, nil
		}
		newest = false
	}
	return "", "", nil
}
