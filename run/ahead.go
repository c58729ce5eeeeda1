package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store/inflight"
)

// aheadCases is the largest number of cases of a campaign that is executed ahead: a longer
// one keeps all workers busy by itself. aheadRoom is how many results may wait for the turn
// of their campaign, which bounds their memory.
const (
	aheadCases = 64
	aheadRoom  = 256
)

// ahead executes the cases of several short campaigns with all workers. Outcomes are
// journaled as they come. A campaign collects its own when its turn comes, so what is folded
// and reported is the same as when campaigns run one after the other.
type ahead struct {
	r      *runner
	first  int // campaign of the first unit
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	moved   *sync.Cond
	units   []*unit
	at      int   // index of the unit with the next case
	waiting int64 // results not collected yet
	held    bool  // start no more cases
}

// unit is one campaign that is executed ahead. ahead.mu guards the fields between the blank
// lines.
type unit struct {
	h     *ahead
	a     *attempt // the part that workers need
	round campaign.Round
	end   int64
	lanes *lanes // one for each worker, opened for its first case

	next     int64 // case to hand out
	busy     int   // workers that execute its cases
	results  []result
	err      error // the first error that ended it
	unclosed error // from closing its lanes

	closing sync.Once
	notes   []string // from closed lanes
}

func (r *runner) aheadRound(k int) (round campaign.Round, end int64, ok bool) {
	c := r.job.Campaigns[k]
	if rule := campaign.TraitsOf(c); !rule.Early || rule.Exclusive || rule.Elsewhere {
		return round, 0, false
	}
	if round, ok = c.Round(c.Start(campaign.Facts{})); !ok || round.Len == 0 || round.Len > aheadCases {
		return round, 0, false
	}
	if end = round.Len; r.opt.Cases > 0 {
		end = min(end, r.opt.Cases)
	}
	return round, end, true
}

// startAhead starts executing the campaigns from k on that may be executed ahead; nil if
// there are fewer than two.
func (r *runner) startAhead(ctx context.Context, k int) *ahead {
	if r.opt.Workers < 2 || r.job.Journal != nil || r.opt.Stop != nil {
		return nil // history is read campaign by campaign, and a stop is defined by case order
	}
	h := &ahead{r: r, first: k}
	h.moved = sync.NewCond(&h.mu)
	for ; k < len(r.job.Campaigns); k++ {
		round, end, ok := r.aheadRound(k)
		if !ok {
			break
		}
		c := r.job.Campaigns[k]
		a := &attempt{r: r, k: k, c: c, id: c.Identity(), state: c.Start(campaign.Facts{})}
		h.units = append(h.units, &unit{h: h, a: a, round: round, end: end, lanes: a.newLanes(r.opt.Workers)})
	}
	if len(h.units) < 2 {
		return nil
	}
	ctx, h.cancel = context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { h.hold(true) })
	for i := range r.opt.Workers {
		h.wg.Go(func() { h.work(ctx, i) })
	}
	return h
}

// unit returns the unit of campaign k; nil: the campaign is not executed ahead.
func (h *ahead) unit(k int) *unit {
	if h == nil || k < h.first || k >= h.first+len(h.units) {
		return nil
	}
	return h.units[k-h.first]
}

// hold stops starting cases, or resumes.
func (h *ahead) hold(held bool) {
	if h == nil {
		return
	}
	h.mu.Lock()
	h.held = held
	h.mu.Unlock()
	h.moved.Broadcast()
}

// close cancels what is in flight and closes the lanes of all units.
func (h *ahead) close() error {
	if h == nil {
		return nil
	}
	h.cancel()
	h.wg.Wait()
	var errs []error
	for _, u := range h.units {
		errs = append(errs, u.close())
	}
	return errors.Join(errs...)
}

// take waits for the next case; nil: no cases are left.
func (h *ahead) take(ctx context.Context) (u *unit, index int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ctx.Err() == nil {
		for h.at < len(h.units) && h.units[h.at].next >= h.units[h.at].end {
			h.at++
		}
		if h.at == len(h.units) {
			return nil, 0
		}
		if u = h.units[h.at]; !h.held && h.waiting < aheadRoom {
			u.next++
			u.busy++
			return u, u.next - 1
		}
		h.moved.Wait()
	}
	return nil, 0
}

func (h *ahead) work(ctx context.Context, slot int) {
	for {
		u, i := h.take(ctx)
		if u == nil {
			return
		}
		batch, err := u.execute(ctx, slot, i)
		u.done(batch, err)
	}
}

func (u *unit) execute(ctx context.Context, slot int, i int64) (batch []result, err error) {
	r, l := u.h.r, u.lanes
	mark := r.opt.Workers + slot // the first slots belong to the campaign whose turn it is
	if l.open[slot] == nil {
		r.inflight.Begin(mark, startMark(u.a.k, false))
		err := l.openOne(ctx, slot, campaign.Lane{Index: slot, Of: r.opt.Workers}, r.opt.CaseTimeout)
		r.inflight.End(mark)
		if err != nil {
			return nil, fmt.Errorf("starting the target: %w", err)
		}
		l.call[slot].guard = &guard{r: r, slot: mark, kind: inflight.Case, campaign: u.a.k}
	}
	w := &worker{
		exec: l.open[slot], caller: l.call[slot], state: u.a.state, round: u.round, done: func(int64) bool { return false },
		ends:     func() bool { u.h.mu.Lock(); defer u.h.mu.Unlock(); return u.next >= u.end },
		campaign: u.a.k, journal: r.job.Writer, since: r.created, evidence: &r.evidence, failed: &u.a.failed, records: campaign.TraitsOf(u.a.c).Records,
	}
	_, err = w.cases(ctx, i, i+1, &batch)
	return batch, err
}

// done stores the results of a case. After the unit's last case it closes the lanes.
func (u *unit) done(batch []result, err error) {
	h := u.h
	h.mu.Lock()
	u.results = append(u.results, batch...)
	h.waiting += int64(len(batch))
	if err != nil {
		if u.next = u.end; u.err == nil || errors.Is(u.err, context.Canceled) {
			u.err = err
		}
	}
	last := u.busy == 1 && u.next >= u.end
	h.mu.Unlock()
	if last {
		err = u.close()
	}
	h.mu.Lock()
	if u.busy--; last {
		u.unclosed = err
	}
	h.mu.Unlock()
	h.moved.Broadcast()
}

// close closes the lanes of the unit, which no worker uses any more.
func (u *unit) close() (err error) {
	u.closing.Do(func() {
		l := u.lanes
		l.open = slices.DeleteFunc(l.open, func(x campaign.Executor[any]) bool { return x == nil })
		l.call = slices.DeleteFunc(l.call, func(c *Caller) bool { return c == nil })
		if u.notes, err = l.close(); err != nil {
			err = fmt.Errorf("closing the target: %w", err)
		}
	})
	return err
}

// collect passes the outcomes of a unit to its campaign, whose turn has come.
func (u *unit) collect(a *attempt, col *collector) error {
	h := u.h
	for {
		h.mu.Lock()
		for len(u.results) == 0 && (u.busy > 0 || !h.held && u.next < u.end) {
			h.moved.Wait()
		}
		batch := u.results
		u.results = nil
		if h.waiting -= int64(len(batch)); col.cut || a.gone != nil {
			u.next = u.end
		}
		h.mu.Unlock()
		h.moved.Broadcast()
		if len(batch) == 0 {
			break
		}
		for i := range batch {
			col.executed(&batch[i])
		}
	}
	a.unclosed, a.opened = joined(u.close(), u.unclosed), true
	for _, n := range u.notes {
		a.r.notes = appendNew(a.r.notes, a.id.Name+": "+n)
	}
	switch {
	case col.err != nil:
		return col.err
	case u.err != nil && !errors.Is(u.err, context.Canceled):
		return u.err
	}
	return nil
}
