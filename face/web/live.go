package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

// lookEvery is how often a watched run's journal is read, and so the shortest time between two
// updates of a page. keepOpen is how long a journal stays open without readers. pulseEvery is how
// often a silent stream sends a sign of life. runsEvery is how often lists are compared, and
// waitForLive how long a page waits for a journal's first reading.
const (
	lookEvery   = 250 * time.Millisecond
	keepOpen    = 20 * time.Second
	pulseEvery  = 15 * time.Second
	runsEvery   = time.Second
	waitForLive = 150 * time.Millisecond
)

// State is a run's progress.
type State struct {
	RunID     string          `json:"run_id"`
	Status    string          `json:"status"` // "running", "done", "interrupted" or "error"
	Phase     string          `json:"phase"`
	Campaign  string          `json:"campaign"` // of the current campaign
	Index     int             `json:"index"`    // its index, from 1
	Of        int             `json:"of"`
	Done      int64           `json:"done"`    // in this phase: cases, or findings being confirmed
	Planned   int64           `json:"planned"` // 0: unknown
	Workers   int             `json:"workers"`
	Rate      float64         `json:"cases_per_second"`
	ETA       *float64        `json:"eta_seconds"` // of the phase; null: unknown
	Seconds   float64         `json:"seconds"`
	Cases     campaign.Counts `json:"cases"`    // of the run
	Findings  int             `json:"findings"` // distinct findings, confirmed or not
	Settled   int             `json:"settled"`  // confirmed findings
	Campaigns []CampaignState `json:"campaigns"`
}

// CampaignState is the progress of one campaign.
type CampaignState struct {
	Contract string          `json:"contract"`
	Name     string          `json:"name"`
	Cases    campaign.Counts `json:"cases"`
}

func stateOf(l store.Live) State {
	p, rec := l.Progress, &l.Record
	s := State{
		RunID: rec.RunID, Status: "running", Phase: p.Phase, Campaign: p.Campaign, Index: p.Index, Of: p.Of, Done: p.Done, Planned: p.Planned,
		Workers: p.Workers, Rate: p.Rate, Seconds: rec.Environment.Seconds, Settled: len(rec.Findings), Campaigns: []CampaignState{},
	}
	if !l.Running {
		switch {
		case rec.Complete:
			s.Status = "done"
		case rec.Stopped == "interrupted":
			s.Status = "interrupted"
		case rec.Stopped == "environment":
			s.Status = "error"
		default:
			s.Status = "done"
		}
	}
	s.Phase = cmp.Or(s.Phase, "starting")
	for i, c := range rec.Campaigns {
		if l.Running && i+1 == p.Index && p.Phase == "running" {
			c.Cases.Planned = max(p.Planned, c.Cases.Run)
			s.Done, s.Planned = c.Cases.Run, c.Cases.Planned // the journal is newer than the noted progress
		}
		s.Campaigns = append(s.Campaigns, CampaignState{c.Contract, c.Name, c.Cases})
		s.Cases.Plus(c.Cases)
	}
	s.Findings = s.Settled + len(l.Met)
	if p.Phase != "running" && p.Phase != "running again" && s.Seconds > 0 { // no more cases are being run
		s.Rate = float64(s.Cases.Run) / s.Seconds
	}
	if left := s.Planned - s.Done; p.Planned > 0 && left > 0 && p.Rate > 0 && p.Phase == "running" {
		eta := float64(left) / p.Rate
		s.ETA = &eta
	}
	return s
}

// journalHub follows the journals of watched runs, each journal once however many readers it has.
type journalHub struct {
	store   *store.Store
	mu      sync.Mutex
	ctx     context.Context // of the server; nil before it serves
	group   sync.WaitGroup
	watches map[string]*watch
}

// watch is one followed journal.
type watch struct {
	mu    sync.Mutex
	live  *store.Live // nil before the first reading
	err   error
	news  chan struct{} // closed and replaced when live changes
	used  time.Time
	users int
}

func newJournalHub(s *store.Store) *journalHub {
	return &journalHub{store: s, watches: make(map[string]*watch)}
}

func (h *journalHub) start(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ctx = ctx
}

// wait returns when no journal is followed any longer, after the server has ended.
func (h *journalHub) wait() { h.group.Wait() }

// watch returns the watch of a run, and creates it if there is none.
func (h *journalHub) watch(run string) *watch {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.watches[run]
	if w == nil {
		w = &watch{news: make(chan struct{})}
		ctx := h.ctx
		if ctx == nil {
			ctx = context.Background()
		}
		h.watches[run] = w
		h.group.Go(func() { h.follow(ctx, run, w) })
	}
	w.mu.Lock()
	w.used = time.Now()
	w.mu.Unlock()
	return w
}

// follow reads a journal until nobody wants it, the run has ended or the server ends.
func (h *journalHub) follow(ctx context.Context, run string, w *watch) {
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.watches[run] == w {
			delete(h.watches, run)
		}
	}()
	f, err := h.store.Follow(run)
	if err != nil {
		w.set(nil, err)
		return
	}
	defer f.Close()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		l, err := f.Poll()
		w.set(&l, err)
		if err != nil || !l.Running {
			return
		}
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if h.drop(run, w, now) {
				return
			}
		}
	}
}

// drop removes a watch that nobody wants, before a new reader can get it.
func (h *journalHub) drop(run string, w *watch, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	idle := w.users == 0 && now.Sub(w.used) > keepOpen
	if idle {
		delete(h.watches, run)
	}
	return idle
}

func (w *watch) set(l *store.Live, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live, w.err = l, err
	close(w.news)
	w.news = make(chan struct{})
}

// current returns what is known, and a channel that is closed when that changes.
func (w *watch) current() (*store.Live, <-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.live, w.news, w.err
}

func (w *watch) join(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users += n
	w.used = time.Now()
}

// live returns what a run's journal says. Of a run that goes on, it returns nil if reading it takes
// longer than a page should wait, which learns the rest from events.
func (h *journalHub) live(ctx context.Context, run *store.RunSummary) *store.Live {
	w := h.watch(run.RunID)
	l, news, err := w.current()
	if l == nil && err == nil {
		if run.Status == "running" {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, waitForLive)
			defer cancel()
		}
		select {
		case <-news:
			l, _, _ = w.current()
		case <-ctx.Done():
		}
	}
	return l
}

// stream is a response of server-sent events.
type stream struct {
	w http.ResponseWriter
	c *http.ResponseController
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // keeps proxies from holding events back
	s := &stream{w, http.NewResponseController(w)}
	fmt.Fprint(w, "retry: 2000\n\n")
	_ = s.c.Flush()
	return s
}

// event sends one event. An error means that the reader is gone.
func (s *stream) event(name string, data []byte) error {
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, data); err != nil {
		return err
	}
	return s.c.Flush()
}

func (s *stream) keepAlive() error {
	if _, err := fmt.Fprint(s.w, ": alive\n\n"); err != nil {
		return err
	}
	return s.c.Flush()
}

// runEvents sends a run's state whenever it changes, and ends with the run.
func (s *Server) runEvents(w http.ResponseWriter, r *http.Request) error {
	id, err := s.runID(r)
	if err != nil {
		return err
	}
	watch := s.hub.watch(id)
	watch.join(1)
	defer watch.join(-1)
	s.metrics.streams.Add(1)
	defer s.metrics.streams.Add(-1)
	out := newStream(w)
	pulse := time.NewTicker(pulseEvery)
	defer pulse.Stop()
	var sent []byte
	for {
		l, news, err := watch.current()
		if err != nil {
			return nil // the browser reconnects; the page itself shows the error
		}
		if l != nil {
			state, err := json.Marshal(stateOf(*l))
			if err != nil {
				return err
			}
			if !bytes.Equal(state, sent) {
				sent = state
				if out.event("state", state) != nil {
					return nil
				}
			}
			if !l.Running {
				return nil
			}
		}
		select {
		case <-news:
		case <-pulse.C:
			if out.keepAlive() != nil {
				return nil
			}
		case <-r.Context().Done():
			return nil
		}
	}
}

// listEvents reports that the list of runs has changed. It sends the first event at once, because
// the list may have changed since the page was made.
func (s *Server) listEvents(w http.ResponseWriter, r *http.Request) error {
	return s.changes(w, r, "runs", func() (compared, told []byte, err error) {
		list, err := s.listRuns(r.Context(), store.RunQuery{Limit: pageSize})
		if err != nil {
			return nil, nil, err
		}
		compared, err = json.Marshal(list)
		return compared, fmt.Appendf(nil, `{"total":%d}`, list.Total), err
	})
}

// changes calls look once a second, and sends told whenever compared differs from the last look. An
// error ends the stream; the browser reconnects.
func (s *Server) changes(w http.ResponseWriter, r *http.Request, event string, look func() (compared, told []byte, err error)) error {
	s.metrics.streams.Add(1)
	defer s.metrics.streams.Add(-1)
	out := newStream(w)
	tick, pulse := time.NewTicker(runsEvery), time.NewTicker(pulseEvery)
	defer tick.Stop()
	defer pulse.Stop()
	var last []byte
	for {
		now, told, err := look()
		if err != nil {
			return nil
		}
		if !bytes.Equal(now, last) {
			if out.event(event, told) != nil {
				return nil
			}
			last = now
		}
		select {
		case <-tick.C:
		case <-pulse.C:
			if out.keepAlive() != nil {
				return nil
			}
		case <-r.Context().Done():
			return nil
		}
	}
}
