package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run/triage"
	"github.com/thresh-dev/thresh/store"
	"github.com/thresh-dev/thresh/store/inflight"
)

// shrinkFindings is how many findings of a campaign are minimized, the worst
// first; the others are confirmed and reported as they are.
const shrinkFindings = 100

// maxPreview is how many bytes of a minimized payload the record itself holds.
const maxPreview = 256

// triage confirms the groups of the campaign, minimizes them and turns them into
// findings. If it is interrupted, a resumed run settles the rest.
func (a *attempt) triage(ctx context.Context) error {
	groups := slices.Clone(a.groups.All())
	if len(groups) == 0 || ctx.Err() != nil {
		return a.gone
	}
	slices.SortStableFunc(groups, func(x, y *triage.Group) int {
		return cmp.Or(cmp.Compare(y.Outcome.Severity, x.Outcome.Severity), cmp.Compare(x.Samples[0].Case.Index, y.Samples[0].Case.Index))
	})
	a.r.live.phase.Store(new(PhaseConfirm))
	a.r.live.settled.Store(0)
	a.r.live.settling.Store(int64(len(groups)))
	if len(groups) > shrinkFindings && a.r.opt.Shrink > 0 {
		a.r.warn("%s: only the %d worst of %d findings are minimized; thresh shrink minimizes another", a.id.Name, shrinkFindings, len(groups))
	}
	workers := min(a.workers(), len(groups))
	if a.r.history.deaths.doubtful(a.k) {
		workers = 1 // one of them killed Thresh: with one worker the next death shows which
	}
	l, gone := (*lanes)(nil), a.gone
	if gone == nil {
		if l, gone = a.openLanes(ctx, workers, true); gone != nil {
			gone = fmt.Errorf("starting the target to confirm findings: %w", gone)
		}
	}
	if _, redo := campaign.IsRedo(gone); redo || ctx.Err() != nil {
		return gone
	}
	if gone != nil { // perhaps because of one of the findings
		l, workers = &lanes{call: []*Caller{nil}}, 1
	} else {
		a.watch(l, inflight.Again)
	}
	inTime, done := a.r.untilDeadline(ctx)
	defer done()
	found := make([]campaign.Finding, len(groups))
	shown := newShowing(a.r.findingRoom)
	errs := make([]error, len(groups))
	tctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan int)
	var wg sync.WaitGroup
	for i := range workers {
		s := settler{a: a, call: l.call[i], gone: gone, shown: shown, inTime: inTime, all: len(groups), workers: workers}
		wg.Go(func() {
			for n := range next {
				found[n], errs[n] = s.settle(tctx, groups[n], n)
				if errs[n] != nil {
					cancel()
				}
				a.r.live.settled.Add(1)
			}
		})
	}
	for n := range groups {
		if tctx.Err() != nil {
			errs[n] = tctx.Err()
			continue
		}
		next <- n
	}
	close(next)
	wg.Wait()
	if gone == nil {
		if _, err := l.close(); err != nil {
			a.unclosed = joined(a.unclosed, fmt.Errorf("closing the target: %w", err))
		}
	}
	interrupted := ctx.Err() != nil // the record says so, and keeps what is settled
	for _, err := range errs {
		if !interrupted && err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	a.r.unshown += shown.brief(found)
	a.r.findingRoom = shown.room
	for n := range found {
		if errs[n] == nil {
			a.r.findings = append(a.r.findings, found[n])
		}
	}
	if interrupted {
		return nil
	}
	return gone
}

// settler turns groups into findings on one lane.
type settler struct {
	a     *attempt
	call  *Caller
	gone  error // why the target can no longer be called
	shown *showing

	inTime       context.Context // ends at the deadline of the run
	all, workers int             // number of groups, and of workers that settle them
}

// untilDeadline returns a context that also ends at the run's deadline.
func (r *runner) untilDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, r.deadline)
}

// outOfTime reports whether the deadline, and not the user, ended what was in
// flight.
func (s settler) outOfTime(ctx context.Context) bool {
	return s.inTime.Err() != nil && ctx.Err() == nil
}

// share returns when the n-th group has used its share of the time that is left;
// zero: no limit.
func (s settler) share(n int) time.Time {
	if s.a.r.deadline.IsZero() {
		return time.Time{}
	}
	waiting := (s.all-n-1)/s.workers + 1
	return time.Now().Add(time.Until(s.a.r.deadline) / time.Duration(waiting+1))
}

func (s settler) execute(ctx context.Context, c campaign.Case) (campaign.Outcome, error) {
	return s.call.Execute(ctx, s.a.state, c)
}

// settle confirms the n-th group, and minimizes it if it is one of the first.
func (s settler) settle(ctx context.Context, g *triage.Group, n int) (campaign.Finding, error) {
	a := s.a
	f := campaign.Finding{
		ID: triage.FindingID(a.id, g.Fingerprint), Fingerprint: g.Fingerprint, Contract: a.id.Contract, Campaign: a.id.Name,
		Kind: g.Outcome.Kind, Title: g.Outcome.Title, Severity: g.Outcome.Severity, Cases: g.Cases,
		Signature: g.Outcome.Signature, Cause: g.Outcome.Cause, First: g.Samples[0].Case.Index,
		Samples: a.samples[g.Fingerprint], Evidence: []campaign.Exhibit{},
	}
	f.Reproduce = append(slices.Clone(a.r.opt.Reproduce), f.ID)
	if old, ok := a.r.history.settled[printKey(a.k, g.Fingerprint)]; ok && old.First == f.First && old.Rerun.Errors == 0 && old.Unconfirmed == "" {
		old.Cases, old.Samples, old.Reproduce = f.Cases, f.Samples, f.Reproduce
		s.shown.offer(n, sizeOf(old.Evidence))
		return old, nil
	}
	c := f.Samples[0].Case
	if blob := f.Samples[0].Blob; blob != "" {
		payload, err := a.r.job.Store.Blob(blob)
		if err != nil {
			return f, fmt.Errorf("reading back the input of case %d: %w", c.Index, err)
		}
		c.Payload = notNil(payload)
	}
	if s.call != nil {
		s.call.Watch(f.Kind)
	}
	conf, err := s.confirm(ctx, c, &f, g)
	if err != nil {
		return f, fmt.Errorf("running case %d again: %w", c.Index, err)
	}
	shown := conf.Outcome
	if conf.Rerun.Same == 0 {
		if shown, err = a.firstOf(g); err != nil {
			return f, err
		}
	}
	var smallest []byte
	if r, ok := campaign.As[campaign.Reducer](a.c); ok && n < shrinkFindings && !f.Flaky && f.Unconfirmed == "" && a.r.opt.Shrink > 0 && c.Payload != nil {
		a.r.live.phase.Store(new(PhaseShrink))
		budget := triage.Budget{Tries: a.r.opt.Shrink, Until: s.share(n), Slowest: conf.Slowest}
		red, err := triage.Reduce(s.inTime, r, s.execute, a.id.Contract, g.Fingerprint, c, budget)
		switch {
		case err != nil && s.outOfTime(ctx): // what was tried is not verified
		case err != nil:
			return f, fmt.Errorf("minimizing case %d: %w", c.Index, err)
		case red.NoResult && bytes.Equal(red.Payload, c.Payload): // nothing could be tried
		default:
			if red.Verified {
				whole := shown.Evidence
				shown, smallest = red.Outcome, red.Payload
				shown.Whole = whole
			}
			blob, err := a.r.job.Store.PutBlob(red.Payload)
			if err != nil {
				return f, fmt.Errorf("storing a minimized input: %w", err)
			}
			f.Minimized = &campaign.Minimal{
				Blob: blob, Size: int64(len(red.Payload)), From: int64(len(c.Payload)), Tries: red.Tries, Verified: red.Verified, NoResult: red.NoResult,
				OneMinimal: red.OneMinimal, Spent: red.Spent, Preview: red.Payload[:min(len(red.Payload), maxPreview)], Gauge: campaign.GaugeFrom(ctx, a.c, red.Payload, c.Payload),
			}
		}
	}
	if x, ok := campaign.As[campaign.Refiner](a.c); ok {
		f.Title, f.Severity = x.Refine(f.Title, f.Severity, shown)
	}
	if g, ok := campaign.As[campaign.Grouper[any]](a.c); ok {
		f.Group = g.Group(a.state, shown)
	}
	if f.Kind == campaign.KindEndedLater {
		f.Evidence = append(f.Evidence, a.endedExhibits(c, &shown)...)
	}
	if d, ok := campaign.As[campaign.Describer[any]](a.c); ok {
		f.Evidence = append(f.Evidence, d.Describe(a.state, c, shown, smallest)...)
	}
	if a.r.opt.Explain != nil {
		a.r.opt.Explain(a.r.job.Sources[a.k], &f)
	}
	if !s.shown.offer(n, sizeOf(f.Evidence)) {
		f.Evidence = shortFirst(f.Evidence)
	}
	return f, a.r.note(store.KindFinding, a.k, findingEntry{Settled: &f})
}

// confirm runs the case of a finding again, unless that does harm. If the system
// can no longer be reached, perhaps because of that very case, the finding
// stands unconfirmed.
func (s settler) confirm(ctx context.Context, c campaign.Case, f *campaign.Finding, g *triage.Group) (conf triage.Confirmation, err error) {
	a := s.a
	if f.Unconfirmed = campaign.TraitsOf(a.c).Once(c, &g.Outcome); f.Unconfirmed != "" {
		return conf, nil
	}
	if s.gone != nil {
		f.Unconfirmed = "it could not be run again: " + s.gone.Error()
		return conf, nil
	}
	conf, err = triage.Confirm(s.inTime, s.execute, a.id.Contract, c, f.Fingerprint, max(a.r.opt.Reruns, 1))
	if err != nil && s.outOfTime(ctx) {
		f.Unconfirmed, err = "--time ended before it was run again", nil
	}
	if _, redo := campaign.IsRedo(err); err != nil && ctx.Err() == nil && !redo && !campaign.IsFatal(err) {
		f.Unconfirmed, err = "it could not be run again: "+err.Error(), nil
	}
	f.Rerun, f.Flaky = conf.Rerun, conf.Flaky() && f.Unconfirmed == ""
	return conf, err
}

// notNil returns an empty payload for nil, which means that there is none.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
