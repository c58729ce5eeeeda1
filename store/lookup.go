package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/store/lock"
)

// Record returns the record of a run. ref is the run's name, a unique prefix of it,
// "latest", "latest~1" and so on. For a run without a record, because it is live or
// was killed, the record is made from its journal.
func (s *Store) Record(runID string) (campaign.Record, error) {
	id, err := s.resolveRun(runID)
	if err != nil {
		return campaign.Record{}, err
	}
	return s.record(id)
}

func (s *Store) record(id string) (campaign.Record, error) {
	rec, err := s.savedRecord(id)
	switch {
	case err == nil:
		return rec, nil
	case errors.Is(err, errNoRecord), errors.Is(err, fs.ErrNotExist):
		// The record is missing, or a newer one has just replaced it.
		return s.projectedRecord(id)
	}
	// The journal is the truth: a damaged blob loses nothing.
	if rec, perr := s.projectedRecord(id); perr == nil {
		s.notice("%v; the record was rebuilt from the journal", err)
		return rec, nil
	}
	return campaign.Record{}, diag.Environment("read the record of run %s: %w", id, err)
}

var errNoRecord = errors.New("the run has no record yet")

func (s *Store) savedRecord(id string) (campaign.Record, error) {
	var rec campaign.Record
	k, err := s.entryOf(id)
	if err != nil {
		return rec, err
	}
	if k.Record == "" {
		return rec, errNoRecord
	}
	data, err := s.blobs.Get(k.Record)
	if err != nil {
		return rec, err
	}
	return rec, json.Unmarshal(data, &rec)
}

func (s *Store) projectedRecord(id string) (campaign.Record, error) {
	j, err := s.OpenJournal(id)
	if err != nil {
		return campaign.Record{}, err
	}
	defer j.Close()
	live, err := lock.Held(s.runPath(id, runLock))
	if err != nil {
		return campaign.Record{}, diag.Environment("read run %s: %w", id, err)
	}
	p, err := project(j, live)
	return p.rec, err
}

// resolveRun turns a user's reference to a run into its name.
func (s *Store) resolveRun(ref string) (string, error) {
	ids, err := s.runNames()
	if err != nil {
		return "", diag.Environment("list the runs of the store %s: %w", s.dir, err)
	}
	if back, ok := latest(ref); ok {
		if back >= len(ids) {
			return "", diag.Refused("there is no run %s: the store %s has %s", ref, s.dir, diag.Plural(len(ids), "run"))
		}
		return ids[back], nil
	}
	if slices.Contains(ids, ref) {
		return ref, nil
	}
	match := seq.Filter(ids, func(id string) bool { return ref != "" && strings.HasPrefix(id, ref) })
	switch len(match) {
	case 0:
		return "", s.noSuchRun(ref)
	case 1:
		return match[0], nil
	}
	return "", diag.WithHint(diag.Refused("%q matches %s", ref, firstFew(match)), "add characters until only one matches")
}

// latest parses "latest" and "latest~N".
func latest(ref string) (back int, ok bool) {
	rest, ok := strings.CutPrefix(ref, "latest")
	if !ok || rest == "" {
		return 0, ok
	}
	digits, ok := strings.CutPrefix(rest, "~")
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), ok && err == nil
}

// noSuchRun returns the error for a run that does not exist. It names similar runs,
// or the newest.
func (s *Store) noSuchRun(ref string) error {
	ids, err := s.runNames()
	if err != nil {
		return diag.Environment("list the runs of the store %s: %w", s.dir, err)
	}
	return noSuch("run", ref, s.dir, ids)
}

func noSuch(what, ref, dir string, known []string) error {
	err := diag.Refused("there is no %s %q in the store %s", what, ref, dir)
	if near := diag.Nearest(ref, known); near != "" {
		return diag.WithHint(err, fmt.Sprintf("did you mean %s?", near))
	}
	if len(known) > 0 {
		return diag.WithHint(err, fmt.Sprintf("there is %s", firstFew(known)))
	}
	return diag.WithHint(err, "the store has none")
}

// firstFew lists at most the first five.
func firstFew(list []string) string {
	const most = 5
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}

// Finding returns a finding and the record of its run. id is the finding's id or a
// prefix of it, for the newest run that has the finding, or "<run>/<id>" with the
// run as for [Store.Record].
func (s *Store) Finding(id string) (campaign.Record, campaign.Finding, error) {
	rec, f, err := s.finding(id)
	if err != nil {
		return campaign.Record{}, campaign.Finding{}, err
	}
	return rec, f, nil
}

// LocateFinding resolves a reference to a finding as [Store.Finding] does, and
// returns the run's name and the finding's id, both in full.
func (s *Store) LocateFinding(ref string) (runID, id string, err error) { return s.locate(ref) }

func (s *Store) locate(ref string) (run, id string, err error) {
	runRef, id, inRun := strings.Cut(ref, "/")
	in := make(map[string]*entry) // the newest run that has the finding
	var known []string            // ids that ref can mean, newest run first
	if inRun {
		if run, err = s.resolveRun(runRef); err != nil {
			return "", "", err
		}
		k, err := s.entryOf(run)
		if err != nil {
			return "", "", diag.Environment("read the outline of run %s: %w", run, err)
		}
		known = k.IDs
	} else {
		id = ref
		runs, err := s.runList()
		if err != nil {
			return "", "", diag.Environment("list the runs of the store %s: %w", s.dir, err)
		}
		for _, k := range runs {
			for _, f := range k.IDs {
				if in[f] == nil {
					in[f], known = k, append(known, f)
				}
			}
		}
		slices.SortFunc(known, func(a, b string) int { return cmp.Or(in[b].Created.Compare(in[a].Created), cmp.Compare(a, b)) })
	}
	var match []string
	for _, k := range known {
		if k == id {
			match = []string{k}
			break
		}
		if id != "" && strings.HasPrefix(k, id) {
			match = append(match, k)
		}
	}
	switch {
	case len(match) == 0:
		return "", "", noSuch("finding", ref, s.dir, known)
	case len(match) > 1:
		return "", "", diag.WithHint(diag.Refused("%q matches %s", ref, firstFew(match)), "add characters until only one matches")
	}
	id = match[0]
	if !inRun {
		run = in[id].RunID
	}
	return run, id, nil
}

func (s *Store) finding(ref string) (rec campaign.Record, f campaign.Finding, err error) {
	run, id, err := s.locate(ref)
	if err != nil {
		return rec, f, err
	}
	if rec, err = s.record(run); err != nil {
		return rec, f, err
	}
	i := slices.IndexFunc(rec.Findings, func(f campaign.Finding) bool { return f.ID == id })
	if i < 0 {
		return rec, f, diag.Environment("the record of run %s does not have finding %s: it changed while it was read", run, id)
	}
	return rec, rec.Findings[i], nil
}

// ResolveRun returns the id of the run that ref names: an id, a unique prefix of
// one, "latest" or "latest~N".
func (s *Store) ResolveRun(ref string) (string, error) { return s.resolveRun(ref) }
