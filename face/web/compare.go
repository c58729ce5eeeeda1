package web

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

type comparePage struct {
	frame
	A, B       string // as requested
	Recent     []runChoice
	Done       bool // the runs were compared
	Runs       [2]RunDetail
	Words      [2]string
	SameDigest bool
	Notes      []string
	Campaigns  []campaignChange
	Scored     bool // some campaign has a score
	Scores     []scoreChange
	Cells      []cellChange
	MoreCells  int    // number of cells not listed
	CellsAlone string // how many cells only one of the runs has
	Lists      []findingList
	Panels     []panelPair
}

type runChoice struct{ ID, Label string }

// campaignChange is a campaign in both runs; nil where a run lacks it.
type campaignChange struct {
	Contract, Name string
	A, B           *campaign.CampaignRecord
	Score          [2]string
	Change         moved
}

// moved is the change of a figure, and whether it is significant.
type moved struct{ Text, Verdict, Why string }

func movedTo(text string, c *store.Chance) moved {
	if c == nil {
		return moved{Text: text}
	}
	return moved{text, c.Verdict, app.ChanceText(c)}
}

// scoreChange is a part of a campaign's score.
type scoreChange struct {
	store.ScoreChange
	Before, After, Change string
}

// cellChange is a cell of a matrix that held in another share of its runs.
type cellChange struct {
	store.CellChange
	Before string
	After  moved
}

// findingList is a list of findings that changed in the same way.
type findingList struct {
	Key, Title, What string
	Run              string // the run that links lead to
	Total            int
	Findings         []changedFinding
}

type changedFinding struct {
	store.FindingSummary
	Before *int64              // failing cases in run A, if both runs have the finding
	Known  *store.KnownFinding // who accepts the finding; nil: nobody
}

// panelPair is an exhibit that both runs' campaigns show.
type panelPair struct {
	Campaign, Title string
	A, B            report.Exhibit
}

// shownChanges is how many findings of each kind of change, and how many cells, are listed unless
// the request asks for all.
const shownChanges = 200

func (s *Server) comparePage(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "a", "b", "all")
	if err == nil {
		err = oneOf("all", q.Get("all"), "true", "false")
	}
	if err != nil {
		return err
	}
	most := shownChanges
	if q.Get("all") == "true" {
		most = math.MaxInt
	}
	p := comparePage{frame: s.frame(r, "Compare", "compare"), A: q.Get("a"), B: q.Get("b")}
	recent, err := s.recentRuns(r.Context())
	if err != nil {
		return err
	}
	for _, x := range recent {
		p.Recent = append(p.Recent, runChoice{x.RunID, listRun(x)})
	}
	if p.A != "" && p.B != "" {
		if err := s.compare(&p, most); err != nil {
			return err
		}
	}
	return s.show(w, http.StatusOK, "compare-page.tmpl", p)
}

func (s *Server) compare(p *comparePage, most int) error {
	c, err := s.cfg.Use.Compare(p.A, p.B)
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
	p.Campaigns = changes(p.Runs[0].Record, p.Runs[1].Record, c.Scores)
	p.Scored = slices.ContainsFunc(c.Scores, func(x store.ScoreChange) bool { return x.Part == "" })
	for _, s := range c.Scores {
		if s.Part != "" {
			p.Scores = append(p.Scores, scoreChangeOf(s))
		}
	}
	both, alone := c.CellsOfBoth()
	if p.MoreCells = max(0, len(both)-most); alone > 0 {
		p.CellsAlone = diag.Plural(alone, "cell")
	}
	for _, x := range both[:len(both)-p.MoreCells] {
		p.Cells = append(p.Cells, cellChange{x, rate(x.A), movedTo(rate(x.B), x.Chance)})
	}
	still := findingList{Key: "still", Title: "Still failing", What: "in both runs", Run: c.B, Total: len(c.StillFailing)}
	for _, f := range c.StillFailing[:min(len(c.StillFailing), most)] {
		still.Findings = append(still.Findings, changedFinding{store.SummaryOf(f.B), &f.A.Cases, nil})
	}
	p.Lists = []findingList{
		listOf("new", "New", "only in B", c.B, c.New, most),
		listOf("fixed", "Fixed", "only in A; B ran the cases that showed them", c.A, c.Fixed, most),
		still,
		listOf("not-run", "Not run", "only in A; B did not run the cases that showed them, or exercised nothing in them", c.A, c.NotRun, most),
	}
	known := findingList{Key: "known", Title: "Known", What: "accepted by their owners, so neither new nor still failing", Run: c.B, Total: len(c.Known)}
	for _, k := range c.Known[:min(len(c.Known), most)] {
		known.Findings = append(known.Findings, changedFinding{store.SummaryOf(k.Finding), k.Before, &k})
	}
	if known.Total > 0 {
		p.Lists = append(p.Lists, known)
	}
	p.Panels = pairs(p.Runs[0].Record, p.Runs[1].Record)
	return nil
}

func listOf(key, title, what, run string, fs []campaign.Finding, most int) findingList {
	l := findingList{Key: key, Title: title, What: what, Run: run, Total: len(fs)}
	for _, f := range fs[:min(len(fs), most)] {
		l.Findings = append(l.Findings, changedFinding{store.SummaryOf(f), nil, nil})
	}
	return l
}

// changes pairs the campaigns of two runs, in A's order, followed by those that only B has.
func changes(a, b campaign.Record, scores []store.ScoreChange) []campaignChange {
	var out []campaignChange
	for _, p := range store.Counterparts(a, b) {
		c := campaignChange{A: p[0], B: p[1]}
		last := c.B
		if last == nil {
			last = c.A
		}
		c.Contract, c.Name = last.Contract, last.Name
		out = append(out, c)
	}
	for i := range out {
		c := &out[i]
		for k, r := range [...]*campaign.CampaignRecord{c.A, c.B} {
			c.Score[k] = figure(nil)
			if r != nil {
				c.Score[k] = figure(r.Score)
			}
		}
		if c.A != nil && c.B != nil && c.A.Score != nil && c.B.Score != nil {
			at := slices.IndexFunc(scores, func(s store.ScoreChange) bool {
				return s.Part == "" && s.Contract == c.Contract && s.Campaign == c.Name
			})
			c.Change = movedTo(report.Moved(*c.A.Score, *c.B.Score), scores[at].Chance)
		}
	}
	return out
}

func scoreChangeOf(s store.ScoreChange) scoreChange {
	x := scoreChange{ScoreChange: s, Before: figure(s.A), After: figure(s.B)}
	if s.A != nil && s.B != nil {
		x.Change = report.Moved(*s.A, *s.B)
	}
	return x
}

// figure returns a score, or a dash if there is none.
func figure(v *float64) string {
	if v == nil {
		return "–"
	}
	return report.Score(*v)
}

// rate returns how often a cell of a matrix held.
func rate(c *campaign.MatrixCell) string {
	if c == nil || c.Total == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", c.Hits, c.Total)
}

// pairs pairs the exhibits that both runs' campaigns have under the same title, up to a colon: what
// follows it is a figure of the run.
func pairs(a, b campaign.Record) []panelPair {
	type key struct{ title, kind string }
	var out []panelPair
	for _, p := range store.Counterparts(a, b) {
		if p[0] == nil || p[1] == nil {
			continue
		}
		of := make(map[key]*campaign.Exhibit)
		for j := range p[0].Exhibits {
			e := &p[0].Exhibits[j]
			of[key{subject(e.Title), e.Kind}] = e
		}
		for j := range p[1].Exhibits {
			e := &p[1].Exhibits[j]
			if old := of[key{subject(e.Title), e.Kind}]; old != nil {
				out = append(out, panelPair{p[1].Name, subject(e.Title), report.DrawExhibit(old), report.DrawExhibit(e)})
			}
		}
	}
	return out
}

func subject(title string) string {
	s, _, _ := strings.Cut(title, ":")
	return s
}
