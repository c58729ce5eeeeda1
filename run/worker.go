package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
	"github.com/thresh-dev/thresh/store/inflight"
)

// result is one executed case on its way to the collector.
type result struct {
	index   int64
	outcome campaign.Outcome
	at      time.Duration
}

// batches recycles the buffers of results that the collector has taken.
var batches sync.Pool

// lanes is a session of a campaign with its executors, one per worker.
type lanes struct {
	session campaign.Session[any]
	open    []campaign.Executor[any]
	call    []*Caller // callers of these executors
	recent  Recent
}

// newLanes begins a session with room for n lanes, all of them closed.
func (a *attempt) newLanes(n int) *lanes {
	return &lanes{session: a.c.Open(&a.r.cache), open: make([]campaign.Executor[any], n), call: make([]*Caller, n)}
}

// openLanes opens n lanes; after an error none stays open.
func (a *attempt) openLanes(ctx context.Context, n int, cold bool) (*lanes, error) {
	l := a.newLanes(n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = l.openOne(ctx, i, campaign.Lane{Index: i, Of: n, Cold: cold}, a.r.opt.CaseTimeout) })
	}
	wg.Wait()
	if err := errors.Join(distinct(errs)...); err != nil {
		_, cerr := l.close()
		return nil, errors.Join(err, cerr)
	}
	return l, nil
}

func (l *lanes) openOne(ctx context.Context, i int, lane campaign.Lane, limit time.Duration) error {
	life := &campaign.Life{}
	x, err := l.session.Executor(campaign.WithLife(ctx, life), lane)
	if err == nil {
		l.open[i], l.call[i] = x, NewCaller(x, life, limit)
		l.call[i].Beside(&l.recent)
	}
	return err
}

// distinct drops nil errors and repeated messages.
func distinct(errs []error) []error {
	return slices.CompactFunc(slices.DeleteFunc(errs, func(err error) bool { return err == nil }), func(a, b error) bool { return a.Error() == b.Error() })
}

// noter is implemented by executors that can say how they ran their cases.
type noter interface{ Notes() []string }

// close closes every lane and the session, and returns their notes on how cases were run. A note
// of all workers is returned once, others with the worker's number.
func (l *lanes) close() ([]string, error) {
	said := make(map[string]int)
	all := make([][]string, len(l.open))
	var errs []error
	for i, x := range l.open {
		if x == nil {
			continue
		}
		if n, ok := campaign.As[noter](x); ok {
			all[i] = n.Notes()
		}
		if l.call[i] != nil {
			all[i] = append(all[i], l.call[i].Notes()...)
			l.call[i].Close()
		}
		for _, note := range all[i] {
			said[note]++
		}
		errs = append(errs, x.Close())
	}
	errs = append(errs, l.session.Close())
	var notes []string
	for i, list := range all {
		for _, note := range list {
			if said[note] < len(l.open) {
				note = fmt.Sprintf("worker %d: %s", i+1, note)
			}
			notes = appendNew(notes, note)
		}
	}
	return notes, errors.Join(errs...)
}

// worker executes ranges of cases of one round on one lane.
type worker struct {
	exec     campaign.Executor[any]
	state    any
	round    campaign.Round
	number   int   // of the round
	base     int64 // index of the round's first case
	campaign int
	attempt  int
	closing  bool  // the round is a closing round
	before   int64 // cases counted before the closing rounds
	sched    *schedule
	ends     func() bool            // no more ranges will be taken
	done     func(index int64) bool // an earlier process left a result
	journal  *store.Writer
	since    time.Time // creation of the run
	out      chan<- *[]result
	caller   *Caller
	gone     bool          // the target no longer answers
	failed   *atomic.Int64 // highest index of a failing case over all workers
	evidence *atomic.Int64 // bytes of evidence in results that are not collected yet
	records  campaign.Recording
}

// maxEvidence bounds the evidence in results that are not collected yet; beyond it outcomes
// carry none. A finding gets its evidence again when it is confirmed.
const maxEvidence = 64 << 20

// run takes ranges until none are left (nil), ctx ends or the campaign cannot continue (an
// error).
func (w *worker) run(ctx context.Context) error {
	if s, ok := campaign.As[campaign.Settler](w.exec); ok {
		defer s.Settle()()
	}
	cases := w.cases
	if b, ok := campaign.As[campaign.Batcher](w.exec); ok {
		cases = w.together(b)
	}
	for ctx.Err() == nil {
		lo, hi, ok := w.sched.take()
		if !ok {
			return nil
		}
		batch, _ := batches.Get().(*[]result)
		if batch == nil {
			batch = new([]result)
		}
		*batch = (*batch)[:0]
		busy, err := cases(ctx, lo, hi, batch)
		w.sched.noteDuration(hi-lo, busy)
		if len(*batch) > 0 {
			w.out <- batch
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// cases executes a range, one case after the other.
func (w *worker) cases(ctx context.Context, lo, hi int64, batch *[]result) (busy time.Duration, err error) {
	start := time.Now()
	defer func() { busy = time.Since(start) }()
	for i := lo; i < hi; i++ {
		if w.done(i) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if w.gone && i > w.failed.Load() { // a failing case counts only if all cases before it have an outcome
			return 0, nil
		}
		o, err := w.caller.Execute(ctx, w.state, w.at(i))
		if err == nil && i == hi-1 && w.ends() {
			o, err = w.caller.last(ctx, w.state, w.at(i), o)
		}
		if err != nil {
			return 0, err
		}
		if err := w.journalOutcome(i, o, batch); err != nil {
			return 0, err
		}
		if o.Verdict == campaign.VerdictError && o.Kind == campaign.KindGone {
			if w.gone = true; w.sched != nil {
				w.sched.stop()
			}
		}
	}
	return 0, nil
}

// together executes ranges with an executor that takes many cases at once. An error that ends
// only the batch makes the remaining cases run one by one, so that the error is attributed to
// its case.
func (w *worker) together(b campaign.Batcher) func(context.Context, int64, int64, *[]result) (time.Duration, error) {
	return func(ctx context.Context, lo, hi int64, batch *[]result) (time.Duration, error) {
		cases := make([]campaign.Case, 0, hi-lo)
		for i := lo; i < hi; i++ {
			if !w.done(i) {
				cases = append(cases, w.at(i))
			}
		}
		if len(cases) == 0 {
			return 0, nil
		}
		if g := w.caller.guard; g != nil {
			n := cases[len(cases)-1].Index - cases[0].Index + 1
			g.r.inflight.Begin(g.slot, inflight.Mark{Kind: g.kind, Campaign: g.campaign, Index: cases[0].Index, Count: int(n)})
			defer g.end()
		}
		d := w.caller.deadline
		busy, err := b.ExecuteBatch(d.start(w.caller.begin(ctx)), w.state, cases, func(c campaign.Case, o campaign.Outcome) error {
			d.extend()
			if w.caller.met(ctx, c, c.Index == hi-1 && w.ends()) {
				return errEnded
			}
			return w.journalOutcome(c.Index, o, batch)
		})
		if d.stop(); err == nil || ctx.Err() != nil || ends(err) {
			return busy, err
		}
		have := make(map[int64]bool, len(*batch))
		for _, r := range *batch {
			have[r.index] = true
		}
		start := time.Now()
		for _, c := range cases {
			if have[c.Index] {
				continue
			}
			o, err := w.caller.Execute(ctx, w.state, c)
			if err == nil {
				err = w.journalOutcome(c.Index, o, batch)
			}
			if err != nil {
				return busy, err
			}
		}
		return busy + time.Since(start), nil
	}
}

// ends reports whether an error ends more than its case.
func ends(err error) bool {
	var je *journalError
	_, redo := campaign.IsRedo(err)
	return redo || campaign.IsFatal(err) || errors.As(err, &je)
}

// at returns case i of the round.
func (w *worker) at(i int64) campaign.Case {
	return campaign.Case{Round: w.number, Index: i, Payload: w.round.Payload(i - w.base)}
}

// journalOutcome journals an outcome and adds it to the batch for the collector.
func (w *worker) journalOutcome(i int64, o campaign.Outcome, batch *[]result) error {
	var seen []campaign.Attachment
	if w.records == campaign.RecordAll || w.records == campaign.RecordFailures && o.Verdict == campaign.VerdictFail {
		seen = o.Evidence
	}
	if o.Verdict != campaign.VerdictFail {
		o.Evidence = nil // only findings need it from here on
	}
	o.Evidence = w.admit(o.Evidence)
	r := result{index: i, outcome: o, at: time.Since(w.since)}
	e := store.Entry{
		Kind: store.KindOutcome, Campaign: w.campaign, Attempt: w.attempt,
		Case: campaign.Case{Round: w.number, Index: i}, Outcome: o, At: r.at,
	}
	if w.closing {
		e.Kind, e.After = store.KindClosing, w.before
	}
	err := w.journal.Append(e, seen...)
	if err != nil {
		return &journalError{err}
	}
	for last := w.failed.Load(); o.Verdict == campaign.VerdictFail && i > last && !w.failed.CompareAndSwap(last, i); {
		last = w.failed.Load()
	}
	*batch = append(*batch, r)
	return nil
}

func (w *worker) admit(evidence []campaign.Attachment) []campaign.Attachment {
	n := evidenceSize(evidence)
	if n > 0 && w.evidence.Add(n) > maxEvidence {
		w.evidence.Add(-n)
		return nil
	}
	return evidence
}

func evidenceSize(evidence []campaign.Attachment) int64 {
	n := 0
	for _, e := range evidence {
		n += len(e.Data)
	}
	return int64(n)
}

// journalError means that the run's journal, or a file that it names, can no longer be written or read.
type journalError struct{ err error }

func (e *journalError) Error() string { return "writing the run's journal: " + e.err.Error() }
func (e *journalError) Unwrap() error { return e.err }
