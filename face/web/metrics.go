package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

// metrics counts what the server itself does.
type metrics struct {
	streams atomic.Int64 // open event streams
	mu      sync.Mutex
	asked   map[asked]*tally
}

type asked struct {
	route string
	code  int
}

type tally struct {
	n       int64
	seconds float64
}

// counted is a response that remembers its status.
type counted struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (c *counted) WriteHeader(code int) {
	c.code = code
	c.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController reach the response.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (m *metrics) request(route string, code int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked == nil {
		m.asked = make(map[asked]*tally)
	}
	t := m.asked[asked{route, code}]
	if t == nil {
		t = &tally{}
		m.asked[asked{route, code}] = t
	}
	t.n++
	t.seconds += took.Seconds()
}

// exposition collects metrics in Prometheus' text format, version 0.0.4.
type exposition struct{ strings.Builder }

func (e *exposition) family(name, kind, help string) {
	fmt.Fprintf(e, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes one value. labels alternates names and values.
func (e *exposition) sample(name string, value float64, labels ...string) {
	e.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		if i == 0 {
			e.WriteString("{")
		} else {
			e.WriteString(",")
		}
		fmt.Fprintf(e, `%s="%s"`, labels[i], labelText.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")))
	}
	if len(labels) > 0 {
		e.WriteString("}")
	}
	fmt.Fprintf(e, " %v\n", value)
}

var labelText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// measured is how many campaigns have series of their own, those run last. The limit keeps the
// number of series small enough for a monitor.
const measured = 100

func (s *Server) metricsText(w http.ResponseWriter, r *http.Request) error {
	var e exposition
	e.family("thresh_info", "gauge", "Always 1; labels say what serves.")
	e.sample("thresh_info", 1, "version", s.cfg.Version)
	e.family("thresh_runs", "gauge", "Stored runs by status.")
	for _, status := range statuses {
		n, err := s.cfg.Store.CountRuns(store.RunQuery{Status: status})
		if err != nil {
			return err
		}
		e.sample("thresh_runs", float64(n), "status", status)
	}
	if err := s.campaignMetrics(&e); err != nil {
		return err
	}
	if err := s.liveMetrics(&e, r); err != nil {
		return err
	}
	s.fleetMetrics(&e)
	s.ownMetrics(&e)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(e.String()))
	return nil
}

// campaignMetrics exports how the newest run of each campaign ended.
func (s *Server) campaignMetrics(e *exposition) error {
	list, _, err := s.cfg.Store.Trends(measured, 1)
	if err != nil {
		return err
	}
	named := make(map[[2]string]bool) // of documents with the same name, the one run last
	list = slices.DeleteFunc(list, func(t store.SpecTrend) bool {
		k := [2]string{t.Contract, t.Name}
		before := named[k]
		named[k] = true
		return before
	})
	for _, m := range []struct {
		name, help string
		of         func(store.TrendPoint) (float64, bool)
	}{
		{"thresh_campaign_passed", "1 if all cases of the campaign's newest run held.", func(p store.TrendPoint) (float64, bool) {
			if p.Verdict == "pass" {
				return 1, true
			}
			return 0, p.Verdict != ""
		}},
		{"thresh_campaign_cases", "Cases in the campaign's newest run.", func(p store.TrendPoint) (float64, bool) { return float64(p.Cases), p.Verdict != "" }},
		{"thresh_campaign_failed_cases", "Failing cases in the campaign's newest run.", func(p store.TrendPoint) (float64, bool) { return float64(p.Failed), p.Verdict != "" }},
		{"thresh_campaign_findings", "Findings in the campaign's newest run.", func(p store.TrendPoint) (float64, bool) { return float64(p.Findings), p.Verdict != "" }},
		{"thresh_campaign_score", "Score of the campaign's newest run, from 0 to 1.", func(p store.TrendPoint) (float64, bool) {
			if p.Score == nil {
				return 0, false
			}
			return *p.Score, true
		}},
		{"thresh_campaign_run_timestamp_seconds", "When the campaign's newest run began.", func(p store.TrendPoint) (float64, bool) { return float64(p.Created.UnixMilli()) / 1000, true }},
	} {
		e.family(m.name, "gauge", m.help)
		for _, t := range list {
			for _, p := range t.Points {
				if v, ok := m.of(p); ok {
					e.sample(m.name, v, "contract", t.Contract, "campaign", t.Name)
				}
			}
		}
	}
	return nil
}

// liveMetrics exports the progress of live runs.
func (s *Server) liveMetrics(e *exposition, r *http.Request) error {
	runs, err := s.cfg.Store.Runs(store.RunQuery{Status: "running", Limit: measured})
	if err != nil {
		return err
	}
	var states []State
	for _, run := range runs {
		if l := s.hub.live(r.Context(), &run); l != nil {
			states = append(states, stateOf(*l))
		}
	}
	e.family("thresh_live_cases", "gauge", "Cases of a live run so far, by verdict.")
	for _, x := range states {
		for i, n := range [...]int64{x.Cases.Pass, x.Cases.Fail, x.Cases.Skip, x.Cases.Error} {
			e.sample("thresh_live_cases", float64(n), "run", x.RunID, "verdict", campaign.Verdict(i).String())
		}
	}
	e.family("thresh_live_findings", "gauge", "Distinct findings of a live run so far.")
	for _, x := range states {
		e.sample("thresh_live_findings", float64(x.Findings), "run", x.RunID)
	}
	e.family("thresh_live_cases_per_second", "gauge", "Rate of a live run over the last seconds.")
	for _, x := range states {
		e.sample("thresh_live_cases_per_second", x.Rate, "run", x.RunID)
	}
	return nil
}

// ownMetrics exports what the server itself does.
func (s *Server) ownMetrics(e *exposition) {
	m := &s.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(m.asked), func(a, b asked) int {
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.code, b.code))
	})
	e.family("thresh_ui_requests_total", "counter", "Answered requests.")
	for _, k := range keys {
		e.sample("thresh_ui_requests_total", float64(m.asked[k].n), "route", k.route, "code", fmt.Sprint(k.code))
	}
	e.family("thresh_ui_request_seconds_total", "counter", "Time spent on answers; streams of events count while they are open.")
	for _, k := range keys {
		e.sample("thresh_ui_request_seconds_total", m.asked[k].seconds, "route", k.route, "code", fmt.Sprint(k.code))
	}
	e.family("thresh_ui_streams", "gauge", "Open streams of events.")
	e.sample("thresh_ui_streams", float64(m.streams.Load()))
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	e.family("thresh_ui_heap_bytes", "gauge", "Memory in use on the heap.")
	e.sample("thresh_ui_heap_bytes", float64(mem.HeapAlloc))
	e.family("thresh_ui_goroutines", "gauge", "Goroutines.")
	e.sample("thresh_ui_goroutines", float64(runtime.NumGoroutine()))
}
