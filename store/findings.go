package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// FindingQuery picks findings of one run. The zero value but for RunID picks
// all of them.
type FindingQuery struct {
	RunID    string             // the whole name
	Contract string             // with Campaign: those of one campaign
	Campaign string             //
	Kind     string             // the contract's word for the class
	Severity *campaign.Severity // exactly this one
	Flaky    bool               // flaky ones alone
	New      bool               // new ones alone, see [FindingSummary]
	IDs      []string           // these alone; nil: all
	Text     string             // part of id, title, kind or campaign; letter case does not matter
	Limit    int                // at most so many; 0: no limit
	Offset   int                // leave out so many of the first
	Group    string             // those of one cause alone
	ByCause  bool               // Limit and Offset count causes
	// Rank orders findings before severity does; nil: all are equal.
	Rank func(id string) int
}

// FindingSummary is one line of a list of findings.
type FindingSummary struct {
	ID          string            `json:"id"`
	Fingerprint string            `json:"fingerprint"`
	Contract    string            `json:"contract"`
	Campaign    string            `json:"campaign"`
	Kind        string            `json:"kind"`
	Title       string            `json:"title"`
	Severity    campaign.Severity `json:"severity"`
	Cases       int64             `json:"cases"`
	Flaky       bool              `json:"flaky"`
	First       int64             `json:"first_case"`
	Group       string            `json:"group,omitempty"`       // the same of findings that came from one cause
	Cause       []string          `json:"cause,omitempty"`       // as in the finding
	Unconfirmed bool              `json:"unconfirmed,omitempty"` // met by a run that goes on or was killed, and not run again yet
	New         bool              `json:"new"`                   // no earlier comparable run of the campaign has it, and there is one; the index tells
}

// Finding is a finding of which no more is known.
func (f FindingSummary) Finding() campaign.Finding {
	return campaign.Finding{
		ID: f.ID, Fingerprint: f.Fingerprint, Contract: f.Contract, Campaign: f.Campaign, Kind: f.Kind,
		Title: f.Title, Severity: f.Severity, Cases: f.Cases, Flaky: f.Flaky, First: f.First, Group: f.Group, Cause: f.Cause,
	}
}

// summaryFinding is the finding with what its summary has alone.
func summaryFinding(f campaign.Finding) campaign.Finding { return SummaryOf(f).Finding() }

// SummaryOf returns the line for a finding.
func SummaryOf(f campaign.Finding) FindingSummary {
	return FindingSummary{
		ID: f.ID, Fingerprint: f.Fingerprint, Contract: f.Contract, Campaign: f.Campaign, Kind: f.Kind,
		Title: f.Title, Severity: f.Severity, Cases: f.Cases, Flaky: f.Flaky, First: f.First, Group: f.Group, Cause: f.Cause,
	}
}

// FindingPage is a part of a list of findings, the gravest first, then in the order of
// the record.
type FindingPage struct {
	Total    int              `json:"total"` // that the query picks, whatever its limit
	Causes   int              `json:"-"`     // of these
	Findings []FindingSummary `json:"findings"`

	Severities []campaign.Severity `json:"-"` // of all findings of the run, whatever the query
	Flaky      bool                `json:"-"` // one of them is
}

// Findings lists findings of a run that the index knows: of one that has ended,
// however. Those of a live run come from [Store.Follow].
func (s *Store) Findings(q FindingQuery) (FindingPage, error) {
	page, err := s.findings(q)
	if err != nil {
		return page, diag.Environment("list the findings of run %s: %w", q.RunID, err)
	}
	return page, nil
}

func (s *Store) findings(q FindingQuery) (FindingPage, error) {
	var list []FindingSummary
	err := s.withOutline(q.RunID, func(o *outline) error {
		rows, err := o.rows()
		for _, r := range rows {
			list = append(list, r.FindingSummary)
		}
		return err
	})
	if err != nil {
		return FindingPage{Findings: []FindingSummary{}}, err
	}
	return s.PageOf(q, list)
}

// PageOf returns what a query picks of all findings of a run, which the index of a
// live run does not have yet.
func (s *Store) PageOf(q FindingQuery, all []FindingSummary) (FindingPage, error) {
	list := slices.DeleteFunc(slices.Clone(all), func(f FindingSummary) bool { return !q.picks(f) })
	if q.New { // which are must be known of all, else of those that are shown
		if err := s.markNew(q.RunID, list); err != nil {
			return FindingPage{Findings: []FindingSummary{}}, err
		}
		list = slices.DeleteFunc(list, func(f FindingSummary) bool { return !f.New })
	}
	slices.SortStableFunc(list, func(a, b FindingSummary) int {
		if q.Rank != nil {
			if c := cmp.Compare(q.Rank(a.ID), q.Rank(b.ID)); c != 0 {
				return c
			}
		}
		return cmp.Compare(b.Severity, a.Severity)
	})
	causes := campaign.ByCause(list, func(f FindingSummary) string { return f.Group })
	p := FindingPage{Total: len(list), Causes: len(causes)}
	if q.ByCause {
		list = slices.Concat(page(causes, q.Offset, q.Limit)...)
	} else {
		list = page(slices.Concat(causes...), q.Offset, q.Limit)
	}
	for i := range all {
		p.Flaky = p.Flaky || all[i].Flaky
		if !slices.Contains(p.Severities, all[i].Severity) {
			p.Severities = append(p.Severities, all[i].Severity)
		}
	}
	p.Findings = append([]FindingSummary{}, list...)
	return p, s.markNew(q.RunID, p.Findings)
}

func (q FindingQuery) picks(f FindingSummary) bool {
	return (q.Contract == "" || f.Contract == q.Contract) && (q.Campaign == "" || f.Campaign == q.Campaign) &&
		(q.Kind == "" || f.Kind == q.Kind) && (q.Severity == nil || f.Severity == *q.Severity) && (q.Group == "" || f.Group == q.Group) && (!q.Flaky || f.Flaky) && (q.IDs == nil || slices.Contains(q.IDs, f.ID)) &&
		holdsText(q.Text, f.ID, f.Title, f.Kind, f.Campaign)
}

// markNew says of findings of a run whether they are new: no earlier run has
// them that asked the same of their campaign, and there is such a run.
func (s *Store) markNew(runID string, list []FindingSummary) error {
	if len(list) == 0 {
		return nil
	}
	run, err := s.entryOf(runID)
	if err != nil {
		return err
	}
	runs, err := s.runList()
	if err != nil {
		return err
	}
	asked, before := make(map[string]bool), make(map[campaignKey]bool)
	for _, f := range list {
		asked[f.ID] = true
	}
	for _, k := range runs {
		if !k.Created.Before(run.Created) {
			continue
		}
		any := false
		for i := range run.Each {
			if c := &run.Each[i]; k.of(c) != nil {
				any, before[campaignKey{c.Contract, c.Name}] = true, true
			}
		}
		if !any {
			continue
		}
		for _, id := range k.IDs {
			delete(asked, id)
		}
	}
	for i := range list {
		f := &list[i]
		f.New = asked[f.ID] && before[campaignKey{f.Contract, f.Campaign}]
	}
	return nil
}

// FindingOf returns one finding of a run, both named in full, without reading
// the rest of the run's record. Of a live run it is what its journal says now.
func (s *Store) FindingOf(runID, id string) (campaign.Finding, error) {
	var f campaign.Finding
	err := s.withOutline(runID, func(o *outline) error {
		rows, err := o.rows()
		if i := slices.IndexFunc(rows, func(r row) bool { return r.ID == id }); i >= 0 && err == nil {
			f, err = o.finding(rows[i])
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || err == nil && f.ID == "" {
		return s.journalledFinding(runID, id)
	}
	if err != nil {
		return f, diag.Environment("read finding %s of run %s: %w", id, runID, err)
	}
	return f, nil
}

// journalledFinding is the last word of a run's journal on a finding.
func (s *Store) journalledFinding(runID, id string) (f campaign.Finding, err error) {
	j, err := s.OpenJournal(runID)
	if err != nil {
		return f, err
	}
	defer j.Close()
	for e, err := range j.Entries() {
		if err != nil {
			break // what is before the damage counts
		}
		if e.Kind != KindFinding {
			continue
		}
		var said struct {
			Settled *campaign.Finding `json:"settled"`
		}
		if json.Unmarshal(e.Data, &said) == nil && said.Settled != nil && said.Settled.ID == id {
			f = *said.Settled
		}
	}
	if f.ID == "" {
		return f, diag.WithHint(diag.Refused("there is no finding %q in run %s", id, runID), "thresh show "+runID+" lists what it found")
	}
	return f, nil
}

// Sighting is what one run says of a finding.
type Sighting struct {
	RunID   string    `json:"run_id"`
	Created time.Time `json:"created"`
	Status  string    `json:"status"` // of the run
	Seen    bool      `json:"seen"`
	Told    bool      `json:"told"`  // the run ran the case that shows the finding elsewhere first, and so can tell
	Cases   int64     `json:"cases"` // failing cases of the finding
	Flaky   bool      `json:"flaky"`
}

// History returns what the newest runs say of a finding of a run, newest first:
// that run, and those that asked the same of the finding's campaign.
func (s *Store) History(runID string, f campaign.Finding, limit int) ([]Sighting, error) {
	list, err := s.findSightings(runID, f, limit)
	if err != nil {
		return nil, diag.Environment("read the history of finding %s: %w", f.ID, err)
	}
	return list, nil
}

func (s *Store) findSightings(runID string, f campaign.Finding, limit int) ([]Sighting, error) {
	runs, at, err := s.at(runID)
	if err != nil {
		return nil, err
	}
	asked := slices.DeleteFunc(slices.Clone(runs[at].Each), func(c outlined) bool { return c.Contract != f.Contract || c.Name != f.Campaign })
	list := []Sighting{}
	for _, k := range runs {
		x := Sighting{RunID: k.RunID, Created: k.Created, Status: k.Status, Seen: slices.Contains(k.IDs, f.ID), Told: k.Complete}
		of := false
		for _, c := range k.Each {
			if slices.ContainsFunc(asked, func(a outlined) bool { return a.comparable(&c) }) {
				of, x.Told = true, x.Told && c.Cases.Run > f.First && c.Cases.Error == 0
			}
		}
		if !of {
			continue
		}
		if x.Seen {
			err := s.withOutline(k.RunID, func(o *outline) error {
				rows, err := o.rows()
				for _, r := range rows {
					if r.ID == f.ID {
						x.Cases, x.Flaky = r.Cases, r.Flaky
					}
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		if list = append(list, x); len(list) == limit {
			break
		}
	}
	return list, nil
}
