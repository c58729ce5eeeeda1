package web

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
)

// attach makes the browser save an answer as a file and never show it, whatever it contains.
func attach(w http.ResponseWriter, name string) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
}

// downloadReport answers with a run's report in a format. The file name is the format's name with
// its extension, such as "html.html".
func (s *Server) downloadReport(w http.ResponseWriter, r *http.Request) error {
	id, err := s.runID(r)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(r.PathValue("name"), ".")
	f, err := report.ByName(name)
	if err != nil {
		return err
	}
	rec, err := s.cfg.Store.Record(id)
	if err != nil {
		return err
	}
	since, err := s.cfg.Use.Since(id)
	if err != nil {
		return err
	}
	opt := report.Options{Blob: s.cfg.Store.Blob, Since: since, Cases: s.cfg.Use.Cases(rec, f.Name)}
	if opt.Cases == nil && (f.Name == "hits" || f.Name == "attempts") {
		return diag.Refused("the %s report of run %s is empty: no campaign of the run sends prompts", f.Name, id)
	}
	attach(w, "thresh-"+id+f.Extension)
	if err := f.Write(w, rec, opt); err != nil {
		return fmt.Errorf("write the %s report of run %s: %w", f.Name, id, err)
	}
	return nil
}

// downloadInput answers with the bytes that show a finding.
func (s *Server) downloadInput(w http.ResponseWriter, r *http.Request) error {
	_, f, err := s.finding(r)
	if err != nil {
		return err
	}
	blob, part := "", r.PathValue("part")
	switch {
	case part == "minimized" && f.Minimized != nil:
		blob = f.Minimized.Blob
	case part == "input" && len(f.Samples) > 0:
		blob = f.Samples[0].Blob
	}
	if blob == "" {
		return diag.Refused("finding %s keeps nothing that is called %q", f.ID, part)
	}
	data, err := s.cfg.Store.Blob(blob)
	if err != nil {
		return err
	}
	attach(w, f.ID+"-"+part+".bin")
	_, _ = w.Write(data) // the reader may be gone
	return nil
}
