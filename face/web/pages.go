package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

// frame is the part common to all pages.
type frame struct {
	Title   string
	Nav     string // the page's entry in the navigation
	Events  string // address of the page's events; "": none
	Version string
	Theme   string // "auto", "light" or "dark"
	Themes  []string
	Back    string // address of the page itself, to return to after a theme was chosen
	Fleet   bool   // a fleet is watched
	Desk    bool   // documents can be run
}

// show writes a page.
func (s *Server) show(w http.ResponseWriter, code int, name string, page any) error {
	var b bytes.Buffer // a page that fails halfway is not sent
	if err := s.pages.ExecuteTemplate(&b, name, page); err != nil {
		return fmt.Errorf("draw the page %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // the reader may be gone
	return nil
}

func (s *Server) frame(r *http.Request, title, nav string) frame {
	f := frame{Title: title, Nav: nav, Version: s.cfg.Version, Theme: themeOf(r), Themes: themes, Fleet: s.cfg.Fleet != nil, Desk: s.cfg.Desk != nil}
	back := *r.URL
	if r.Method != http.MethodGet { // the answer to a form has no address of its own
		back = url.URL{Path: path.Dir(r.URL.Path)}
	}
	f.Back = back.RequestURI()
	return f
}

func (s *Server) errorPage(w http.ResponseWriter, r *http.Request, code int, err error) {
	title := http.StatusText(code)
	if code >= http.StatusInternalServerError {
		title = "That did not work" // the text below says what failed
	}
	page := struct {
		frame
		Code          int
		Message, Hint string
	}{s.frame(r, title, ""), code, err.Error(), diag.Hint(err)}
	if s.show(w, code, "error-page.tmpl", page) != nil {
		refuse(w, code, err.Error())
	}
}

// pager leads through a list.
type pager struct {
	From, To, Total int
	Prev, Next      string // addresses; "": none
}

func pagerOf(r *http.Request, limit, offset, shown, total int) pager {
	p := pager{From: min(offset+1, total), To: offset + shown, Total: total}
	at := func(offset int) string {
		q := r.URL.Query()
		q.Del("offset")
		if offset > 0 {
			q.Set("offset", strconv.Itoa(offset))
		}
		if len(q) == 0 {
			return r.URL.Path
		}
		return r.URL.Path + "?" + q.Encode()
	}
	if offset > 0 {
		p.Prev = at(max(0, min(offset, total)-limit))
	}
	if offset+shown < total && shown > 0 {
		p.Next = at(offset + limit)
	}
	return p
}

// statusSign returns the sign of a verdict or a status, so that pages do not depend on colour.
func statusSign(word string) string {
	switch word {
	case "pass", "done":
		return "✓"
	case "fail":
		return "✕"
	case "running":
		return "▸"
	case "interrupted":
		return "‖"
	}
	return "!"
}

// runWord returns the word that a list shows for a run: the verdict of an ended run, else the
// status.
func runWord(r store.RunSummary) string {
	if r.Status == "done" || r.Status == "error" {
		return cmp.Or(r.Verdict, "error")
	}
	return r.Status
}

// runRow is a line of the list of runs.
type runRow struct {
	store.RunSummary
	Word      string
	Ungrouped int64 // failing cases
}

type runsPage struct {
	frame
	Query     store.RunQuery
	Contracts []string
	Verdicts  []string
	Statuses  []string
	Specs     []specView
	MoreSpecs int
	Rows      []runRow
	Pager     pager
	Filtered  bool
	Trend     []report.Exhibit // of the requested campaign
	Source    string           // the list's document; "": all documents
}

// shownSpecs is how many trends the page of runs shows first.
const shownSpecs = 8

func (s *Server) runsPage(w http.ResponseWriter, r *http.Request) error {
	shown, v := shownSpecs, r.URL.Query()
	if v.Get("trends") == "all" {
		shown = mostLines
		v.Del("trends")
	}
	source := v.Get("source") // the document of the requested trend
	v.Del("source")
	r.URL.RawQuery = v.Encode()
	q, err := runQuery(r)
	if err != nil {
		return err
	}
	var trend []report.Exhibit
	if q.Contract != "" && q.Campaign != "" {
		t, err := s.cfg.Store.Trend(q.Contract, q.Campaign, source, trendRuns)
		if err != nil {
			return err
		}
		if trend = trendCharts(t); source != "" && len(t.Points) > 0 { // the list has the runs that the charts show
			for _, p := range t.Points {
				q.Runs = append(q.Runs, p.RunID)
			}
		} else {
			source = ""
		}
	}
	list, err := s.listRuns(r.Context(), q)
	if err != nil {
		return err
	}
	if source != "" { // other pages of the list keep the document
		v.Set("source", source)
		r.URL.RawQuery = v.Encode()
	}
	p := runsPage{
		frame: s.frame(r, "Runs", "runs"), Query: q, Contracts: s.cfg.Contract, Verdicts: verdicts, Statuses: statuses,
		Pager:    pagerOf(r, q.Limit, q.Offset, len(list.Runs), list.Total),
		Filtered: q.Text+q.Contract+q.Campaign+q.Verdict+q.Status != "", Trend: trend, Source: source,
	}
	p.Events = "/api/v1/events"
	for _, x := range list.Runs {
		p.Rows = append(p.Rows, runRow{x, runWord(x), x.Ungrouped()})
	}
	specs, total, err := s.cfg.Store.Trends(shown, trendPoints)
	if err != nil {
		return err
	}
	for _, t := range specs {
		p.Specs = append(p.Specs, specViewOf(t))
	}
	p.MoreSpecs = total - len(specs)
	return s.show(w, http.StatusOK, "runs-page.tmpl", p)
}

// card returns a finding as lists and its own page show it.
func (s *Server) card(run string, f *campaign.Finding, full bool, opt report.Options) *report.FindingView {
	v := report.DrawFinding(f, full, opt)
	v.Link = "/runs/" + url.PathEscape(run) + "/findings/" + url.PathEscape(f.ID)
	if len(s.cfg.Use.PromoteCommand(run, f)) > 0 {
		v.Promote = v.Link + "/promote#done"
	}
	v.Again = caseLink(run)(f.Contract, f.Campaign, f.First) + "#done"
	return v
}

type findingPage struct {
	frame
	*report.FindingView
	RunID string
	// ToPromote is the command that makes a regression test of the finding; "": none.
	ToPromote string
	Promoted  []string
	Uncertain string
	Refused   string // why it was not promoted
	History   []sightingView
	Input     bool
	Minimal   bool
	// KnownFile is the file that lists accepted findings, and KnownEntry the entry to add.
	KnownFile, KnownEntry string
	// Beside shows another case that the finding's evidence refers to.
	Beside *besideView
}

// sightingView is one run in a finding's history.
type sightingView struct {
	store.Sighting
	Class string // "seen", "gone" or "untold"
	Mark  string
	Word  string
}

func sightingViews(list []store.Sighting) []sightingView {
	out := make([]sightingView, len(list))
	for i, x := range list {
		v := sightingView{x, "untold", "–", "the case that shows it was not run, or tested nothing"}
		switch {
		case x.Seen:
			v.Class, v.Mark, v.Word = "seen", "●", fmt.Sprintf("found, failing cases: %d", x.Cases)
		case x.Told:
			v.Class, v.Mark, v.Word = "gone", "○", "not found"
		}
		out[i] = v
	}
	return out
}

func (s *Server) findingPage(w http.ResponseWriter, r *http.Request) error {
	return s.showFinding(w, r, http.StatusOK, findingPage{})
}

func (s *Server) showFinding(w http.ResponseWriter, r *http.Request, code int, p findingPage) error {
	run, f, err := s.finding(r)
	if err != nil {
		return err
	}
	if run != r.PathValue("run") {
		http.Redirect(w, r, "/runs/"+url.PathEscape(run)+"/findings/"+url.PathEscape(f.ID), http.StatusSeeOther)
		return nil
	}
	list, err := s.cfg.Store.History(run, f, historyRuns)
	if err != nil {
		return err
	}
	since, _ := s.cfg.Use.Since(run) // the run's page says why not
	card := s.card(run, &f, true, report.Options{Blob: s.cfg.Store.Blob, Since: since, Folder: s.folder(run), CaseLink: caseLink(run)})
	if len(list) > 1 {
		p.History = sightingViews(list)
	}
	return s.show(w, code, "finding-page.tmpl", findingPage{
		frame:       s.frame(r, f.ID+" "+f.Title, "runs"),
		FindingView: card, Beside: s.beside(run, &f, card),
		RunID: run, ToPromote: report.Shell(s.cfg.Use.PromoteCommand(run, &f)), Promoted: p.Promoted, Uncertain: f.Uncertain(), Refused: p.Refused, History: p.History,
		KnownFile: s.knownFile(run, &f), KnownEntry: s.cfg.Use.KnownEntry(&f),
		Input: len(f.Samples) > 0 && f.Samples[0].Blob != "", Minimal: f.Minimized != nil && f.Minimized.Blob != "",
	})
}

// knownFile returns the file beside a finding's document that accepts findings.
func (s *Server) knownFile(run string, f *campaign.Finding) string {
	document := ""
	rec, err := s.cfg.Store.Outline(run)
	for i := range rec.Campaigns {
		if c := &rec.Campaigns[i]; err == nil && c.Contract == f.Contract && c.Name == f.Campaign {
			document = c.Source
		}
	}
	return filepath.Join(filepath.Dir(document), s.cfg.KnownFile)
}

// folder returns the folder where a run was started; "" if unknown.
func (s *Server) folder(run string) string {
	rec, err := s.cfg.Store.Outline(run)
	if err != nil {
		return ""
	}
	return folderOf(&rec)
}

func folderOf(rec *campaign.Record) string {
	if o := rec.Environment.Origin; o != nil {
		return o.Folder
	}
	return ""
}

// findFinding redirects to a finding in the newest run that has it.
func (s *Server) findFinding(w http.ResponseWriter, r *http.Request) error {
	run, id, err := s.cfg.Store.LocateFinding(r.PathValue("finding"))
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/runs/"+url.PathEscape(run)+"/findings/"+url.PathEscape(id), http.StatusSeeOther)
	return nil
}

// promote writes a finding as a regression test.
func (s *Server) promote(w http.ResponseWriter, r *http.Request) error {
	run, f, err := s.finding(r)
	if err != nil {
		return err
	}
	files, err := s.cfg.Use.Promote(r.Context(), run, f.ID)
	switch {
	case diag.ExitCode(err) == diag.ExitRefused:
		return s.showFinding(w, r, http.StatusConflict, findingPage{Refused: err.Error()})
	case err != nil:
		return err
	}
	return s.showFinding(w, r, http.StatusOK, findingPage{Promoted: files})
}

// listRun describes a run in the pickers of the comparison page.
func listRun(r store.RunSummary) string {
	return strings.Join([]string{r.RunID, r.Created.UTC().Format("2006-01-02 15:04"), runWord(r), strings.Join(r.Campaigns, ", ")}, " · ")
}

// recentRuns returns the runs offered for a comparison.
func (s *Server) recentRuns(ctx context.Context) ([]store.RunSummary, error) {
	list, err := s.listRuns(ctx, store.RunQuery{Limit: pageSize})
	return list.Runs, err
}
