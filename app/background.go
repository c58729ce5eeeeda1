package app

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/run/triage"
)

// Start compiles a document and starts a run, which continues after ctx has ended.
func (u *Remote) Start(ctx context.Context, d Draft) (*Background, error) {
	b := NewBundle()
	docs, set, left, err := u.documents(d, b)
	if err != nil {
		return nil, err
	}
	c, err := Compile(ctx, docs, set)
	if err != nil {
		return nil, err
	}
	m, err := u.app.manifest(u.store, c, b, set, d.Cases)
	if err != nil {
		return nil, err
	}
	w, err := u.store.Begin(m)
	if err != nil {
		return nil, err
	}
	rctx, stop := context.WithCancel(u.ctx)
	r := &Background{id: w.RunID(), stop: stop, done: make(chan struct{}), changed: make(chan struct{}), began: time.Now()}
	r.status.Phase, r.status.Of = string(run.PhaseProbe), len(c.Campaigns)
	for i, x := range c.Campaigns {
		y := &watched{ctx: rctx, Any: x, r: r}
		if model, ok := campaign.As[campaign.Explorer](x); ok {
			y.model = model
			e := model.Explored(nil)
			if r.explored == nil {
				y.first, r.explored = true, &e
			}
			if e.Alone != "" {
				r.alone, r.mode = e.Alone, e.Mode
			}
		}
		c.Campaigns[i] = y
	}
	job := Job{Store: u.dir, Workers: u.workers, Cases: d.Cases, Time: d.Time, MaxErrors: d.MaxErrors, Progress: r.follow}.withDefaults()
	if d.Findings > 0 {
		job.Stop = r.stopAfter(d.Findings)
	}
	job.secrets = c.secrets
	opt := u.app.runOptions(&job, append(left, c.Warnings...))
	rj := run.Job{Campaigns: c.Campaigns, Sources: c.Sources, Store: u.store, Writer: w}
	go func() {
		defer stop()
		rec, err := run.Run(rctx, rj, opt)
		if cerr := w.Close(); err == nil && cerr != nil {
			err = diag.Environment("closing the run's journal: %w", cerr)
		}
		r.end(rec, err)
	}()
	return r, nil
}

// Background is a run that continues while its client does other things. It implements
// [campaign.Background].
type Background struct {
	id    string
	stop  context.CancelFunc
	done  chan struct{}
	began time.Time

	mu       sync.Mutex
	changed  chan struct{}
	status   campaign.Status
	found    []campaign.Seen
	explored *campaign.Exploration // nil: the run explores no model
	alone    string                // why one of its models is explored alone
	mode     string                // mode of the explored model
	latest   func() campaign.Exploration
	fruitful int
}

func (r *Background) ID() string            { return r.id }
func (r *Background) Done() <-chan struct{} { return r.done }
func (r *Background) Stop()                 { r.stop() }

func (r *Background) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

func (r *Background) Status() campaign.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	if s.Record == nil && s.Err == nil {
		s.Elapsed = time.Since(r.began)
	}
	return s
}

func (r *Background) Findings() []campaign.Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.found)
}

func (r *Background) Explored() (campaign.Exploration, bool) {
	r.mu.Lock()
	e, latest, fruitful := r.explored, r.latest, r.fruitful
	r.mu.Unlock()
	if e == nil {
		return campaign.Exploration{}, false
	}
	x := *e
	if latest != nil {
		x = latest()
	}
	x.Fruitful = fruitful
	if r.alone != "" {
		x.Alone, x.Mode = r.alone, r.mode
	}
	return x, true
}

// update changes the run and wakes those who wait for a change.
func (r *Background) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

// follow copies a snapshot of package run into the status.
func (r *Background) follow(s run.Snapshot) {
	r.update(func() {
		r.status.Phase, r.status.Campaign, r.status.Index, r.status.Of = string(s.Phase), s.Campaign, s.Index, s.Of
		r.status.Done, r.status.Planned, r.status.Failed, r.status.Skipped, r.status.Errors = s.Ran, s.ToRun, s.Failed, s.Skipped, s.Errors
	})
}

func (r *Background) end(rec campaign.Record, err error) {
	r.update(func() {
		// A failed case is a finding even if the run was cut before its round was folded.
		for _, f := range rec.Findings {
			r.noteFinding(campaign.Seen{ID: f.ID, Contract: f.Contract, Campaign: f.Campaign, Kind: f.Kind, Title: f.Title, Severity: f.Severity, Case: f.First, Cause: f.Cause})
		}
		r.status.Phase, r.status.Err, r.status.Elapsed = string(run.PhaseDone), err, time.Since(r.began)
		if rec.RunID != "" {
			rec.Findings = nil // the store has them
			r.status.Record = &rec
		}
	})
	close(r.done)
}

// noteFinding notes a finding unless it is known; the caller holds the lock.
func (r *Background) noteFinding(s campaign.Seen) bool {
	if slices.ContainsFunc(r.found, func(x campaign.Seen) bool { return x.ID == s.ID }) {
		return false
	}
	s.Seq = int64(len(r.found) + 1)
	r.found = append(r.found, s)
	return true
}

// stopAfter ends a run at the case that shows its most'th finding.
func (r *Background) stopAfter(most int) func(*campaign.Outcome) bool {
	known := make(map[string]bool)
	return func(o *campaign.Outcome) bool {
		if o.Verdict == campaign.VerdictFail {
			known[triage.Fingerprint("", o)] = true
		}
		return len(known) >= most
	}
}

// watched is a campaign that reports its findings and its exploration after each folded round.
type watched struct {
	ctx context.Context // the run's
	campaign.Any
	r     *Background
	model campaign.Explorer // nil: the campaign explores no model
	first bool              // the run reports this campaign's exploration
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
	var fresh []campaign.Seen
	for _, f := range failures {
		if s := w.seenCase(state, f.at, &f.o); s != nil {
			fresh = append(fresh, *s)
		}
	}
	w.r.update(func() {
		n := 0
		for _, s := range fresh {
			if w.r.noteFinding(s) {
				n++
			}
		}
		if !w.first {
			return
		}
		w.r.latest = func() campaign.Exploration { return w.model.Explored(next) }
		if n > 0 {
			w.r.fruitful++
		}
	})
	return next
}

// seenCase describes a failing case when it first appears; nil if its finding is known.
func (w *watched) seenCase(state any, at campaign.Case, o *campaign.Outcome) *campaign.Seen {
	id := w.Identity()
	s := campaign.Seen{
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
		if tape := in.Input(w.ctx, state, at); tape != nil {
			// The trigger is optional: the finding stands without it.
			s.Action, s.Generation, _ = w.model.Trigger(w.ctx, tape)
		}
	}
	return &s
}
