package run

import (
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

// live is the state of a run that progress displays read while it runs.
type live struct {
	campaigns int
	campaign  atomic.Pointer[campaignLive]
	phase     atomic.Pointer[Phase]
	done      atomic.Int64 // cases of the campaign with an outcome
	planned   atomic.Int64
	failed    atomic.Int64
	skipped   atomic.Int64
	errors    atomic.Int64
	settled   atomic.Int64 // findings of the campaign that are confirmed and minimized
	settling  atomic.Int64 // and how many there are
	findings  atomic.Int64
	figures   atomic.Pointer[[]campaign.Figure] // of the campaign, as of its last round
	total     atomic.Int64                      // cases of the run with an outcome
	executed  atomic.Int64                      // cases executed by this process
}

// begin forgets the cases of the campaign, or of the attempt at it, before.
func (l *live) begin() {
	for _, n := range []*atomic.Int64{&l.done, &l.planned, &l.failed, &l.skipped, &l.errors} {
		n.Store(0)
	}
	l.figures.Store(nil)
}

type campaignLive struct {
	name  string
	index int
}

// How often progress is reported, and how often it is journaled for the charts.
const (
	tellEvery = 250 * time.Millisecond
	keepEvery = time.Second
)

// startProgress reports progress until the returned function is called.
func (r *runner) startProgress() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		var rates rateMeter
		last := time.Now()
		for {
			select {
			case <-quit:
				now := r.snapshot(&rates)
				r.keepPoint(now)
				r.publish(now)
				return
			case at := <-tick.C:
				now := r.snapshot(&rates)
				if at.Sub(last) >= keepEvery {
					last = at
					r.keepPoint(now)
				}
				r.publish(now)
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// keepPoint journals the progress of the run, for the charts and for those who follow
// the run from another process.
func (r *runner) keepPoint(now Snapshot) {
	p := store.Progress{
		ProgressPoint: campaign.ProgressPoint{
			Seconds: time.Since(r.start).Seconds(), Cases: r.live.total.Load(), Findings: now.Findings,
		},
		Phase: string(now.Phase), Campaign: now.Campaign, Index: now.Index, Of: now.Of,
		Done: now.Done, Planned: now.Planned, Workers: now.Workers, Rate: now.Rate,
	}
	// A write error shows up at the next outcome; a chart point is not worth an error.
	_ = r.note(store.KindProgress, 0, p)
	p.Seconds += r.history.seconds
	r.points = downsample(append(r.points, p.ProgressPoint))
}

func (r *runner) publish(now Snapshot) {
	if r.opt.Progress != nil {
		r.opt.Progress(now)
	}
}

func (r *runner) snapshot(rates *rateMeter) Snapshot {
	s := Snapshot{
		RunID: r.job.Writer.RunID(), Of: r.live.campaigns,
		Ran: r.live.done.Load(), ToRun: r.live.planned.Load(), Failed: r.live.failed.Load(), Skipped: r.live.skipped.Load(), Errors: r.live.errors.Load(),
		Findings: int(r.live.findings.Load()), Workers: r.opt.Workers, Elapsed: time.Since(r.start),
	}
	if f := r.live.figures.Load(); f != nil {
		s.Figures = *f
	}
	if p := r.live.phase.Load(); p != nil {
		s.Phase = *p
	}
	if s.Done, s.Planned = s.Ran, s.ToRun; s.Phase == PhaseConfirm || s.Phase == PhaseShrink {
		s.Done, s.Planned = r.live.settled.Load(), r.live.settling.Load()
	}
	if c := r.live.campaign.Load(); c != nil {
		s.Campaign, s.Index = c.name, c.index
	}
	s.Rate = rates.add(time.Now(), r.live.executed.Load())
	if left := s.Planned - s.Done; left > 0 && s.Rate > 0 {
		seconds := float64(left) / s.Rate
		if !r.deadline.IsZero() { // the deadline may come before all cases have run
			seconds = min(seconds, max(time.Until(r.deadline).Seconds(), 0))
		}
		s.ETA = time.Duration(seconds * float64(time.Second))
	}
	return s
}

// rateMeter measures cases per second over the last five seconds.
type rateMeter struct {
	at    [21]time.Time
	count [21]int64
	n     int
}

func (m *rateMeter) add(now time.Time, count int64) float64 {
	i := m.n % len(m.at)
	m.at[i], m.count[i] = now, count
	m.n++
	oldest := 0
	if m.n > len(m.at) {
		oldest = m.n % len(m.at)
	}
	d := now.Sub(m.at[oldest]).Seconds()
	if d <= 0 {
		return 0
	}
	return float64(count-m.count[oldest]) / d
}
