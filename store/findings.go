package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// FindingQuery selects findings of one run. If only RunID is set, it selects all of them.
type FindingQuery struct {
	RunID    string             // in full
	Contract string             // with Campaign: only those of one campaign
	Campaign string             //
	Kind     string             // the contract's word for the class
	Severity *campaign.Severity // exactly this one
	Flaky    bool               // only flaky ones
	New      bool               // only new ones, see [FindingSummary]
	IDs      []string           // only these; nil: all
	Text     string             // part of id, title, kind or campaign; letter case does not matter
	Limit    int                // 0: no limit
	Offset   int                // number to skip
	Group    string             // only those of one cause
	ByCause  bool               // Limit and Offset count causes
	// Rank orders findings before severity does; nil: all have equal rank.
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
	Group       string            `json:"group,omitempty"`       // equal for findings with one cause
	Cause       []string          `json:"cause,omitempty"`       // as in the finding
	Unconfirmed bool              `json:"unconfirmed,omitempty"` // first seen by a run that still runs or was killed, and not run again yet
	New         bool              `json:"new"`                   // there are earlier comparable runs of the campaign, and none has it
}

// Finding returns a finding with the fields of its summary only.
func (f FindingSummary) Finding() campaign.Finding {
	return campaign.Finding{
		ID: f.ID, Fingerprint: f.Fingerprint, Contract: f.Contract, Campaign: f.Campaign, Kind: f.Kind,
		Title: f.Title, Severity: f.Severity, Cases: f.Cases, Flaky: f.Flaky, First: f.First, Group: f.Group, Cause: f.Cause,
	}
}

// summaryFinding reduces a finding to the fields of its summary.
func summaryFinding(f campaign.Finding) campaign.Finding { return SummaryOf(f).Finding() }

// SummaryOf returns the summary of a finding.
func SummaryOf(f campaign.Finding) FindingSummary {
	return FindingSummary{
		ID: f.ID, Fingerprint: f.Fingerprint, Contract: f.Contract, Campaign: f.Campaign, Kind: f.Kind,
		Title: f.Title, Severity: f.Severity, Cases: f.Cases, Flaky: f.Flaky, First: f.First, Group: f.Group, Cause: f.Cause,
	}
}

// FindingPage is a part of a list of findings, the worst first, then in the order of the
// record.
type FindingPage struct {
	Total    int              `json:"total"` // findings that the query selects, whatever its limit
	Causes   int              `json:"-"`     // number of their causes
	Findings []FindingSummary `json:"findings"`

	Severities []campaign.Severity `json:"-"` // of all findings of the run, whatever the query
	Flaky      bool                `json:"-"` // at least one finding of the run is flaky
}

// Findings lists findings of a run that has ended in any way. Those of a live run come from
// [Store.Follow].
func (s *Store) Findings(q FindingQuery) (FindingPage, error) {
	page, err := s.findings(q)
	if err != nil {
		return page, diag.Environment("list the findings of run %s: %w", q.RunID, err)
	}
	return page, nil
}

func (s *Store) findings(q FindingQuery) (FindingPage, error) {
	list, err := s.rowsOf(q.RunID)
	if err != nil {
		return FindingPage{Findings: []FindingSummary{}}, err
	}
	return s.PageOf(q, list)
}

// PageOf returns the findings that a query selects from all. It also serves live runs, whose
// findings are in no outline yet.
func (s *Store) PageOf(q FindingQuery, all []FindingSummary) (FindingPage, error) {
	list := slices.DeleteFunc(slices.Clone(all), func(f FindingSummary) bool { return !q.picks(f) })
	if q.New { // to filter, newness must be known for all findings, not only for those of the page
		if err := s.markNew(q.RunID, list, all); err != nil {
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
	return p, s.markNew(q.RunID, p.Findings, all)
}

func (q FindingQuery) picks(f FindingSummary) bool {
	return (q.Contract == "" || f.Contract == q.Contract) && (q.Campaign == "" || f.Campaign == q.Campaign) &&
		(q.Kind == "" || f.Kind == q.Kind) && (q.Severity == nil || f.Severity == *q.Severity) && (q.Group == "" || f.Group == q.Group) && (!q.Flaky || f.Flaky) && (q.IDs == nil || slices.Contains(q.IDs, f.ID)) &&
		holdsText(q.Text, f.ID, f.Title, f.Kind, f.Campaign)
}

// markNew sets New of findings of a run, which is true if earlier runs asked the same of
// their campaign and none of them has the finding.
func (s *Store) markNew(runID string, list, all []FindingSummary) error {
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
	asked, before := make(map[string]FindingSummary), make(map[campaignKey]bool)
	for _, f := range list {
		asked[f.ID] = f
	}
	var earlier []*entry
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
		earlier = append(earlier, k)
		for _, id := range k.IDs {
			delete(asked, id)
		}
	}
	if err := s.dropMoved(all, asked, earlier); err != nil {
		return err
	}
	for i := range list {
		f := &list[i]
		_, is := asked[f.ID]
		f.New = is && before[campaignKey{f.Contract, f.Campaign}]
	}
	return nil
}

// dropMoved removes findings that an earlier run has with another id because their lines
// moved. Findings without line numbers cannot have moved.
func (s *Store) dropMoved(all []FindingSummary, asked map[string]FindingSummary, earlier []*entry) error {
	for _, k := range earlier {
		lines := false
		for _, f := range asked {
			found := f.Finding()
			lines = lines || Place(&found) != ""
		}
		if !lines {
			break
		}
		there, err := s.rowsOf(k.RunID)
		if err != nil {
			return err
		}
		for id := range sameFindings(byID(all), byID(there), nil) {
			delete(asked, id)
		}
	}
	return nil
}

// rowsOf returns the findings of a run that has ended.
func (s *Store) rowsOf(runID string) (list []FindingSummary, err error) {
	err = s.withOutline(runID, func(o *outline) error {
		rows, err := o.rows()
		for _, r := range rows {
			list = append(list, r.FindingSummary)
		}
		return err
	})
	return list, err
}

func byID(list []FindingSummary) map[string]campaign.Finding {
	m := make(map[string]campaign.Finding, len(list))
	for _, f := range list {
		m[f.ID] = f.Finding()
	}
	return m
}

// FindingOf returns one finding of a run, both named in full, without reading the rest of the
// run's record. For a live run it returns what the journal says now.
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

// journalledFinding returns the last version of a finding in a run's journal.
func (s *Store) journalledFinding(runID, id string) (f campaign.Finding, err error) {
	j, err := s.OpenJournal(runID)
	if err != nil {
		return f, err
	}
	defer j.Close()
	for e, err := range j.Entries() {
		if err != nil {
			break // what precedes the damage counts
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

// Sighting is what one run says about a finding.
type Sighting struct {
	RunID   string    `json:"run_id"`
	Created time.Time `json:"created"`
	Status  string    `json:"status"` // of the run
	Seen    bool      `json:"seen"`
	Told    bool      `json:"told"`  // the run has the finding, or executed with a verdict the case that first shows it elsewhere
	Cases   int64     `json:"cases"` // failing cases of the finding
	Flaky   bool      `json:"flaky"`
}

// History returns what the newest runs say about a finding of a run, newest first: that run,
// and those that asked the same of the finding's campaign.
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
	own, err := s.rowsOf(runID)
	if err != nil {
		return nil, err
	}
	var asked []outlined
	var first []*passage // what the run did in each of these
	for _, c := range runs[at].Each {
		if c.Contract == f.Contract && c.Name == f.Campaign {
			x := s.passage(runID, c.record())
			if !x.read([]int64{f.First}, nil) {
				x = nil
			}
			asked, first = append(asked, c), append(first, x)
		}
	}
	list := []Sighting{}
	for _, k := range runs {
		c, x := (*outlined)(nil), (*passage)(nil)
		for i := range asked {
			if of := k.of(&asked[i]); of != nil && c == nil {
				c, x = of, first[i]
			}
		}
		if c == nil {
			continue
		}
		there, err := s.rowsOf(k.RunID)
		if err != nil {
			return nil, err
		}
		said := Sighting{RunID: k.RunID, Created: k.Created, Status: k.Status}
		if id, seen := sameFindings(byID(own), byID(there), nil)[f.ID]; seen {
			i := slices.IndexFunc(there, func(g FindingSummary) bool { return g.ID == id })
			said.Seen, said.Cases, said.Flaky = true, there[i].Cases, there[i].Flaky
		}
		said.Told = said.Seen || k.Complete && s.tells(x, k.RunID, c, f)
		if list = append(list, said); len(list) == limit {
			break
		}
	}
	return list, nil
}

// tells reports whether a run that has ended executed the case that first showed a finding of
// another run, x. It reads the journal, which may be long, once per finding.
func (s *Store) tells(x *passage, runID string, c *outlined, f campaign.Finding) bool {
	key := [4]string{runID, c.Identity, f.ID, fmt.Sprint(f.First)}
	if x != nil {
		key[3] = x.runID
	}
	if told, known := s.told.Load(key); known {
		return told.(bool)
	}
	told := s.passage(runID, c.record()).again(x, []int64{f.First})(f)
	s.told.Store(key, told)
	return told
}
