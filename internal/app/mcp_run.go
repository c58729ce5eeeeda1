package app

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/run/triage"
	"github.com/thresh-dev/thresh/serve/mcp"
)

// How findings of background runs are confirmed and made small: as thresh run
// does unless told otherwise.
const (
	backgroundReruns  = 2
	backgroundShrink  = 500
	backgroundTimeout = 10 * time.Minute // of one case
)

// Start implements [mcp.UseCases].
func (u *useCases) Start(ctx context.Context, d mcp.Document) (mcp.Run, error) {
	b := newBundle()
	docs, set, err := u.documents(d, b)
	if err != nil {
		return nil, err
	}
	c, err := compile(ctx, docs, set)
	if err != nil {
		return nil, err
	}
	m, err := manifest(u.st, c, b, set, d.Cases, []string{"thresh", "mcp"})
	if err != nil {
		return nil, err
	}
	w, err := u.st.Begin(m)
	if err != nil {
		return nil, err
	}
	rctx, stop := context.WithCancel(u.ctx)
	r := &backgroundRun{id: w.RunID(), stop: stop, done: make(chan struct{}), changed: make(chan struct{}), began: time.Now()}
	r.status.Phase, r.status.Of = string(run.PhaseProbe), len(c.campaigns)
	for i, x := range c.campaigns {
		y := &watched{Any: x, r: r}
		if model, ok := campaign.As[*fresnelfir.Campaign](x); ok {
			y.model = model
			e := exploration(model, nil)
			if r.explored == nil {
				y.first, r.explored = true, &e
			}
			if e.Alone != "" {
				r.alone = e.Alone
			}
		}
		c.campaigns[i] = y
	}
	opt := run.Options{
		Workers: u.workers, Cases: d.Cases, Time: d.Time, CaseTimeout: backgroundTimeout, Reruns: backgroundReruns, Shrink: backgroundShrink,
		Progress: r.tell, Reproduce: reproduceCommand(u.dir), Environment: environment(),
	}
	opt.Environment.Command = m.Command
	if d.Findings > 0 {
		opt.Stop = r.enough(d.Findings)
	}
	for _, w := range c.warnings {
		opt.Warnings = append(opt.Warnings, w.Text())
	}
	job := run.Job{Campaigns: c.campaigns, Sources: c.sources, Store: u.st, Writer: w}
	go func() {
		defer stop()
		rec, err := run.Run(rctx, job, opt)
		if cerr := w.Close(); err == nil && cerr != nil {
			err = diag.Environment("closing the run's journal: %w", cerr)
		}
		r.end(rec, err)
	}()
	return r, nil
}

// backgroundRun is a run that goes on while its client does other things. It
// implements [mcp.Run].
type backgroundRun struct {
	id    string
	stop  context.CancelFunc
	done  chan struct{}
	began time.Time

	mu       sync.Mutex
	changed  chan struct{}
	status   mcp.Status
	found    []mcp.Seen
	explored *mcp.Exploration // nil: it explores no model
	alone    string           // why one of its models is explored alone
	latest   func() mcp.Exploration
	fruitful int
}

func (r *backgroundRun) ID() string            { return r.id }
func (r *backgroundRun) Done() <-chan struct{} { return r.done }
func (r *backgroundRun) Stop()                 { r.stop() }

func (r *backgroundRun) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

func (r *backgroundRun) Status() mcp.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	if s.Record == nil && s.Err == nil {
		s.Elapsed = time.Since(r.began)
	}
	return s
}

func (r *backgroundRun) Findings() []mcp.Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.found)
}

func (r *backgroundRun) Explored() (mcp.Exploration, bool) {
	r.mu.Lock()
	e, latest, fruitful := r.explored, r.latest, r.fruitful
	r.mu.Unlock()
	if e == nil {
		return mcp.Exploration{}, false
	}
	x := *e
	if latest != nil {
		x = latest()
	}
	x.Fruitful = fruitful
	if r.alone != "" {
		x.Alone = r.alone
	}
	return x, true
}

// update changes the run and tells those who wait for a change.
func (r *backgroundRun) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

// tell takes a snapshot of package run.
func (r *backgroundRun) tell(s run.Snapshot) {
	r.update(func() {
		r.status.Phase, r.status.Campaign, r.status.Index, r.status.Of = string(s.Phase), s.Campaign, s.Index, s.Of
		r.status.Done, r.status.Planned, r.status.Failed, r.status.Errors = s.Done, s.Planned, s.Failed, s.Errors
	})
}

func (r *backgroundRun) end(rec campaign.Record, err error) {
	r.update(func() {
		// A case that failed is a finding even if the run was cut before its
		// round was folded.
		for _, f := range rec.Findings {
			r.meet(mcp.Seen{ID: f.ID, Contract: f.Contract, Campaign: f.Campaign, Kind: f.Kind, Title: f.Title, Severity: f.Severity, Case: f.First, Cause: f.Cause})
		}
		r.status.Phase, r.status.Err, r.status.Elapsed = string(run.PhaseDone), err, time.Since(r.began)
		if rec.RunID != "" {
			rec.Findings = nil // the store has them
			r.status.Record = &rec
		}
	})
	close(r.done)
}

// meet notes a finding unless it is known; the caller holds the lock.
func (r *backgroundRun) meet(s mcp.Seen) bool {
	if slices.ContainsFunc(r.found, func(x mcp.Seen) bool { return x.ID == s.ID }) {
		return false
	}
	s.Seq = int64(len(r.found) + 1)
	r.found = append(r.found, s)
	return true
}

// enough ends a run at the case that shows its most'th finding.
func (r *backgroundRun) enough(most int) func(*campaign.Outcome) bool {
	known := make(map[string]bool)
	return func(o *campaign.Outcome) bool {
		if o.Verdict == campaign.VerdictFail {
			known[triage.Fingerprint("", o)] = true
		}
		return len(known) >= most
	}
}

// watched is a campaign whose findings and whose exploration are looked at each
// time that a round has been folded.
type watched struct {
	campaign.Any
	r     *backgroundRun
	model *fresnelfir.Campaign // nil: it explores no model
	first bool                 // it is the one that the run tells of
}

// Unwrap implements [campaign.Wrapper].
func (w *watched) Unwrap() any { return w.Any }

// Fold implements [campaign.Campaign].
func (w *watched) Fold(state any, results iter.Seq2[campaign.Case, campaign.Outcome]) any {
	type failure struct {
		at campaign.Case
		o  campaign.Outcome
	}
	var failures []failure
	prints := make(map[string]bool)
	next := w.Any.Fold(state, func(yield func(campaign.Case, campaign.Outcome) bool) {
		for c, o := range results {
			if o.Verdict == campaign.VerdictFail {
				if p := triage.Fingerprint(w.Identity().Contract, &o); !prints[p] {
					prints[p] = true
					failures = append(failures, failure{c, o})
				}
			}
			if !yield(c, o) {
				return
			}
		}
	})
	var fresh []mcp.Seen
	for _, f := range failures {
		if s := w.seen(state, f.at, &f.o); s != nil {
			fresh = append(fresh, *s)
		}
	}
	w.r.update(func() {
		n := 0
		for _, s := range fresh {
			if w.r.meet(s) {
				n++
			}
		}
		if !w.first {
			return
		}
		w.r.latest = func() mcp.Exploration { return exploration(w.model, next) }
		if n > 0 {
			w.r.fruitful++
		}
	})
	return next
}

// seen is what is said of a failing case at the moment it is met; nil if its
// finding is known.
func (w *watched) seen(state any, at campaign.Case, o *campaign.Outcome) *mcp.Seen {
	id := w.Identity()
	s := mcp.Seen{
		ID: triage.FindingID(id, triage.Fingerprint(id.Contract, o)), Contract: id.Contract, Campaign: id.Name, Kind: o.Kind, Title: o.Title,
		Severity: o.Severity, Case: at.Index, Cause: o.Cause,
	}
	for _, known := range w.r.Findings() {
		if known.ID == s.ID {
			return nil
		}
	}
	if w.model == nil {
		return &s
	}
	if in, ok := campaign.As[campaign.Inputter[any]](w.Any); ok {
		if tape := in.Input(state, at); tape != nil {
			// Told if it can be; the finding is one without it as well.
			s.Action, s.Generation, _ = w.model.Trigger(tape)
		}
	}
	return &s
}
