package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

// pageSize is how many lines a list shows at once, and mostLines how many a program may request.
const (
	pageSize  = 50
	mostLines = 500
)

// statusError is an error with an HTTP status.
type statusError struct {
	code int
	err  error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// statusOf returns the HTTP status for an error: what was refused was not found; anything else is
// the store's fault.
func statusOf(err error) int {
	var s *statusError
	switch {
	case errors.As(err, &s):
		return s.code
	case diag.ExitCode(err) == diag.ExitRefused:
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

func badRequest(format string, args ...any) error {
	return &statusError{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

// query returns the parameters of a request. A parameter that is not among names is an error that
// suggests the nearest name.
func query(r *http.Request, names ...string) (url.Values, error) {
	q := r.URL.Query()
	for name := range q {
		if !slices.Contains(names, name) {
			err := badRequest("there is no parameter %q here", name)
			if hint := diag.DidYouMean(name, names); hint != "" {
				err = diag.WithHint(err, hint)
			}
			return nil, err
		}
	}
	return q, nil
}

// window returns the requested part of a list.
func window(q url.Values) (limit, offset int, err error) {
	limit = pageSize
	for name, into := range map[string]*int{"limit": &limit, "offset": &offset} {
		text := q.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return 0, 0, badRequest("%s must be a whole number from 0, got %q", name, text)
		}
		*into = n
	}
	if limit < 1 || limit > mostLines {
		return 0, 0, badRequest("limit must be from 1 to %d, got %d", mostLines, limit)
	}
	return limit, offset, nil
}

// oneOf refuses a value that is not allowed; "" is allowed.
func oneOf(name, value string, allowed ...string) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return badRequest("%s must be one of %s, got %q", name, strings.Join(allowed, ", "), value)
}

var (
	verdicts   = []string{"pass", "fail", "error"}
	statuses   = []string{"running", "done", "interrupted", "error"}
	severities = []string{"critical", "high", "medium", "low", "note"}
)

func runQuery(r *http.Request) (store.RunQuery, error) {
	v, err := query(r, "q", "contract", "campaign", "verdict", "status", "limit", "offset")
	if err != nil {
		return store.RunQuery{}, err
	}
	q := store.RunQuery{Text: v.Get("q"), Contract: v.Get("contract"), Campaign: v.Get("campaign"), Verdict: v.Get("verdict"), Status: v.Get("status")}
	if err := errors.Join(oneOf("verdict", q.Verdict, verdicts...), oneOf("status", q.Status, statuses...)); err != nil {
		return q, badRequest("%w", err)
	}
	q.Limit, q.Offset, err = window(v)
	return q, err
}

func findingQuery(r *http.Request, run string) (store.FindingQuery, error) {
	v, err := query(r, "q", "contract", "campaign", "kind", "severity", "flaky", "new", "ids", "of", "group", "limit", "offset")
	if err != nil {
		return store.FindingQuery{}, err
	}
	q := store.FindingQuery{RunID: run, Text: v.Get("q"), Contract: v.Get("contract"), Campaign: v.Get("campaign"), Kind: v.Get("kind"), Group: v.Get("group")}
	if text := v.Get("severity"); text != "" {
		if err := oneOf("severity", text, severities...); err != nil {
			return q, err
		}
		var s campaign.Severity
		if err := s.UnmarshalText([]byte(text)); err != nil {
			return q, badRequest("severity: %w", err)
		}
		q.Severity = &s
	}
	if text := v.Get("ids"); text != "" {
		q.IDs = strings.Split(text, ",")
	}
	for name, into := range map[string]*bool{"flaky": &q.Flaky, "new": &q.New} {
		if err := oneOf(name, v.Get(name), "true", "false"); err != nil {
			return q, err
		}
		*into = v.Get(name) == "true"
	}
	q.Limit, q.Offset, err = window(v)
	return q, err
}

// runID resolves the run that a request names: an id, the beginning of one, or "latest".
func (s *Server) runID(r *http.Request) (string, error) {
	return s.cfg.Store.ResolveRun(r.PathValue("run"))
}

// RunPage is a part of the list of runs.
type RunPage struct {
	Total int                `json:"total"`
	Runs  []store.RunSummary `json:"runs"`
}

// listRuns returns the store's list, with the state of live runs.
func (s *Server) listRuns(ctx context.Context, q store.RunQuery) (RunPage, error) {
	runs, err := s.cfg.Store.Runs(q)
	if err != nil {
		return RunPage{}, err
	}
	total, err := s.cfg.Store.CountRuns(q)
	if err != nil {
		return RunPage{}, err
	}
	for i := range runs {
		if runs[i].Status != "running" {
			continue
		}
		if l := s.hub.live(ctx, &runs[i]); l != nil {
			state := stateOf(*l)
			runs[i].Cases, runs[i].Findings, runs[i].Seconds = state.Cases, state.Findings, state.Seconds
		}
	}
	return RunPage{total, runs}, nil
}

// findings returns a part of a run's list of findings, whether the run has ended or not.
func (s *Server) findings(ctx context.Context, q store.FindingQuery) (store.FindingPage, error) {
	run, err := s.cfg.Store.Run(q.RunID)
	if err != nil || run.Status != "running" && run.Status != "interrupted" {
		return s.pageOf(q, err)
	}
	l := s.hub.live(ctx, &run)
	if l == nil {
		return s.pageOf(q, nil)
	}
	all := make([]store.FindingSummary, len(l.Record.Findings))
	for i, f := range l.Record.Findings {
		all[i] = store.SummaryOf(f)
	}
	for _, f := range l.Met {
		x := store.SummaryOf(f)
		x.Unconfirmed = true
		all = append(all, x)
	}
	return s.cfg.Store.PageOf(q, all)
}

func (s *Server) pageOf(q store.FindingQuery, err error) (store.FindingPage, error) {
	if err != nil {
		return store.FindingPage{}, err
	}
	return s.cfg.Store.Findings(q)
}
