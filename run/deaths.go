package run

import (
	"context"
	"hash/crc32"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
	"github.com/thresh-dev/thresh/store/inflight"
)

// When a run is resumed, a case that was in flight when Thresh was killed is executed
// alone, and before that in a process of its own: if that is killed too, the case has no
// result. Without such a process, or if all processes of Thresh are killed together, the
// number of deaths decides.
const (
	certainDeaths  = 2 // without a process of its own
	hopelessDeaths = 3 // with one
)

// Trial is a case to execute in a process of its own.
type Trial struct {
	Store    *store.Store
	RunID    string
	Campaign int
	Start    bool // instead of a case, open a lane with accelerators
	Case     campaign.Case
}

// deathRecord is what the journal says about a process that was killed.
type deathRecord struct {
	Process uint64          `json:"process"` // its number, so that each death counts once
	Marks   []inflight.Mark `json:"marks"`
}

// resumed is the payload of a KindResumed journal entry.
type resumed struct {
	Workers int          `json:"workers"`
	Died    *deathRecord `json:"died,omitempty"`
}

// deaths counts how many processes of the run were killed while they executed a case, or
// tried or started a target.
type deaths struct {
	known map[uint64]bool
	of    map[inflight.Mark]int
}

// add counts the marks of a death. Cases that were executed together count one by one.
func (d *deaths) add(x deathRecord) {
	if d.of == nil {
		d.known, d.of = make(map[uint64]bool), make(map[inflight.Mark]int)
	}
	if d.known[x.Process] {
		return
	}
	d.known[x.Process] = true
	for _, m := range x.Marks {
		n := max(m.Count, 1)
		m.Count = 0
		for range n {
			d.of[m]++
			m.Index++
		}
	}
}

// withoutAccelerators reports whether to run the target of campaign k without accelerators:
// Thresh was killed while they tried inputs of their own, and so is a process that does
// nothing else.
func (r *runner) withoutAccelerators(ctx context.Context, k int) bool {
	died := r.history.deaths.of[startMark(k, false)]
	if trial := r.opt.Trial; trial != nil && died > 0 {
		r.inflight.Begin(0, startMark(k, false))
		defer r.inflight.End(0)
		killed, err := trial(ctx, Trial{Store: r.job.Store, RunID: r.job.Writer.RunID(), Campaign: k, Start: true})
		return err == nil && killed
	}
	return died >= certainDeaths
}

// startMark marks the opening of the lanes of campaign k, with or without accelerators.
func startMark(k int, plain bool) inflight.Mark {
	m := inflight.Mark{Kind: inflight.Start, Campaign: k}
	if plain {
		m.Print = 1
	}
	return m
}

// progress forgets the deaths at plain starts of a campaign that has an outcome since then.
func (d *deaths) progress(k int) {
	if len(d.of) > 0 {
		delete(d.of, startMark(k, true))
	}
}

// suspects returns the cases of a campaign in [lo, hi) that were in flight when a process
// died, in order.
func (d *deaths) suspects(k int, lo, hi int64) []int64 {
	var list []int64
	for m := range d.of {
		if m.Kind == inflight.Case && m.Campaign == k && m.Index >= lo && m.Index < hi {
			list = append(list, m.Index)
		}
	}
	slices.Sort(list)
	return list
}

// doubtful reports whether a process died while it ran findings of a campaign again.
func (d *deaths) doubtful(k int) bool {
	for m := range d.of {
		if m.Kind == inflight.Again && m.Campaign == k {
			return true
		}
	}
	return false
}

// watchDeaths records what an earlier process was doing when it was killed, and starts
// recording what this process does.
func (r *runner) watchDeaths() error {
	var x resumed
	if r.job.Journal != nil {
		process, marks, err := r.job.Writer.Died()
		if err != nil {
			return err
		}
		x.Workers = r.opt.Workers
		if len(marks) > 0 {
			x.Died = &deathRecord{process, marks}
			r.history.deaths.add(*x.Died)
		}
		if err := r.note(store.KindResumed, 0, x); err != nil {
			return err
		}
		if x.Died != nil { // before the file with the marks is overwritten
			if err := r.job.Writer.Sync(); err != nil {
				return &journalError{err}
			}
		}
	}
	var err error
	r.inflight, err = r.job.Writer.InFlight(2 * r.opt.Workers) // the second half is for campaigns that run ahead of their turn
	return err
}

// watch makes the callers of lanes record what they execute. Cases that other machines
// execute cannot harm this process.
func (a *attempt) watch(l *lanes, kind inflight.Kind) {
	if campaign.TraitsOf(a.c).Elsewhere {
		return
	}
	for i, c := range l.call {
		c.guard = &guard{r: a.r, slot: i, kind: kind, campaign: a.k}
	}
}

// guard protects a lane from cases that kill Thresh.
type guard struct {
	r        *runner
	slot     int
	kind     inflight.Kind
	campaign int
}

// begin marks a case. decided means that o is the outcome of the case, since earlier
// processes were killed while they executed it.
func (g *guard) begin(ctx context.Context, at campaign.Case) (o campaign.Outcome, decided bool) {
	m := inflight.Mark{Kind: g.kind, Campaign: g.campaign, Index: at.Index}
	if g.kind == inflight.Again {
		m.Print = crc32.ChecksumIEEE(at.Payload)
	}
	g.r.inflight.Begin(g.slot, m)
	died := 0
	if of := g.r.history.deaths.of; len(of) > 0 {
		died = of[m]
	}
	trial := g.r.opt.Trial
	switch {
	case died == 0, died < certainDeaths && trial == nil:
		return o, false
	case died < hopelessDeaths && trial != nil:
		killed, err := trial(ctx, Trial{Store: g.r.job.Store, RunID: g.r.job.Writer.RunID(), Campaign: g.campaign, Case: at})
		if err != nil || !killed || ctx.Err() != nil {
			return o, false
		}
	}
	return campaign.Outcome{Verdict: campaign.VerdictError, Kind: "killed", Title: "Thresh was killed each time it executed this case"}, true
}

func (g *guard) end() { g.r.inflight.End(g.slot) }

// killedRepeatedly reports whether Thresh was killed at least most times where it probes or
// starts a campaign's target, and warns if so.
func (r *runner) killedRepeatedly(m inflight.Mark, name string, most int, what string) bool {
	if r.history.deaths.of[m] < most {
		return false
	}
	r.warn("%s: Thresh was killed each time it %s; the campaign is not run", name, what)
	return true
}

// executeSuspects executes the cases that were in flight when Thresh died, each with
// nothing else in flight.
func (a *attempt) executeSuspects(ctx context.Context, col *collector, w *worker, lo, hi int64) error {
	done := col.known()
	for _, i := range a.r.history.deaths.suspects(a.k, lo, hi) {
		if done(i) || col.cut || a.ended() {
			continue
		}
		o, err := w.caller.Execute(ctx, w.state, w.at(i))
		if err != nil {
			return err
		}
		var batch []result
		if err := w.journalOutcome(i, o, &batch); err != nil {
			return err
		}
		// This result must survive even if the next case kills Thresh.
		if err := w.journal.Sync(); err != nil {
			return &journalError{err}
		}
		col.past[i] = true
		col.executed(&batch[0])
	}
	return col.err
}
