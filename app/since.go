package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

// Baseline is the run or JSON report that a run is compared with.
type Baseline struct {
	Name   string
	record campaign.Record
}

// Baseline reads a run, by its id, or a JSON report, by its file name.
func (a *App) Baseline(dir, name string) (*Baseline, error) {
	if fi, err := os.Stat(name); err == nil && fi.Mode().IsRegular() {
		return reported(name)
	}
	st, err := a.ExistingStore(dir)
	if err != nil {
		return nil, diag.WithHint(diag.Refused("%s is neither a file nor a run: %w", name, err), "a baseline is a stored run, or the file of a report of format json")
	}
	defer st.Close()
	rec, err := st.Record(name)
	return &Baseline{rec.RunID, rec}, err
}

func reported(file string) (*Baseline, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, diag.Environment("read the baseline %s: %s", file, Reason(err))
	}
	var r struct {
		Schema string `json:"schema"`
		campaign.Record
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, diag.Refused("the baseline %s is not a JSON report: %w", file, err)
	}
	if r.Schema != report.SchemaID {
		return nil, diag.WithHint(diag.Refused("the baseline %s is not a JSON report: its schema is %q, not %q", file, r.Schema, report.SchemaID),
			"thresh report RUN --format json -o "+file)
	}
	return &Baseline{file, r.Record}, nil
}

// Since returns what changed in a run since a baseline or, without one, since the newest earlier
// run of the store with the same document and options. The comparison is nil if there is nothing to
// compare with. If the list of known findings is invalid, no finding counts as known, and the error
// says so.
func (a *App) Since(st *Store, rec campaign.Record, base *Baseline) (since *report.Since, c *Comparison, err error) {
	known, wrong := a.known(&rec)
	since = new(report.Since)
	defer func() {
		since.Accept(known)
		err = errors.Join(wrong, err)
	}()
	if !rec.Complete && len(rec.Findings) == 0 && slices.ContainsFunc(rec.Campaigns, func(c campaign.CampaignRecord) bool { return c.Cases.Fail > 0 }) {
		since.Why = "its failing cases are not grouped yet" // interrupted: none of them is known to be new or fixed
		return since, nil, nil
	}
	if base != nil {
		c := st.CompareRecords(base.record, rec)
		since = sinceOf(base.Name, c)
		return since, &c, nil
	}
	id, why, err := st.Previous(rec.RunID)
	if since.Why = why; why != "" {
		since.Nearest, since.Anyway = id, ShellLine(verbAt(st.Dir(), "compare", id, rec.RunID))
	}
	if err != nil || id == "" || why != "" {
		return since, nil, err
	}
	changed, err := st.Against(id, rec)
	if err != nil {
		return since, nil, err
	}
	since = sinceOf(id, changed)
	return since, &changed, nil
}

func sinceOf(name string, c Comparison) *report.Since {
	s := &report.Since{Run: name, New: make(map[string]bool), Fixed: c.Fixed, Still: len(c.StillFailing), NotRun: len(c.NotRun), Worse: c.Worse()}
	for _, f := range c.New {
		s.New[f.ID] = true
	}
	for _, x := range c.Scores {
		if x.Part != "" || x.A == nil || x.B == nil {
			continue
		}
		of := report.Scores{Campaign: x.Campaign, Before: *x.A, After: *x.B}
		if x.Chance != nil && !x.Chance.Significant() {
			of.Chance = ChanceText(x.Chance)
		}
		if s.Scores = append(s.Scores, of); x.Chance != nil && x.Chance.Significant() {
			s.Changed = append(s.Changed, fmt.Sprintf("score of %s: %s -> %s, %s", x.Campaign, report.Score(*x.A), report.Score(*x.B), ChanceText(x.Chance)))
		}
	}
	if len(s.Scores) == 1 {
		s.Scores[0].Campaign = ""
	}
	for _, x := range c.Cells {
		if x.Chance == nil || !x.Chance.Significant() {
			continue
		}
		s.Changed = append(s.Changed, fmt.Sprintf("%s in %s: %d of %d -> %d of %d, %s",
			x.Row, x.Column, x.A.Hits, x.A.Total, x.B.Hits, x.B.Total, ChanceText(x.Chance)))
	}
	return s
}

// SinceStored is [App.Since] for a stored run. It reads only what the store's lists say about
// findings.
func (a *App) SinceStored(st *Store, runID string) (*report.Since, error) {
	rec, err := st.Brief(runID)
	if err != nil {
		return nil, err
	}
	since, _, err := a.Since(st, rec, nil)
	return since, err
}

// ChanceText puts a significance test's verdict in words.
func ChanceText(c *store.Chance) string { return c.Verdict + ", " + report.Chance(c.P) }

// The values of --fail-on say which failures make a run exit with 1.
const (
	FailOnAny        = "any"        // any finding or failure
	FailOnNew        = "new"        // a finding that is not in the baseline
	FailOnRegression = "regression" // the same, except that comparable matrices fail on a significant change of their cells, and so do scores
)

// Fails reports whether a run with verdict "fail" fails under a value of --fail-on. If there is
// nothing to compare with, all findings except known ones are new.
func Fails(gate string, rec campaign.Record, c *Comparison, since *report.Since) bool {
	fresh := rec.Findings
	switch {
	case gate == "" || gate == FailOnAny || len(rec.Findings) == 0 && (gate == FailOnNew || c == nil):
		return true
	case c != nil:
		fresh = c.New
	}
	tested := make(map[[2]string]bool) // campaigns whose cells are compared
	if gate == FailOnRegression && c != nil {
		if c.Worse() {
			return true
		}
		for _, x := range c.Tested {
			tested[[2]string{x.Contract, x.Campaign}] = true
		}
	}
	return slices.ContainsFunc(fresh, func(f campaign.Finding) bool {
		return since.Rank(f.ID) < 1 && !tested[[2]string{f.Contract, f.Campaign}]
	})
}
