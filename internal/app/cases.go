package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

// cases are the cases of a run as its journal has them, for the formats that
// list cases; nil for the others, and for a run of which the cases are not kept
// any more. Formats that speak of tests list those that have names.
func (a *application) cases(st *store.Store, rec campaign.Record, format string) report.Cases {
	if !slices.Contains([]string{"junit", "tap", "jsonl"}, format) {
		return nil
	}
	lists, err := a.judged(st, rec.RunID, format == "jsonl")
	if err != nil {
		fmt.Fprintf(a.io.Err, "note: the %s report does not list the cases one by one: %s\n", format, printable(err.Error()))
		return nil
	}
	return func(yield func(report.Case, error) bool) {
		for _, list := range lists {
			for _, c := range list {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

// judged is the cases of every campaign of a run by index, those of its last
// attempt; with all also of campaigns that name no cases.
func (a *application) judged(st *store.Store, runID string, all bool) ([][]report.Case, error) {
	j, err := st.OpenJournal(runID)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	c, _, _, err := a.stored(context.Background(), st.Blob, j.Manifest())
	if err != nil {
		return nil, err
	}
	isNamer := func(x campaign.Any) bool { _, ok := campaign.As[campaign.Namer](x); return ok }
	if !all && !slices.ContainsFunc(c.campaigns, isNamer) {
		return nil, nil
	}
	lists, attempts := make([][]report.Case, len(c.campaigns)), make([]int, len(c.campaigns))
	for e, err := range j.Entries() {
		if err != nil {
			return nil, err
		}
		if e.Kind != store.KindOutcome || e.Campaign >= len(lists) || e.Attempt < attempts[e.Campaign] {
			continue
		}
		at := e.Campaign
		if e.Attempt > attempts[at] {
			attempts[at], lists[at] = e.Attempt, nil
		}
		lists[at] = append(lists[at], report.Case{Campaign: at, Index: e.Case.Index, Verdict: e.Outcome.Verdict, Kind: e.Outcome.Kind, Title: e.Outcome.Title})
	}
	for i, list := range lists {
		slices.SortStableFunc(list, func(a, b report.Case) int { return cmp.Compare(a.Index, b.Index) })
		n, ok := campaign.As[campaign.Namer](c.campaigns[i])
		for k := range list {
			if ok {
				list[k].Name = n.CaseName(campaign.Case{Index: list[k].Index})
			}
		}
	}
	return lists, nil
}
