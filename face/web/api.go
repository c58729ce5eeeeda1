package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

// apiRoutes returns the read-only API, which page/openapi.json describes.
func (s *Server) apiRoutes() []route {
	return []route{
		{"GET /api/v1/openapi.json", s.openAPI},
		{"GET /api/v1/events", s.listEvents},
		{"GET /api/v1/runs", s.apiRuns},
		{"GET /api/v1/runs/{run}", s.apiRun},
		{"GET /api/v1/runs/{run}/state", s.apiState},
		{"GET /api/v1/runs/{run}/events", s.runEvents},
		{"GET /api/v1/runs/{run}/findings", s.apiFindings},
		{"GET /api/v1/runs/{run}/findings/{finding}", s.apiFinding},
		{"GET /api/v1/runs/{run}/findings/{finding}/history", s.apiHistory},
		{"GET /api/v1/specs", s.apiSpecs},
		{"GET /api/v1/compare", s.apiCompare},
		{"GET /api/v1/fleet", s.apiFleet},
		{"GET /api/v1/fleet/events", s.fleetEvents},
	}
}

// answer writes a value as JSON.
func answer(w http.ResponseWriter, code int, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(data, '\n')) // the reader may be gone
	return nil
}

// Problem is the body of an error response of the API.
type Problem struct {
	Error struct {
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	} `json:"error"`
}

// fail answers with an error, as JSON for the API and as a page otherwise.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	code := statusOf(err)
	if strings.HasPrefix(r.URL.Path, "/api/") {
		var p Problem
		p.Error.Message, p.Error.Hint = err.Error(), diag.Hint(err)
		_ = answer(w, code, p) // a Problem can be encoded
		return
	}
	s.errorPage(w, r, code, err)
}

func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	body, err := pageFiles.ReadFile("page/openapi.json")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
	return nil
}

func (s *Server) apiRuns(w http.ResponseWriter, r *http.Request) error {
	q, err := runQuery(r)
	if err != nil {
		return err
	}
	list, err := s.listRuns(r.Context(), q)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, list)
}

// RunDetail is one run: its line in the list, and its record without findings.
type RunDetail struct {
	Summary store.RunSummary `json:"summary"`
	Record  campaign.Record  `json:"record"`
}

func (s *Server) apiRun(w http.ResponseWriter, r *http.Request) error {
	d, err := s.runDetail(r)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, d)
}

func (s *Server) runDetail(r *http.Request) (d RunDetail, err error) {
	id, err := s.runID(r)
	if err != nil {
		return d, err
	}
	if d.Summary, err = s.cfg.Store.Run(id); err != nil {
		return d, err
	}
	if d.Record, err = s.cfg.Store.Outline(id); err != nil {
		return d, err
	}
	if d.Summary.Status == "running" {
		if l := s.hub.live(r.Context(), &d.Summary); l != nil {
			state := stateOf(*l)
			d.Record = l.Record
			d.Record.Findings, d.Record.Campaigns = []campaign.Finding{}, slices.Clone(d.Record.Campaigns) // the record is shared
			d.Record.Environment.Workers, d.Record.Environment.Rate = state.Workers, state.Rate
			for i := range state.Campaigns {
				d.Record.Campaigns[i].Cases = state.Campaigns[i].Cases
			}
			d.Summary.Cases, d.Summary.Findings, d.Summary.Seconds = state.Cases, state.Findings, state.Seconds
		}
	}
	return d, nil
}

func (s *Server) apiState(w http.ResponseWriter, r *http.Request) error {
	id, err := s.runID(r)
	if err != nil {
		return err
	}
	f, err := s.cfg.Store.Follow(id)
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := f.Poll()
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, stateOf(l))
}

func (s *Server) apiFindings(w http.ResponseWriter, r *http.Request) error {
	id, err := s.runID(r)
	if err != nil {
		return err
	}
	q, err := findingQuery(r, id)
	if err != nil {
		return err
	}
	page, err := s.findings(r.Context(), q)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, page)
}

func (s *Server) finding(r *http.Request) (run string, f campaign.Finding, err error) {
	if run, err = s.runID(r); err != nil {
		return "", f, err
	}
	f, err = s.cfg.Store.FindingOf(run, r.PathValue("finding"))
	return run, f, err
}

func (s *Server) apiFinding(w http.ResponseWriter, r *http.Request) error {
	_, f, err := s.finding(r)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, f)
}

// historyRuns is how many runs back a finding's history goes.
const historyRuns = 30

func (s *Server) apiHistory(w http.ResponseWriter, r *http.Request) error {
	run, f, err := s.finding(r)
	if err != nil {
		return err
	}
	list, err := s.cfg.Store.History(run, f, historyRuns)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, struct {
		Sightings []store.Sighting `json:"sightings"`
	}{list})
}

// trendPoints is how many runs of a campaign a trend shows.
const trendPoints = 24

func (s *Server) apiSpecs(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "limit")
	if err != nil {
		return err
	}
	limit, _, err := window(q)
	if err != nil {
		return err
	}
	list, total, err := s.cfg.Store.Trends(limit, trendPoints)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, struct {
		Total int               `json:"total"`
		Specs []store.SpecTrend `json:"specs"`
	}{total, list})
}

func (s *Server) apiCompare(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "a", "b")
	if err != nil {
		return err
	}
	if q.Get("a") == "" || q.Get("b") == "" {
		return &statusError{http.StatusBadRequest, errors.New("a and b must name runs")}
	}
	c, err := s.cfg.Use.Compare(q.Get("a"), q.Get("b"))
	if err != nil {
		return err
	}
	brief := struct {
		A            string                 `json:"a"`
		B            string                 `json:"b"`
		Swapped      bool                   `json:"swapped,omitempty"` // the newer run was named first
		SameDigest   bool                   `json:"same_digest"`
		Differences  []string               `json:"differences"`
		New          []store.FindingSummary `json:"new"`
		Fixed        []store.FindingSummary `json:"fixed"`
		StillFailing []store.FindingSummary `json:"still_failing"` // as in run b
		Known        []store.FindingSummary `json:"known"`
		NotRun       []store.FindingSummary `json:"not_run"`
		Scores       []store.ScoreChange    `json:"scores"`
		Cells        []store.CellChange     `json:"cells"`
	}{A: c.A, B: c.B, Swapped: c.Swapped, SameDigest: c.SameDigest, Differences: c.Differences, Scores: c.Scores, Cells: c.Cells, New: summaries(c.New), Fixed: summaries(c.Fixed), NotRun: summaries(c.NotRun), Known: make([]store.FindingSummary, 0, len(c.Known)),
		StillFailing: make([]store.FindingSummary, 0, len(c.StillFailing))}
	for _, k := range c.Known {
		brief.Known = append(brief.Known, store.SummaryOf(k.Finding))
	}
	for _, f := range c.StillFailing {
		brief.StillFailing = append(brief.StillFailing, store.SummaryOf(f.B))
	}
	return answer(w, http.StatusOK, brief)
}

func summaries(fs []campaign.Finding) []store.FindingSummary {
	out := make([]store.FindingSummary, len(fs))
	for i, f := range fs {
		out[i] = store.SummaryOf(f)
	}
	return out
}
