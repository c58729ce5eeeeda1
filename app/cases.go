package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/run/triage"
	"github.com/thresh-dev/thresh/store"
)

// Cases returns the cases of a run from its journal, for report formats that list cases. It returns
// nil for other formats, and if the cases are no longer stored. Formats for test results list only
// cases with names; formats that show evidence also get the stored evidence of cases that belong to
// no finding.
func (a *App) Cases(st *store.Store, rec campaign.Record, format string) report.Cases {
	var wanted func(campaign.Any) bool
	switch format {
	case "junit", "tap", "ctrf":
		wanted = func(x campaign.Any) bool { return campaign.NamesOf(x, x.Start(campaign.Facts{})) != nil }
	case "jsonl":
		wanted = func(campaign.Any) bool { return true }
	case "json", "html":
		wanted = records
	case "hits", "attempts":
		wanted = func(x campaign.Any) bool { return campaign.TraitsOf(x).Prompts }
	default:
		return nil
	}
	past, err := a.storedRun(st, rec.RunID)
	if err != nil {
		a.note("note: the %s report does not list the cases one by one: %s", format, err)
		return nil
	}
	defer past.close()
	if !slices.ContainsFunc(past.campaigns, wanted) {
		if format == "hits" || format == "attempts" {
			a.note("note: the %s report is empty: no campaign of the run sends prompts", format)
		}
		return nil
	}
	if format == "attempts" && slices.ContainsFunc(past.campaigns, func(x campaign.Any) bool { return wanted(x) && !records(x) }) {
		a.note("note: the attempts report lists only prompts that failed: run with --record-replies to keep the others")
	}
	return func(yield func(report.Case, error) bool) {
		past, err := a.storedRun(st, rec.RunID)
		if err != nil {
			yield(report.Case{}, err)
			return
		}
		defer past.close()
		for k, x := range past.campaigns {
			if wanted(x) && !past.cases(k, slices.Contains([]string{"junit", "tap", "ctrf", "hits", "attempts"}, format), yield) {
				return
			}
		}
	}
}

// attempts replaces run ids, given where an option takes a file of attempts, by the attempts of
// those stored runs. The new run stores them under the run's id.
func (a *App) attempts(b *Bundle, dir string, options map[string][]string) (map[string][]string, error) {
	options = maps.Clone(options)
	for _, c := range a.Contracts {
		for _, o := range c.Options() {
			for i, name := range options[o.Name] {
				if _, err := os.Stat(name); !o.Attempts || err == nil {
					continue
				}
				st, err := a.ExistingStore(dir)
				if err != nil {
					return nil, diag.Refused("--%s: %s is neither a file nor a run: %w", o.Name, name, err)
				}
				defer st.Close()
				rec, err := st.Record(name)
				if err != nil {
					return nil, diag.Refused("--%s: %s is neither a file nor a run: %w", o.Name, name, err)
				}
				format, err := report.ByName("attempts")
				var lines bytes.Buffer
				if err == nil {
					err = format.Write(&lines, rec, report.Options{Cases: a.Cases(st, rec, format.Name)})
				}
				if err != nil {
					return nil, err
				}
				options[o.Name] = slices.Clone(options[o.Name])
				options[o.Name][i], b.files[rec.RunID] = rec.RunID, lines.Bytes()
			}
		}
	}
	return options, nil
}

// records reports whether a campaign keeps the evidence of all its cases.
func records(x campaign.Any) bool {
	return campaign.TraitsOf(x).Records == campaign.RecordAll
}

// past is a stored run to report on: its journal and its campaigns, which are not opened.
type past struct {
	runID     string
	journal   *store.Journal
	campaigns []campaign.Any
}

func (a *App) storedRun(st *store.Store, runID string) (*past, error) {
	j, err := st.OpenJournal(runID)
	if err != nil {
		return nil, err
	}
	if a.last.run == runID {
		return &past{runID: runID, journal: j, campaigns: a.last.campaigns}, nil
	}
	c, _, _, err := a.Stored(context.Background(), st.Blob, j.Manifest())
	if err != nil {
		j.Close()
		return nil, err
	}
	return &past{runID: runID, journal: j, campaigns: c.Campaigns}, nil
}

func (p *past) close() { p.journal.Close() }

// cases yields the cases of campaign k, without evidence if bare is set.
func (p *past) cases(k int, bare bool, yield func(report.Case, error) bool) bool {
	show, names, err := p.shows(k)
	switch {
	case errors.Is(err, run.ErrUntried):
		return true // no cases
	case err != nil:
		return yield(report.Case{}, err)
	case show == nil || bare || !records(p.campaigns[k]):
		show = func(campaign.Case, campaign.Outcome) []campaign.Exhibit { return nil }
	}
	for e := range run.Cases(p.journal, k) {
		e.Outcome.Evidence = slices.DeleteFunc(e.Outcome.Evidence, func(x campaign.Attachment) bool { return x.Name == campaign.MeasuredAttachment })
		attempt := e.Outcome.Attached(campaign.AttemptAttachment)
		c := report.Case{Attempt: attempt, Campaign: k, Index: e.Case.Index, Verdict: e.Outcome.Verdict, Kind: e.Outcome.Kind, Title: e.Outcome.Title, Evidence: show(e.Case, e.Outcome), Elapsed: e.Outcome.Elapsed}
		c.Name = names(e.Case)
		if c.Verdict == campaign.VerdictSkip {
			c.Title = campaign.SkipReason(p.campaigns[k], e.Case, &e.Outcome)
		}
		if !yield(c, nil) {
			return false
		}
	}
	return true
}

// shows returns two functions for campaign k: show returns the exhibits of a case from its stored
// evidence (nil: the campaign shows none), and names returns the document's name for a case.
func (p *past) shows(k int) (show func(campaign.Case, campaign.Outcome) []campaign.Exhibit, names func(campaign.Case) string, err error) {
	x := p.campaigns[k]
	state, err := run.FirstState(x, k, p.journal)
	if err != nil {
		return nil, nil, err
	}
	if names = campaign.NamesOf(x, state); names == nil {
		names = func(campaign.Case) string { return "" }
	}
	if d, ok := campaign.As[campaign.Describer[any]](x); ok {
		show = func(at campaign.Case, o campaign.Outcome) []campaign.Exhibit {
			if len(o.Evidence) == 0 {
				return nil
			}
			return d.Describe(state, at, o, nil)
		}
	}
	return show, names, nil
}

// caseNames returns the function that gives the document's names for the cases of a stored run's
// campaign; nil: the cases have no names. Cases of later rounds, which are asked for one by one,
// are named by their input.
func (a *App) caseNames(st *store.Store, runID string, c *campaign.CampaignRecord) func(campaign.Case) string {
	p, err := a.storedRun(st, runID)
	if err != nil {
		return nil
	}
	defer p.close()
	k, err := p.find(c.Contract, c.Name)
	if err != nil {
		return nil
	}
	state, err := run.FirstState(p.campaigns[k], k, p.journal)
	if err != nil {
		return nil
	}
	x := p.campaigns[k]
	names := campaign.NamesOf(x, state)
	if names == nil {
		return nil
	}
	return func(at campaign.Case) string {
		if at.Round == 0 {
			return names(at)
		}
		if j, err := st.OpenJournal(runID); err == nil {
			defer j.Close()
			if whole, _, err := run.RoundCaseAt(x, k, j, at.Index); err == nil {
				at = whole
			}
		}
		return names(at)
	}
}

// KeptCase returns what is stored of one case of a run. Without a name, the run
// must have only one campaign.
func (a *App) KeptCase(st *store.Store, runID, contract, name string, index int64) (o campaign.Outcome, shown []campaign.Exhibit, err error) {
	p, err := a.storedRun(st, runID)
	if err != nil {
		return o, nil, err
	}
	defer p.close()
	k, err := p.find(contract, name)
	if err != nil {
		return o, nil, err
	}
	id := p.campaigns[k].Identity()
	at, o, err := st.CaseOf(runID, id.Contract, id.Name, index)
	if err != nil || len(o.Evidence) == 0 {
		return o, nil, err
	}
	show, names, err := p.shows(k)
	if err != nil {
		return o, nil, err
	}
	if show == nil {
		return o, nil, fmt.Errorf("the cases of %s have nothing to show", id.Contract)
	}
	shown = show(at, o)
	if o.Title == "" { // a failing case's title says what happened
		o.Title = names(at)
	}
	return o, shown, nil
}

// Shows reports whether an outcome shows a finding again.
func Shows(f *campaign.Finding, o *campaign.Outcome) bool {
	return triage.Shows(f.Contract, f.Fingerprint, o)
}

// FindingID returns the id of the finding that a failing case of a campaign belongs to.
func FindingID(contract, name string, o *campaign.Outcome) string {
	return triage.FindingID(campaign.Identity{Contract: contract, Name: name}, triage.Fingerprint(contract, o))
}

// find returns the index of the campaign with that contract and name. Without a name, there must be
// only one.
func (p *past) find(contract, name string) (int, error) {
	if name == "" && len(p.campaigns) > 1 {
		return 0, diag.Refused("run %s has %d campaigns; name a finding", p.runID, len(p.campaigns))
	}
	for k, x := range p.campaigns {
		if id := x.Identity(); name == "" || id.Contract == contract && id.Name == name {
			return k, nil
		}
	}
	return 0, diag.Refused("run %s has no campaign %q", p.runID, name)
}
