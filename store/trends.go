package store

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Outline returns a run's record without its findings, in time that does not grow
// with the number of findings. ref is as for [Store.Record]. For a live run it
// returns what is known at its start; [Store.Follow] reports the rest.
func (s *Store) Outline(ref string) (rec campaign.Record, err error) {
	id, err := s.resolveRun(ref)
	if err != nil {
		return rec, err
	}
	err = s.withOutline(id, func(o *outline) error {
		rec, err = o.frame()
		return err
	})
	if err != nil {
		return rec, diag.Environment("read the outline of run %s: %w", id, err)
	}
	return rec, nil
}

// Run returns the summary of one run, named in full.
func (s *Store) Run(id string) (RunSummary, error) {
	k, err := s.entryOf(id)
	if err != nil {
		return RunSummary{}, diag.Environment("read the outline of run %s: %w", id, err)
	}
	return k.RunSummary, nil
}

// SpecTrend is the history of one campaign over its newest runs that asked the same
// of it: document, seed, number of cases and options.
type SpecTrend = campaign.Trend

// TrendPoint is the result of a campaign in one run.
type TrendPoint = campaign.TrendPoint

// Trends returns the campaigns that were run last, each with at most points points,
// and the number of campaigns.
func (s *Store) Trends(limit, points int) (list []SpecTrend, total int, err error) {
	if list, total, err = s.trends(limit, points); err != nil {
		return nil, 0, diag.Environment("read the trends of the store %s: %w", s.dir, err)
	}
	return list, total, nil
}

func (s *Store) trends(limit, points int) ([]SpecTrend, int, error) {
	list, err := s.trendsOf(points, (*outlined).asked, func(outlined) bool { return true })
	shown := make(map[campaignKey][]string)
	list = slices.DeleteFunc(list, func(t SpecTrend) bool { // if a document was changed, only the trend since then
		k := campaignKey{t.Contract, t.Name}
		before := slices.ContainsFunc(shown[k], func(p string) bool { return diag.SamePath(p, t.Source) })
		shown[k] = append(shown[k], t.Source)
		return before
	})
	return page(list, 0, limit), len(list), err
}

// Trend returns the trend of one campaign. If several have that name, it is the one
// that was run last, among those of the document source unless that is "".
func (s *Store) Trend(contract, name, source string, points int) (SpecTrend, error) {
	t := SpecTrend{Contract: contract, Name: name}
	list, err := s.trendsOf(points, (*outlined).asked, func(c outlined) bool {
		return c.Contract == contract && c.Name == name && (source == "" || diag.SamePath(c.Source, source))
	})
	if err != nil {
		return t, diag.Environment("read the trend of campaign %s %s: %w", contract, name, err)
	}
	if len(list) > 0 {
		t = list[0]
	}
	t.Runs = len(t.Points)
	return t, nil
}

// Named returns the trends of a contract's campaigns over all their runs, whatever
// was asked of them: of those with the name or, if it is "", of all.
func (s *Store) Named(contract, name string, points int) ([]SpecTrend, error) {
	key := func(c *outlined) [2]trendKey {
		k := trendKey{campaignKey: campaignKey{c.Contract, c.Name}}
		return [2]trendKey{k, k}
	}
	list, err := s.trendsOf(points, key, func(c outlined) bool { return c.Contract == contract && (name == "" || c.Name == name) })
	if err != nil {
		return nil, diag.Environment("read the trends of %s: %w", contract, err)
	}
	return list, nil
}

// trendKey is what two runs of one trend have in common.
type trendKey struct {
	campaignKey
	basis
}

// asked returns the keys of a campaign, by its identity and by its document.
func (c *outlined) asked() [2]trendKey {
	k := campaignKey{c.Contract, c.Name}
	keys := [2]trendKey{
		{k, basis{Identity: c.Identity, Settings: c.Settings}},
		{k, basis{Document: c.Document, Settings: c.Settings, Inputs: c.Inputs}},
	}
	if c.Document == "" {
		keys[1] = keys[0]
	}
	return keys
}

// trendsOf returns the trends of the selected campaigns, those that were run last
// first. Campaigns with a key in common are one.
func (s *Store) trendsOf(points int, keysOf func(*outlined) [2]trendKey, pick func(outlined) bool) ([]SpecTrend, error) {
	runs, err := s.runList()
	if err != nil {
		return nil, err
	}
	all := make(map[trendKey]*SpecTrend)
	last := make(map[*SpecTrend]time.Time)
	for _, k := range runs {
		of := make(map[trendKey]outlined) // a run may have a campaign more than once
		var order []trendKey
		for _, c := range k.Each {
			if !pick(c) {
				continue
			}
			key := keysOf(&c)[1]
			if before, twice := of[key]; twice {
				c.add(before)
			} else {
				order = append(order, key)
			}
			of[key] = c
		}
		for _, key := range order {
			c := of[key]
			keys := keysOf(&c)
			t := cmp.Or(all[keys[0]], all[keys[1]])
			if t == nil {
				t = &SpecTrend{Contract: c.Contract, Name: c.Name, Source: c.Source}
				last[t] = k.Created
			}
			all[keys[0]], all[keys[1]] = t, t
			t.Source = cmp.Or(t.Source, c.Source)
			if t.Runs++; points <= 0 || t.Runs <= points {
				t.Points = append(t.Points, c.point(k))
			}
		}
	}
	list := slices.Collect(maps.Keys(last))
	slices.SortFunc(list, func(a, b *SpecTrend) int {
		return cmp.Or(last[b].Compare(last[a]), cmp.Compare(a.Contract, b.Contract), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source))
	})
	trends := make([]SpecTrend, len(list))
	for i, t := range list {
		slices.Reverse(t.Points)
		trends[i] = *t
	}
	return trends, nil
}

// add merges the results of a campaign that a run has twice.
func (c *outlined) add(d outlined) {
	c.Source = max(c.Source, d.Source)
	c.Cases.Run += d.Cases.Run
	c.Cases.Fail += d.Cases.Fail
	c.Cases.Error += d.Cases.Error
	if c.Score == nil || d.Score != nil && *d.Score < *c.Score {
		c.Score = d.Score
	}
}

// point returns the result of a campaign in a run.
func (c *outlined) point(k *entry) TrendPoint {
	p := TrendPoint{
		RunID: k.RunID, Created: k.Created, Cases: c.Cases.Run, Failed: c.Cases.Fail, Findings: c.Findings, Score: c.Score,
	}
	switch {
	case k.Status == statusRunning:
	case p.Failed > 0:
		p.Verdict = "fail"
	case c.Cases.Error > 0 || p.Cases == 0:
		p.Verdict = "error"
	default:
		p.Verdict = "pass"
	}
	return p
}
