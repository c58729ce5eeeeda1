package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// pauses are what a case waits before it is executed again because the
// environment failed for one call.
var pauses = [...]time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1600 * time.Millisecond}

// tired is how many cases in a row may fail after all tries; those that follow
// get one try each until one succeeds. A service that is down would otherwise
// cost every case the pauses.
const tired = 4

// Caller executes cases on one lane: within a time limit, again where an error
// is transient, and with an outcome for every error that ends nothing else.
type Caller struct {
	exec     campaign.Executor[any]
	deadline *deadline
	guard    *guard // nil: the process cannot die of a case

	failures int   // cases in a row that transient errors have left without a result
	again    int64 // cases that were executed again
	first    error // why the first of them was

	life     *campaign.Life
	recent   *Recent
	began    time.Time         // the case
	left     *campaign.Outcome // how the system ended when cases were executed together
	watch    time.Duration     // how long a case that passes waits for its system to end
	late     *campaign.Outcome // an earlier case's, until a case that passes reports it
	proved   map[string]bool   // fingerprints of cases that have ended the system again
	searches int
}

// NewCaller returns a caller of an executor, which was opened in a context with this life; a
// limit of 0 is none.
func NewCaller(exec campaign.Executor[any], life *campaign.Life, limit time.Duration) *Caller {
	return &Caller{exec: exec, deadline: &deadline{limit: limit}, life: life, recent: &Recent{}}
}

// Beside has the caller look among the cases of all callers of a session for the one after
// which a system ended that they share.
func (c *Caller) Beside(r *Recent) { c.recent = r }

// Execute returns an error only if the campaign ends or starts again, or if
// ctx ended; any other error is the outcome of its case.
func (c *Caller) Execute(ctx context.Context, state any, at campaign.Case) (campaign.Outcome, error) {
	if c.guard != nil {
		if o, decided := c.guard.begin(ctx, at); decided {
			c.guard.end()
			return o, nil
		}
		defer c.guard.end()
	}
	left := c.left
	c.left, c.began = nil, time.Now()
	for try := 0; ; try++ {
		c.recent.alone.RLock()
		o, late, err := c.once(ctx, state, at)
		c.recent.alone.RUnlock()
		if err == nil {
			c.failures = 0
			return c.settled(ctx, state, at, o, left)
		}
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		if c.life.End != nil && left == nil && !late { // an earlier case may have ended the system
			left = c.life.End
			continue
		}
		if _, redo := campaign.IsRedo(err); redo || campaign.IsFatal(err) {
			return o, err
		}
		if late || !campaign.IsTransient(err) || try == len(pauses) || c.failures >= tired {
			if campaign.IsTransient(err) {
				c.failures++
			}
			return errorOutcome(err, late, c.deadline.limit), nil
		}
		if try == 0 {
			if c.again++; c.first == nil {
				c.first = err
			}
		}
		select {
		case <-ctx.Done():
			return o, ctx.Err()
		case <-time.After(pauses[try]):
		}
	}
}

func (c *Caller) once(ctx context.Context, state any, at campaign.Case) (o campaign.Outcome, late bool, err error) {
	cctx := c.deadline.start(c.begin(ctx))
	o, err = c.exec.Execute(cctx, state, at)
	return o, c.deadline.stop(), err
}

// begin is the context of a case, or of several that are executed together.
func (c *Caller) begin(ctx context.Context) context.Context {
	c.life.Calls, c.life.End, c.life.Before, c.life.Cut, c.life.Program = 0, nil, 0, false, nil
	if campaign.LifeOf(ctx) != c.life {
		ctx = campaign.WithLife(ctx, c.life)
	}
	return ctx
}

// Notes says which cases were executed again.
func (c *Caller) Notes() []string {
	if c.again == 0 {
		return nil
	}
	what := "1 case was"
	if c.again > 1 {
		what = diag.Plural(c.again, "case") + " were"
	}
	return []string{fmt.Sprintf("%s executed again because a call failed: %v", what, c.first)}
}

// Close ends the caller's timer; the executor stays open.
func (c *Caller) Close() { c.deadline.close() }

// errorOutcome is the outcome of a case without a result: err says why, late
// that it was the backstop of limit.
func errorOutcome(err error, late bool, limit time.Duration) campaign.Outcome {
	o := campaign.Outcome{Verdict: campaign.VerdictError, Kind: "environment", Title: err.Error()}
	if _, gone := errors.AsType[*campaign.GoneError](err); gone {
		o.Kind = campaign.KindGone
	}
	if late {
		o.Kind = "case-timeout"
		o.Title = fmt.Sprintf("no outcome within the case timeout of %s", limit)
	}
	return o
}

// deadline is the backstop for single cases: one timer a worker, and a context
// that is only made anew after it was needed.
type deadline struct {
	limit  time.Duration
	timer  *time.Timer
	ctx    context.Context
	cancel context.CancelFunc
	fired  chan struct{}
}

func (d *deadline) start(parent context.Context) context.Context {
	if d.limit <= 0 {
		return parent
	}
	if d.ctx == nil || d.ctx.Err() != nil {
		d.close()
		d.ctx, d.cancel = context.WithCancel(parent)
		fired, cancel := make(chan struct{}), d.cancel
		d.fired = fired
		d.timer = time.AfterFunc(d.limit, func() { close(fired); cancel() })
		return d.ctx
	}
	d.timer.Reset(d.limit)
	return d.ctx
}

// extend gives the next of several cases as long as the first, unless that was late.
func (d *deadline) extend() {
	if d.limit > 0 && d.timer.Stop() {
		d.timer.Reset(d.limit)
	}
}

// stop ends the watch over a case and reports whether it was too late.
func (d *deadline) stop() bool {
	if d.limit <= 0 || d.timer.Stop() {
		return false
	}
	<-d.fired
	return true
}

func (d *deadline) close() {
	if d.timer != nil {
		d.timer.Stop()
		d.cancel()
	}
}
