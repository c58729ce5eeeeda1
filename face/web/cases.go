package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/report"
)

// caseLink returns the function that makes the address of a case's page.
func caseLink(run string) func(contract, name string, index int64) string {
	return func(contract, name string, index int64) string {
		q := url.Values{"contract": {contract}, "campaign": {name}}
		return "/runs/" + url.PathEscape(run) + "/cases/" + strconv.FormatInt(index, 10) + "?" + q.Encode()
	}
}

type casePage struct {
	frame
	RunID, Contract, Campaign string
	Case                      campaign.Case
	Outcome                   campaign.Outcome // from the journal, or from running the case again
	Again                     bool             // the case was run again
	Exhibits                  []report.Exhibit
	Finding                   *campaign.Finding // that contains the case or, after a rerun, begins with it; nil: none
	Shows                     bool              // the outcome shows the finding again
	Replay                    string            // "" if the run has several campaigns
}

// show makes the page show an outcome.
func (p *casePage) show(o campaign.Outcome, shown []campaign.Exhibit) {
	p.Outcome = o
	for i := range shown {
		p.Exhibits = append(p.Exhibits, report.DrawExhibit(&shown[i]))
	}
}

// casePage redirects to the finding whose first case is the requested one. For any other case it
// shows what the run keeps.
func (s *Server) casePage(w http.ResponseWriter, r *http.Request) error {
	if _, err := query(r, "contract", "campaign"); err != nil {
		return err
	}
	p, err := s.caseOf(r)
	if err != nil {
		return err
	}
	id, err := s.cfg.Store.FindingOfCase(p.RunID, p.Contract, p.Campaign, p.Case.Index)
	if err != nil {
		return err
	}
	if id != "" {
		http.Redirect(w, r, "/runs/"+url.PathEscape(p.RunID)+"/findings/"+url.PathEscape(id), http.StatusSeeOther)
		return nil
	}
	o, shown, err := s.cfg.Use.KeptCase(p.RunID, p.Contract, p.Campaign, p.Case.Index)
	if err != nil {
		return err
	}
	p.show(o, shown)
	if o.Verdict == campaign.VerdictFail {
		if f, err := s.cfg.Store.FindingOf(p.RunID, s.cfg.Use.FindingID(p.Contract, p.Campaign, &o)); err == nil {
			p.Finding = &f
		}
	}
	return s.show(w, http.StatusOK, "case-page.tmpl", p)
}

// runCase runs a case again and shows the result.
func (s *Server) runCase(w http.ResponseWriter, r *http.Request) error {
	p, err := s.caseOf(r)
	if err != nil {
		return err
	}
	if !s.single.TryLock() {
		return &statusError{http.StatusConflict, errors.New("another case is being run; wait for it")}
	}
	defer s.single.Unlock()
	o, shown, err := s.cfg.Use.RunCase(r.Context(), p.RunID, p.Contract, p.Campaign, p.Case.Index)
	if err != nil {
		return err
	}
	p.show(o, shown)
	p.Again = true
	if id, err := s.cfg.Store.FindingOfCase(p.RunID, p.Contract, p.Campaign, p.Case.Index); err == nil && id != "" {
		f, err := s.cfg.Store.FindingOf(p.RunID, id)
		if err != nil {
			return err
		}
		p.Finding, p.Shows = &f, s.cfg.Use.Shows(&f, &o)
	}
	return s.show(w, http.StatusOK, "case-page.tmpl", p)
}

// caseOf returns the page of the case that a request names.
func (s *Server) caseOf(r *http.Request) (p casePage, err error) {
	index, err := strconv.ParseInt(r.PathValue("case"), 10, 64)
	if err != nil || index < 0 {
		return p, badRequest("a case is named by its index from 0, got %q", r.PathValue("case"))
	}
	p = casePage{frame: s.frame(r, "Case "+r.PathValue("case"), "runs"), Case: campaign.Case{Index: index}}
	p.Contract, p.Campaign = r.URL.Query().Get("contract"), r.URL.Query().Get("campaign")
	if p.RunID, err = s.runID(r); err != nil {
		return p, err
	}
	p.Back = caseLink(p.RunID)(p.Contract, p.Campaign, index)
	summary, err := s.cfg.Store.Run(p.RunID)
	if len(summary.Campaigns) == 1 {
		p.Replay = report.Shell(s.cfg.Use.ReplayCommand(p.RunID, index))
	}
	return p, err
}
