package store

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// FindingOfCase returns the finding of a run whose first failing case this is; ""
// if there is none.
func (s *Store) FindingOfCase(runID, contract, name string, index int64) (id string, err error) {
	err = s.withOutline(runID, func(o *outline) error {
		rows, err := o.rows()
		i := slices.IndexFunc(rows, func(r row) bool { return r.Contract == contract && r.Campaign == name && r.First == index })
		if i >= 0 {
			id = rows[i].ID
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", diag.Environment("find the finding of case %d of run %s: %w", index, runID, err)
	}
	return id, nil
}

// CaseOf returns what a run's journal says about one case: its last attempt, with
// the stored evidence. It reads the journal as far as possible, which takes longer
// for bigger runs.
func (s *Store) CaseOf(runID, contract, name string, index int64) (at campaign.Case, o campaign.Outcome, err error) {
	j, err := s.OpenJournal(runID)
	if err != nil {
		return at, o, err
	}
	defer j.Close()
	k := slices.IndexFunc(j.Manifest().Identities, func(x campaign.Identity) bool { return x.Contract == contract && x.Name == name })
	if k < 0 {
		return at, o, diag.Refused("run %s has no campaign %q of %s", runID, name, contract)
	}
	found, attempt := false, -1
	var kind Kind
	var seen []campaign.Attachment
	seenIn := -1
	for e, err := range j.Entries() {
		if err != nil {
			break // what precedes the damage counts
		}
		if e.Kind == KindEvidence {
			// Evidence that cannot be read counts as missing.
			_ = s.pack.cases(e.Data, index, index, func(of place, list []campaign.Attachment) {
				if of.campaign == k && of.index == index && of.attempt >= seenIn {
					seen, seenIn = list, of.attempt
				}
			})
		}
		// A case without a result may have been executed again.
		newer := e.Attempt > attempt || e.Attempt == attempt && (e.Kind != kind || o.Verdict == campaign.VerdictError)
		if e.Kind.Outcome() && e.Campaign == k && e.Case.Index == index && newer {
			kind, found, attempt, at, o = e.Kind, true, e.Attempt, e.Case, e.Outcome
			at.Payload, o.Data = nil, nil // valid until the next entry
		}
	}
	if !found {
		return at, o, diag.Refused("case %d of %s was not run in run %s", index, name, runID)
	}
	if seenIn == attempt {
		o.Evidence = seen
	}
	return at, o, nil
}
