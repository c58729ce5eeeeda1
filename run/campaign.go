package run

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run/triage"
	"github.com/thresh-dev/thresh/store"
	"github.com/thresh-dev/thresh/store/inflight"
)

// attempt is one attempt at a campaign: the only one, unless an accelerator
// gives a wrong result and the campaign is run again cold.
type attempt struct {
	r    *runner
	k    int
	try  int // 0, then one more after each [campaign.RedoError]
	cold bool
	c    campaign.Any
	id   campaign.Identity

	counts  campaign.Counts
	missed  reasons // why cases have no result
	skipped reasons // why cases were skipped
	groups  *triage.Groups
	samples map[string][]campaign.Sample // by fingerprint, with the inputs that are stored
	seen    map[string][]attached        // by fingerprint: the evidence of the first case
	digest  *campaign.Digest
	state   any
	names   func(campaign.Case) string // nil: the document gives cases no names
	// exclusive: the probe showed that the target supports only one worker.
	exclusive bool
	limit     int64 // cases that may be run; 0: no limit
	lanes     *lanes
	spare     []folded     // buffer for the next round's fold
	failed    atomic.Int64 // highest index of a failing case so far
	gone      error        // why the target can no longer be called
	unclosed  error        // why the target could not be closed; what it was called for before stands
	opened    bool         // this process called the target for cases
	chunk     int64        // how many cases a worker took at once when the last round ended
	kept      int          // cases without a result that later rounds depend on
	number    int          // of the next round
	next      int64        // index of its first case
	cut       bool         // the last round is incomplete
	over      bool         // there are no more rounds
	closing   bool         // the rounds are closing rounds
	before    int64        // cases counted before the closing rounds
}

// campaign runs campaign k: its rounds, then its triage.
func (r *runner) campaign(ctx context.Context, k int, c campaign.Any) error {
	number, redo := 0, ""
	var facts *campaign.Facts
	if r.job.Journal != nil {
		number, redo, facts = r.history.attempts[k], r.history.redo[k], r.history.facts[k]
	}
	if facts == nil {
		r.live.phase.Store(new(PhaseProbe))
		probe := inflight.Mark{Kind: inflight.Probe, Campaign: k}
		if r.killedRepeatedly(probe, c.Identity().Name, certainDeaths, "tried the target before the first case") {
			return nil
		}
		r.inflight.Begin(0, probe)
		f, err := c.Probe(ctx)
		r.inflight.End(0)
		if err != nil {
			return fmt.Errorf("trying the target before the first case: %w", err)
		}
		if err := r.note(store.KindFacts, k, f); err != nil {
			return err
		}
		facts = &f
	}
	for _, w := range facts.Warnings {
		r.warn("%s", w)
	}
	if r.killedRepeatedly(startMark(k, true), c.Identity().Name, hopelessDeaths, "started the target") {
		return nil
	}
	plain := r.withoutAccelerators(ctx, k)
	if plain {
		r.notes = appendNew(r.notes, c.Identity().Name+": run without accelerator, because Thresh was killed while it tried one")
	}
	for {
		a := &attempt{
			r: r, k: k, try: number, cold: redo != "" || plain, c: c, id: c.Identity(), limit: r.opt.Cases,
			samples: make(map[string][]campaign.Sample), seen: make(map[string][]attached),
			digest: campaign.NewDigest(sha256.New(), c.Identity()),
		}
		a.groups = triage.NewGroups(a.id.Contract, len(r.findings))
		if redo != "" {
			r.notes = appendNew(r.notes, a.id.Name+": run again without accelerator: "+redo)
		}
		reason, again, err := a.run(ctx, *facts)
		if again {
			r.withdrawStop()
			if err := r.note(store.KindRedo, k, redoEntry{reason}); err != nil {
				return err
			}
			number, redo = number+1, reason
			continue
		}
		rec := &r.records[k]
		var sum campaign.Summary
		if x, ok := campaign.As[campaign.Summarizer[any]](c); ok && err == nil {
			sum = x.Summarize(a.state)
			a.counts.Replace(sum.Replaced)
			if sum.Examples != nil {
				sum.Exhibits = append(sum.Exhibits, sum.Examples(ctx)...)
			}
			a.tellFindings(sum.Exhibits)
		}
		rec.Cases = a.counts
		r.digest.Write(a.digest.Sum())
		r.outcomes.Add(a.digest.Root())
		if n := a.counts.Error; n > 0 {
			r.warn("%s: %s without a result: %s", a.id.Name, diag.Plural(n, "case"), &a.missed)
		}
		if n := a.counts.Skip; n > 0 {
			r.warn("%s: %s skipped: %s", a.id.Name, diag.Plural(n, "case"), &a.skipped)
		}
		if err != nil && continues(err) && ctx.Err() == nil { // what was found before is reported
			a.gone = err
			return a.triage(ctx)
		}
		if err != nil {
			return err
		}
		rec.Score, rec.ScoreInterval, rec.Parts = sum.Score, sum.Interval, sum.Parts
		if s, ok := campaign.As[campaign.Figurer[any]](c); ok {
			rec.Figures = s.Figures(a.state)
		}
		r.show(rec, sum.Exhibits)
		for _, text := range sum.Warnings {
			r.warn("%s: %s", a.id.Name, text)
		}
		if ctx.Err() == nil {
			for _, text := range sum.Advice {
				r.advise(a.id.Name, text)
			}
		}
		if sum.Void != "" && !r.opt.AllowEmpty && ctx.Err() == nil {
			r.warn("%s: %s", a.id.Name, sum.Void)
			r.void = r.void || r.stopReason() == "" && a.gone == nil // more cases might have shown something
		}
		err = a.triage(ctx)
		if err == nil {
			err = a.disputed(ctx)
		}
		return joined(a.stillUnclosed(), err)
	}
}

// tellFindings links the cells of matrices to the findings that contain their
// cases.
func (a *attempt) tellFindings(list []campaign.Exhibit) {
	for i := range list {
		if list[i].Matrix == nil {
			continue
		}
		for _, row := range list[i].Matrix.Cells {
			for k := range row {
				if row[k].Case == nil {
					continue
				}
				if g := a.groups.Of(*row[k].Case); g != nil {
					row[k].Finding = triage.FindingID(a.id, g.Fingerprint)
				}
			}
		}
	}
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// run executes the rounds. again asks for another, cold attempt because of
// reason.
func (a *attempt) run(ctx context.Context, facts campaign.Facts) (reason string, again bool, err error) {
	r := a.r
	past := r.openReplay(a.k, a.try)
	defer past.stop()
	a.state, a.exclusive = a.c.Start(facts), facts.Exclusive
	a.names = campaign.NamesOf(a.c, a.state)
	r.live.begin()
	a.counts.Planned = a.planned(0)
	r.live.phase.Store(new(PhaseCases))
	r.closable.Store(false)
	defer func() {
		if cerr := a.closeLanes(); !again {
			a.unclosed = joined(a.unclosed, cerr)
		}
	}()
	before := r.live.executed.Load()
	if err = a.rounds(ctx, past); err == nil && a.close(ctx) {
		closing := &replay{}
		if before == r.live.executed.Load() {
			closing = r.closed(a)
		}
		err = a.rounds(ctx, closing)
		a.counts.Closing = a.counts.Run - a.before
	}
	if reason, redo := campaign.IsRedo(err); redo {
		return reason, true, nil
	}
	if err != nil {
		return "", false, err
	}
	a.counts.Planned = a.planned(a.counts.Run)
	if a.kept > 0 {
		r.warn("%s: %s without a result cannot be run again, because later cases depend on the results before them; start a new run", a.id.Name, diag.Plural(a.kept, "case"))
	}
	return "", false, nil
}

// rounds executes rounds until none are left or the run ends.
func (a *attempt) rounds(ctx context.Context, past *replay) error {
	for ctx.Err() == nil && !a.ended() {
		if !a.closing && a.limit > 0 && a.counts.Run >= a.limit && !past.ok { // the record keeps what has run
			break
		}
		round, ok := a.c.Round(a.state)
		if a.over = !ok; a.over {
			break
		}
		if err := a.round(ctx, round, past); err != nil {
			return err
		}
		a.watchClosing()
	}
	return nil
}

// ended reports whether to stop executing cases.
func (a *attempt) ended() bool {
	if a.gone != nil {
		return true
	}
	why := a.r.stopReason()
	if a.closing {
		return a.cut || why != "" && why != StoppedTime
	}
	return why != ""
}

// workers returns how many lanes may call the target.
func (a *attempt) workers() int {
	if a.exclusive || campaign.TraitsOf(a.c).Exclusive {
		return 1
	}
	return a.r.opt.Workers
}

// useful returns how many lanes are worth opening: no more than there are
// cases.
func (a *attempt) useful() int {
	n := a.workers()
	if planned := campaign.TraitsOf(a.c).Planned; planned > 0 {
		n = int(min(int64(n), planned))
	}
	return n
}

// planned returns how many cases the campaign plans; known if it does not say.
func (a *attempt) planned(known int64) int64 {
	if planned := campaign.TraitsOf(a.c).Planned; planned > 0 {
		known = planned
	}
	if a.limit > 0 { // before it was resumed, the run may have had a higher limit
		known = min(known, max(a.limit, a.counts.Run-a.counts.Closing))
	}
	a.r.live.planned.Store(known)
	return known
}

// round runs one round: it replays what the journal has, executes the rest, and
// releases the outcomes in case order.
func (a *attempt) round(ctx context.Context, round campaign.Round, past *replay) error {
	number, base, before := a.number, a.next, a.counts.Run
	a.number, a.next = number+1, base+round.Len
	end := a.next
	switch {
	case a.closing:
		a.r.live.planned.Store(0)
	case a.limit > 0:
		end = min(end, a.limit)
	}
	col := newCollector(ctx, a, number, round, base)
	later := past.round(number, func(e store.Entry) { col.replayed(e) })
	if later {
		a.kept += col.keepErrors()
	}
	err := a.execute(ctx, col, number, round, base, end)
	a.state, a.cut = col.finish(), a.counts.Run-before < round.Len
	if s, ok := campaign.As[campaign.Figurer[any]](a.c); ok {
		a.r.live.figures.Store(new(s.Figures(a.state)))
	}
	return err
}

// execute passes the cases without a result to the workers, and their results
// to the collector.
func (a *attempt) execute(ctx context.Context, col *collector, number int, round campaign.Round, base, end int64) error {
	r := a.r
	if col.cut || col.seq.Next() >= end {
		return nil
	}
	if u := r.ahead.Load().unit(a.k); u != nil && number == 0 && a.try == 0 && !a.cold {
		return u.collect(a, col)
	}
	if a.lanes == nil {
		r.inflight.Begin(0, startMark(a.k, a.cold))
		opening, cancel := context.WithCancel(ctx) // opened lanes must outlive this context
		open := context.AfterFunc(r.work, cancel)
		l, err := a.openLanes(opening, a.useful(), a.cold)
		open()
		r.inflight.End(0)
		if errors.Is(err, context.Canceled) && ctx.Err() == nil && r.work.Err() != nil {
			return nil // the time was up
		}
		if err != nil {
			return fmt.Errorf("starting the target: %w", err)
		}
		a.watch(l, inflight.Case)
		a.lanes = l
	}
	size := singly
	if b, ok := campaign.As[campaign.Batcher](a.lanes.open[0]); ok {
		size.aim, size.most = b.Batch()
	}
	if err := a.executeSuspects(ctx, col, a.worker(0, number, round, base), base, end); err != nil {
		return err
	}
	sched := newSchedule(col.seq.Next(), end, a.chunk, size, len(a.lanes.open))
	if !a.closing { // --time must not stop closing rounds
		r.sched.Store(sched)
	}
	defer func() {
		r.sched.Store(nil)
		a.chunk = sched.reached()
	}()
	if a.ended() || col.cut {
		sched.stop()
	}
	done := col.known()
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.work, cancel)()
	out := make(chan *[]result, 4*len(a.lanes.open))
	errs := make([]error, len(a.lanes.open))
	var wg sync.WaitGroup
	for i := range a.lanes.open {
		w := a.worker(i, number, round, base)
		w.sched, w.ends, w.done, w.out = sched, sched.empty, done, out
		wg.Go(func() {
			if errs[i] = w.run(wctx); errs[i] != nil {
				cancel() // a lane that fails ends the round for all
			}
		})
	}
	go func() {
		wg.Wait()
		close(out)
	}()
	for batch := range out {
		for i := range *batch {
			col.executed(&(*batch)[i])
		}
		clear(*batch)
		batches.Put(batch)
		sched.advance(col.seq.Next())
		if err := a.noteDisputes(); err != nil && col.err == nil {
			col.err, col.cut = err, true
		}
		if col.cut || a.gone != nil {
			sched.stop()
		}
	}
	if col.err != nil {
		return col.err
	}
	// Report the first cause, not the cancellation that it triggered.
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return nil
}

// worker returns the worker of a lane for one round.
func (a *attempt) worker(lane, number int, round campaign.Round, base int64) *worker {
	return &worker{
		exec: a.lanes.open[lane], caller: a.lanes.call[lane], state: a.state, round: round, number: number, base: base,
		campaign: a.k, attempt: a.try, closing: a.closing, before: a.before, journal: a.r.job.Writer, since: a.r.created, evidence: &a.r.evidence, failed: &a.failed, records: campaign.TraitsOf(a.c).Records,
	}
}

// count updates the live counters. Outcomes come in any order.
func (r *runner) count(o *campaign.Outcome) {
	r.live.done.Add(1)
	r.live.total.Add(1)
	switch o.Verdict {
	case campaign.VerdictFail:
		r.live.failed.Add(1)
	case campaign.VerdictSkip:
		r.live.skipped.Add(1)
	case campaign.VerdictError:
		r.live.errors.Add(1)
	}
}
