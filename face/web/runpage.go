package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

type runPage struct {
	frame
	*report.RunView
	Summary    store.RunSummary
	State      *State // of a live run; nil for others, and until it is known
	Resume     string
	Earlier    []store.RunSummary // runs to compare with, newest first
	Cards      []*report.FindingView
	Pager      pager
	Query      store.FindingQuery
	Severity   string
	Severities []string
	Filtered   bool
	Total      int  // findings that match the query
	Causes     int  // causes of these
	Searched   bool // there are enough findings to search
	Flaky, New bool // some are, so the filter is useful
	Formats    []report.Format
	Sources    []string // documents that can be edited and run again
	Stoppable  bool
	Rails      []report.Rail
	Narrowed   string // the part of a matrix that the list is narrowed to
	Known      string // what an interrupted run knows about its failing cases
}

func (s *Server) runPage(w http.ResponseWriter, r *http.Request) error {
	d, err := s.runDetail(r)
	if err != nil {
		return err
	}
	id := d.Summary.RunID
	if id != r.PathValue("run") { // redirect to a link that keeps its meaning
		http.Redirect(w, r, "/runs/"+url.PathEscape(id), http.StatusSeeOther)
		return nil
	}
	q, err := findingQuery(r, id)
	if err != nil {
		return err
	}
	var since *report.Since
	if d.Summary.Status != "running" {
		if since, err = s.cfg.Use.Since(id); err != nil { // the page is still valid without it
			d.Record.Warnings = append(d.Record.Warnings, err.Error())
		}
		q.Rank = since.Rank
	}
	q.ByCause = q.Group == ""
	asked := q
	if q.New && since != nil && since.Run != "" { // the findings that the head of the page counts
		q.New, q.IDs = false, []string{}
		for id := range since.New {
			if asked.IDs == nil || slices.Contains(asked.IDs, id) {
				q.IDs = append(q.IDs, id)
			}
		}
	}
	list, err := s.findings(r.Context(), q)
	if err != nil {
		return err
	}
	p := runPage{
		frame: s.frame(r, "Run "+id, "runs"), Summary: d.Summary, Query: asked,
		Severity: r.URL.Query().Get("severity"), Formats: report.FormatsOf(&d.Record),
		Total: list.Total, Causes: list.Causes,
		Filtered: q.Text+q.Contract+q.Campaign+q.Kind+q.Group != "" || q.Severity != nil || q.Flaky || q.New || q.IDs != nil,
		Narrowed: r.URL.Query().Get("of"),
	}
	if p.Rails, err = s.rails(r.Context(), id, &d.Record); err != nil {
		return err
	}
	opt := report.Options{CaseLink: caseLink(id), Since: since, Folder: folderOf(&d.Record), Card: true}
	shownAs := make(map[string]*report.FindingView) // the card of each cause
	for _, x := range list.Findings {
		of := shownAs[x.Group]
		if of != nil && (len(of.Also) == shownAlso || !of.Full && len(of.Also) == shownAlsoBriefly) {
			of.More++
			of.MoreLink = "/runs/" + url.PathEscape(id) + "?" + url.Values{"group": {x.Group}, "of": {"the cause of " + of.ID}}.Encode() + "#findings"
			continue
		}
		f, full := x.Finding(), len(p.Cards) < fullCards && of == nil && !x.Unconfirmed
		if full {
			if f, err = s.cfg.Store.FindingOf(id, x.ID); err != nil {
				return err
			}
		}
		v := s.card(id, &f, full, opt)
		if since == nil && x.New {
			v.Mark = "new"
		}
		if x.Unconfirmed {
			v.Unsettled(s.cfg.Use.ReplayCommand(id, x.First))
		}
		if of != nil {
			of.Also = append(of.Also, v)
			continue
		}
		if q.ByCause && x.Group != "" {
			shownAs[x.Group] = v
		}
		p.Cards = append(p.Cards, v)
	}
	if p.Pager = pagerOf(r, q.Limit, q.Offset, len(p.Cards), list.Total); q.ByCause {
		p.Pager = pagerOf(r, q.Limit, q.Offset, len(p.Cards), list.Causes)
	}
	unconfirmed := 0 // findings of a killed run that were not confirmed
	switch d.Summary.Status {
	case "running":
		d.Record.Verdict, d.Record.Complete, d.Record.Warnings = "running", true, dropLast(d.Record.Warnings)
		p.Events = "/api/v1/runs/" + url.PathEscape(id) + "/events"
		if l := s.hub.live(r.Context(), &d.Summary); l != nil {
			state := stateOf(*l)
			p.State, d.Summary.Findings = &state, state.Findings
		}
	case "interrupted":
		if l := s.hub.live(r.Context(), &d.Summary); l != nil {
			unconfirmed = len(l.Met)
		}
		p.Resume, p.Known = report.Shell(s.cfg.Use.ResumeCommand(id)), unconfirmedNote(&d.Summary, unconfirmed)
		d.Summary.Findings += unconfirmed
	}
	whole := list
	if p.Filtered {
		if whole, err = s.findings(r.Context(), store.FindingQuery{RunID: id, ByCause: true, Limit: 1}); err != nil {
			return err
		}
	}
	p.RunView = report.DrawRun(&d.Record, d.Summary.Findings, whole.Causes, opt)
	if since != nil && since.Nearest != "" {
		p.AnywayLink = "/compare?" + url.Values{"a": {since.Nearest}, "b": {id}}.Encode()
	}
	p.offer(since, &list)
	p.Searched = p.Filtered || whole.Total > fewFindings || d.Summary.Status == "running"
	if unconfirmed > 0 {
		p.Headline += fmt.Sprintf(", %d unconfirmed", unconfirmed)
	}
	p.Sources, p.Stoppable = s.sourcesOf(p.RunView), s.cfg.Desk != nil && s.cfg.Desk.Going(id)
	if p.Earlier, err = s.cfg.Store.Comparables(id, trendPoints); err != nil {
		return err
	}
	return s.show(w, http.StatusOK, "run-page.tmpl", p)
}

// offer names the filters that would show some of the findings but not all.
func (p *runPage) offer(since *report.Since, list *store.FindingPage) {
	live := p.Summary.Status == "running"
	p.Flaky = live || list.Flaky || p.Query.Flaky
	p.New = live || since != nil && len(since.New) > 0 || p.Query.New
	for _, name := range severities {
		if name == p.Severity || live || slices.ContainsFunc(list.Severities, func(s campaign.Severity) bool { return s.String() == name }) {
			p.Severities = append(p.Severities, name)
		}
	}
}

// rails returns the matrices of a run. Their links lead to the run's page with some of its
// findings.
func (s *Server) rails(ctx context.Context, id string, rec *campaign.Record) ([]report.Rail, error) {
	if !slices.ContainsFunc(rec.Campaigns, func(c campaign.CampaignRecord) bool {
		return slices.ContainsFunc(c.Exhibits, func(e campaign.Exhibit) bool { return e.Matrix != nil })
	}) {
		return nil, nil
	}
	list, err := s.findings(ctx, store.FindingQuery{RunID: id})
	if err != nil {
		return nil, err
	}
	all := make([]campaign.Finding, len(list.Findings))
	for i, x := range list.Findings {
		all[i] = x.Finding()
	}
	return report.Rails(rec, all, func(ids []string, what string) string {
		return "/runs/" + url.PathEscape(id) + "?" + url.Values{"ids": {strings.Join(ids, ",")}, "of": {what}}.Encode() + "#findings"
	}), nil
}

// unconfirmedNote says what an interrupted run knows about its failing cases; "" if it has none.
func unconfirmedNote(r *store.RunSummary, unconfirmed int) string {
	n := r.Cases.Fail
	if n == 0 {
		return ""
	}
	text := diag.Plural(n, "failing case") + " so far"
	if unconfirmed > 0 {
		return text + ", " + diag.Plural(unconfirmed, "finding") + " not confirmed yet; resuming the run does that."
	}
	if r.Findings == 0 {
		return text + ", not yet grouped into findings; resuming the run does that."
	}
	return text + ", grouped into " + diag.Plural(r.Findings, "finding") + " as far as the run came."
}

// dropLast removes the first warning from the record of an unfinished run, because the page says
// the same in another way.
func dropLast(warnings []string) []string { return warnings[min(1, len(warnings)):] }

// fewFindings is how many findings need no search.
const fewFindings = 3

// fullCards is how many findings of a list are shown with their key exhibits; the others are only
// named.
const fullCards = 8

// shownAlso is how many other findings with the same cause a full card names, and shownAlsoBriefly
// how many a brief one names.
const (
	shownAlso        = 10
	shownAlsoBriefly = 3
)
