package store

import (
	"database/sql"
	"errors"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// FindingOfCase is the finding of a run whose first failing case this is; ""
// if the index knows none.
func (s *Store) FindingOfCase(runID, contract, name string, index int64) (id string, err error) {
	err = s.db.QueryRow(`SELECT f.finding_id FROM findings f JOIN details d USING (run_id, finding_id)
WHERE f.run_id = ? AND f.contract = ? AND f.campaign = ? AND d.first_case = ? ORDER BY f.severity DESC, f.finding_id LIMIT 1`,
		runID, contract, name, index).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", diag.Environment("look for the finding of case %d of run %s: %w", index, runID, err)
	}
	return id, nil
}

// CaseOf is what a run's journal says of one case: its last attempt, with the
// evidence that was kept of it. The journal is read as far as it goes, which
// takes the longer the bigger the run.
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
	var seen []campaign.Attachment
	seenIn := -1
	for e, err := range j.Entries() {
		if err != nil {
			break // what is before the damage counts
		}
		if e.Kind == KindEvidence {
			// Evidence that cannot be read is as none.
			_ = s.pack.cases(e.Data, index, index, func(of place, list []campaign.Attachment) {
				if of.campaign == k && of.index == index && of.attempt >= seenIn {
					seen, seenIn = list, of.attempt
				}
			})
		}
		if e.Kind == KindOutcome && e.Campaign == k && e.Case.Index == index && e.Attempt > attempt {
			found, attempt, at, o = true, e.Attempt, e.Case, e.Outcome
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
