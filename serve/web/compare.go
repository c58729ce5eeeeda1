package web

import (
	"fmt"
	"net/http"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

type comparePage struct {
	frame
	A, B       string // as they were asked for
	Recent     []runChoice
	Done       bool // there is a comparison
	Runs       [2]RunDetail
	Words      [2]string
	SameDigest bool
	Notes      []string
	Campaigns  []campaignChange
	Lists      []findingList
	Panels     []panelPair
}

type runChoice struct{ ID, Label string }

// campaignChange is a campaign as both runs have it; nil where one lacks it.
type campaignChange struct {
	Contract, Name string
	A, B           *campaign.CampaignRecord
	Score          [2]string
	Change         string
	Better, Worse  bool
}

// findingList is findings that have one thing in common.
type findingList struct {
	Key, Title, What string
	Run              string // that the links lead to
	Total            int
	Findings         []changedFinding
}

type changedFinding struct {
	store.FindingSummary
	Before *int64 // failing cases in run A, where both have it
}

// panelPair is an exhibit that the campaigns of both runs show.
type panelPair struct {
	Campaign, Title string
	A, B            report.Exhibit
}

// shownChanges is how many findings of a kind of change are listed; the API
// lists all.
const shownChanges = 200

func (s *Server) comparePage(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "a", "b")
	if err != nil {
		return err
	}
	p := comparePage{frame: s.frame("Compare", "compare"), A: q.Get("a"), B: q.Get("b")}
	recent, err := s.recentRuns(r.Context())
	if err != nil {
		return err
	}
	for _, x := range recent {
		p.Recent = append(p.Recent, runChoice{x.RunID, listRun(x)})
	}
	if p.A != "" && p.B != "" {
		if err := s.compare(&p); err != nil {
			return err
		}
	}
	return s.show(w, http.StatusOK, "compare-page.tmpl", p)
}

func (s *Server) compare(p *comparePage) error {
	c, err := s.cfg.Store.CompareBriefly(p.A, p.B)
	if err != nil {
		return err
	}
	for i, id := range [...]string{c.A, c.B} {
		d := &p.Runs[i]
		if d.Summary, err = s.cfg.Store.Run(id); err != nil {
			return err
		}
		if d.Record, err = s.cfg.Store.Outline(id); err != nil {
			return err
		}
		p.Words[i] = runWord(d.Summary)
	}
	p.Title = "Compare " + c.A + " with " + c.B
	p.A, p.B, p.Done, p.SameDigest, p.Notes = c.A, c.B, true, c.SameDigest, c.Differences
	p.Campaigns = changes(p.Runs[0].Record, p.Runs[1].Record)
	still := findingList{Key: "still", Title: "Still failing", What: "in both runs", Run: c.B, Total: len(c.StillFailing)}
	for _, f := range c.StillFailing[:min(len(c.StillFailing), shownChanges)] {
		still.Findings = append(still.Findings, changedFinding{store.SummaryOf(f.B), &f.A.Cases})
	}
	p.Lists = []findingList{
		listOf("new", "New", "in B alone", c.B, c.New),
		listOf("fixed", "Fixed", "in A alone; B ran the cases that showed them", c.A, c.Fixed),
		still,
		listOf("not-run", "Not run", "in A alone; B did not come to the cases that showed them", c.A, c.NotRun),
	}
	p.Panels = pairs(p.Runs[0].Record, p.Runs[1].Record)
	return nil
}

func listOf(key, title, what, run string, fs []campaign.Finding) findingList {
	l := findingList{Key: key, Title: title, What: what, Run: run, Total: len(fs)}
	for _, f := range fs[:min(len(fs), shownChanges)] {
		l.Findings = append(l.Findings, changedFinding{store.SummaryOf(f), nil})
	}
	return l
}

// changes sets the campaigns of two runs side by side, in B's order, then
// those that A alone has.
func changes(a, b campaign.Record) []campaignChange {
	var out []campaignChange
	place := make(map[[2]string]int)
	at := func(c *campaign.CampaignRecord) *campaignChange {
		k := [2]string{c.Contract, c.Name}
		i, ok := place[k]
		if !ok {
			i = len(out)
			place[k] = i
			out = append(out, campaignChange{Contract: c.Contract, Name: c.Name})
		}
		return &out[i]
	}
	for i := range b.Campaigns {
		at(&b.Campaigns[i]).B = &b.Campaigns[i]
	}
	for i := range a.Campaigns {
		at(&a.Campaigns[i]).A = &a.Campaigns[i]
	}
	for i := range out {
		c := &out[i]
		for k, r := range [...]*campaign.CampaignRecord{c.A, c.B} {
			c.Score[k] = "–"
			if r != nil && r.Score != nil {
				c.Score[k] = fmt.Sprintf("%.3f", *r.Score)
			}
		}
		if c.A != nil && c.B != nil && c.A.Score != nil && c.B.Score != nil {
			d := *c.B.Score - *c.A.Score
			c.Change, c.Better, c.Worse = "none", d > 0, d < 0
			if d != 0 {
				c.Change = fmt.Sprintf("%+.3f", d)
			}
		}
	}
	return out
}

// pairs is the exhibits of campaigns that both runs have under one title.
func pairs(a, b campaign.Record) []panelPair {
	type key struct{ contract, name, title, kind string }
	of := make(map[key]*campaign.Exhibit)
	for i := range a.Campaigns {
		c := &a.Campaigns[i]
		for j := range c.Exhibits {
			of[key{c.Contract, c.Name, c.Exhibits[j].Title, c.Exhibits[j].Kind}] = &c.Exhibits[j]
		}
	}
	var out []panelPair
	for i := range b.Campaigns {
		c := &b.Campaigns[i]
		for j := range c.Exhibits {
			e := &c.Exhibits[j]
			if old := of[key{c.Contract, c.Name, e.Title, e.Kind}]; old != nil {
				out = append(out, panelPair{c.Name, e.Title, report.DrawExhibit(old), report.DrawExhibit(e)})
			}
		}
	}
	return out
}
