package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
)

// Desk is what pages do with the documents of a folder. Paths are those that Documents returns.
type Desk interface {
	Documents() ([]Document, error)
	// Text returns a document's text and its version. The version of a text that is too long is "".
	Text(path string) (text []byte, version string, err error)
	// Check returns what would be wrong with a document if its file held text, and the campaigns
	// that would run.
	Check(ctx context.Context, path string, text []byte) (said diag.List, campaigns []string, err error)
	// Save writes a document if its file still has the version.
	Save(path, version string, text []byte) error
	// Flags returns the settings of a run as flags of thresh run, none for "".
	Flags(run string) ([]string, error)
	// Begin runs a document in the background, with the settings of the run like unless that is "".
	// Stop stops such a run.
	Begin(ctx context.Context, path, like string) (run string, err error)
	Stop(run string) error
	Going(run string) bool
}

// Document is a document that can be run from a page. Named means that it does not run with its
// folder.
type Document struct {
	Path, Contract string
	Named          bool
}

// mostPosted is the largest size, in bytes, of a form with a document: its text, escaped.
const mostPosted = 4 << 20

type documentRow struct {
	Document
	Link, Run, Word string
}

type documentsPage struct {
	frame
	Rows, Named []documentRow
}

type documentPage struct {
	frame
	Path, Text, Read string   // Read is the version of the text that was read; "": too long
	Refused          bool     // the document would not run
	Said             []string // diagnostics of the check
	Campaigns        []string
	Saved            bool
	Like             string // the run whose settings are used; "": none
	Flags            string // those settings as flags
}

// documentLink returns the address at which a document is edited and run.
func documentLink(path string) string { return "/document?" + url.Values{"path": {path}}.Encode() }

func (s *Server) deskRoutes() []route {
	if s.cfg.Desk == nil {
		return nil
	}
	return []route{
		{"GET /documents", s.documentsPage},
		{"GET /document", s.documentPage},
		{"POST /document", s.changeDocument},
		{"POST /runs/{run}/stop", s.stopRun},
	}
}

func (s *Server) documentsPage(w http.ResponseWriter, r *http.Request) error {
	docs, err := s.cfg.Desk.Documents()
	if err != nil {
		return err
	}
	trends, _, err := s.cfg.Store.Trends(mostLines, 1)
	if err != nil {
		return err
	}
	p := documentsPage{frame: s.frame(r, "Documents", "documents")}
	for _, d := range docs {
		row := documentRow{Document: d, Link: documentLink(d.Path)}
		for _, t := range trends {
			if n := len(t.Points); diag.SamePath(t.Source, d.Path) && n > 0 && row.Run == "" {
				row.Run, row.Word = t.Points[n-1].RunID, t.Points[n-1].Verdict
			}
		}
		if d.Named {
			p.Named = append(p.Named, row)
		} else {
			p.Rows = append(p.Rows, row)
		}
	}
	return s.show(w, http.StatusOK, "documents-page.tmpl", p)
}

func (s *Server) documentPage(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "path", "saved", "like")
	if err != nil {
		return err
	}
	path := q.Get("path")
	text, version, err := s.cfg.Desk.Text(path)
	p := documentPage{Read: version, Saved: q.Get("saved") != "", Path: path, Like: q.Get("like")}
	if err != nil {
		return err
	}
	return s.showDocument(w, r, p, text)
}

func (s *Server) showDocument(w http.ResponseWriter, r *http.Request, p documentPage, text []byte) error {
	var said diag.List
	var campaigns []string
	if p.Read != "" {
		var err error
		if said, campaigns, err = s.cfg.Desk.Check(r.Context(), p.Path, text); err != nil {
			return err
		}
	}
	p.frame, p.Text, p.Campaigns, p.Refused = s.frame(r, p.Path, "documents"), string(text), campaigns, said.HasErrors()
	p.Back = documentLink(p.Path)
	flags, err := s.cfg.Desk.Flags(p.Like)
	if err != nil {
		return err
	}
	p.Flags = report.Shell(flags)
	for _, d := range said {
		p.Said = append(p.Said, d.String())
	}
	return s.show(w, http.StatusOK, "document-page.tmpl", p)
}

// changeDocument carries out the action of a button on the document's page.
func (s *Server) changeDocument(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, mostPosted)
	if err := r.ParseForm(); err != nil {
		return badRequest("the form cannot be read: %w", err)
	}
	path, do, version, like := r.PostForm.Get("path"), r.PostForm.Get("do"), r.PostForm.Get("version"), r.PostForm.Get("like")
	saved := documentLink(path) + "&saved=1"
	if like != "" {
		saved += "&like=" + url.QueryEscape(like)
	}
	if err := oneOf("do", do, "check", "save", "run"); err != nil || do == "" {
		return badRequest("do must be one of check, save, run, got %q", do)
	}
	if r.PostForm.Has("text") {
		before, _, err := s.cfg.Desk.Text(path)
		if err != nil {
			return err
		}
		text := r.PostForm.Get("text") // a form sends lines with CRLF
		if !strings.Contains(string(before), "\r\n") {
			text = strings.ReplaceAll(text, "\r\n", "\n")
		}
		if do == "check" {
			return s.showDocument(w, r, documentPage{Path: path, Read: version, Like: like}, []byte(text))
		}
		if err := s.cfg.Desk.Save(path, version, []byte(text)); err != nil {
			return &statusError{http.StatusConflict, err}
		}
	}
	if do == "save" {
		http.Redirect(w, r, saved, http.StatusSeeOther)
		return nil
	}
	id, err := s.cfg.Desk.Begin(r.Context(), path, like)
	var refused diag.List
	switch {
	case errors.As(err, &refused): // the document's page says why
		http.Redirect(w, r, saved, http.StatusSeeOther)
		return nil
	case err != nil:
		return err
	}
	http.Redirect(w, r, "/runs/"+url.PathEscape(id), http.StatusSeeOther)
	return nil
}

func (s *Server) stopRun(w http.ResponseWriter, r *http.Request) error {
	id, err := s.runID(r)
	if err != nil {
		return err
	}
	if err := s.cfg.Desk.Stop(id); err != nil {
		return &statusError{http.StatusConflict, err}
	}
	http.Redirect(w, r, "/runs/"+url.PathEscape(id), http.StatusSeeOther)
	return nil
}

// sourcesOf returns the documents of a run that can be edited and run again here.
func (s *Server) sourcesOf(v *report.RunView) (list []string) {
	if s.cfg.Desk == nil {
		return nil
	}
	seen := make(map[string]bool)
	for i := range v.Campaigns {
		c := &v.Campaigns[i]
		if _, _, err := s.cfg.Desk.Text(c.Source); err != nil {
			continue
		}
		c.Link = documentLink(c.Source)
		if !seen[c.Source] {
			seen[c.Source] = true
			list = append(list, c.Source)
		}
	}
	return list
}
