package store

import (
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// RunQuery selects runs. The zero value selects all.
type RunQuery struct {
	Contract string   // runs with a campaign of this contract
	Campaign string   // runs with a campaign of this name
	Verdict  string   // "pass", "fail" or "error"
	Status   string   // "running", "done", "interrupted" or "error"
	Text     string   // part of the run's name, its campaigns, documents, command or findings' titles; letter case does not matter
	Runs     []string // only these, in full; nil: all
	Limit    int      // 0: no limit
	Offset   int      // number of the newest to skip
}

// RunSummary is one line of a list of runs.
type RunSummary struct {
	RunID     string          `json:"run_id"`
	Created   time.Time       `json:"created"`
	Status    string          `json:"status"`  // "running", "done", "interrupted" or "error"
	Verdict   string          `json:"verdict"` // "pass", "fail", "error"; "" while running
	Complete  bool            `json:"complete"`
	Stopped   string          `json:"stopped,omitempty"`
	Digest    string          `json:"digest"`
	Command   []string        `json:"command"`
	Seconds   float64         `json:"seconds"`
	Contracts []string        `json:"contracts"` // each once, in the order of the campaigns
	Campaigns []string        `json:"campaigns"` // names
	Cases     campaign.Counts `json:"cases"`     // over all campaigns
	Findings  int             `json:"findings"`
	Flaky     int             `json:"flaky"` // of the findings
}

// Ungrouped returns how many cases failed in a run that ended before any of them was
// grouped into a finding; 0: its findings are complete.
func (r RunSummary) Ungrouped() int64 {
	if r.Complete || r.Findings > 0 {
		return 0
	}
	return r.Cases.Fail
}

// Runs lists runs, newest first. A run that no live process writes is never
// "running": its status is what its journal says, usually "interrupted".
func (s *Store) Runs(q RunQuery) ([]RunSummary, error) {
	runs, err := s.runs(q)
	if err != nil {
		return nil, diag.Environment("list the runs of the store %s: %w", s.dir, err)
	}
	return runs, nil
}

// CountRuns returns how many runs a query selects, whatever its limit and offset.
func (s *Store) CountRuns(q RunQuery) (n int, err error) {
	q.Limit, q.Offset = 0, 0
	runs, err := s.runs(q)
	if err != nil {
		return 0, diag.Environment("count the runs of the store %s: %w", s.dir, err)
	}
	return len(runs), nil
}

func (s *Store) runs(q RunQuery) ([]RunSummary, error) {
	list, err := s.runList()
	if err != nil {
		return nil, err
	}
	runs := []RunSummary{}
	for _, k := range list {
		if q.picks(k) {
			runs = append(runs, k.RunSummary)
		}
	}
	return page(runs, q.Offset, q.Limit), nil
}

// page returns at most limit (0: all) items of a list from an offset on.
func page[T any](list []T, offset, limit int) []T {
	list = list[min(max(0, offset), len(list)):]
	if limit > 0 {
		list = list[:min(limit, len(list))]
	}
	return list
}

func (q RunQuery) picks(k *entry) bool {
	if q.Runs != nil && !slices.Contains(q.Runs, k.RunID) || q.Verdict != "" && k.Verdict != q.Verdict || q.Status != "" && k.Status != q.Status ||
		(q.Contract != "" || q.Campaign != "") && !slices.ContainsFunc(k.Each, func(c outlined) bool {
			return (q.Contract == "" || c.Contract == q.Contract) && (q.Campaign == "" || c.Name == q.Campaign)
		}) {
		return false
	}
	return q.Text == "" || holdsText(q.Text, k.RunID) || holdsText(q.Text, k.Command...) || holdsText(q.Text, k.Campaigns...) ||
		holdsText(q.Text, k.IDs...) || holdsText(q.Text, k.Titles...) ||
		slices.ContainsFunc(k.Each, func(c outlined) bool { return holdsText(q.Text, c.Source) })
}

// holdsText reports whether one of several texts contains part, ignoring the case of
// letters.
func holdsText(part string, texts ...string) bool {
	part = strings.ToLower(part)
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), part) })
}
