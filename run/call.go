package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// pauses are the waits before a case is executed again after a transient error.
var pauses = [...]time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1600 * time.Millisecond}

// tired is how many cases in a row may fail after all tries. From then on each case gets one
// try, until one succeeds: a service that is down would otherwise cost every case the
// pauses.
const tired = 4

// Caller executes cases on one lane: within a time limit, again after a transient error, and
// with an outcome for every error that ends only its case.
type Caller struct {
	exec     campaign.Executor[any]
	deadline *deadline
	guard    *guard // nil: cases cannot kill the process

	failures int   // cases in a row that transient errors left without a result
	again    int64 // cases that were executed again
	first    error // why the first case was executed again

	life     *campaign.Life
	recent   *Recent
	began    time.Time         // start of the case
	left     *campaign.Outcome // how the system ended while cases were executed together
	watch    time.Duration     // how long a passing case waits for its system to end
	late     *campaign.Outcome // failure of an earlier case, which the next passing case reports
	proved   map[string]bool   // fingerprints of cases that ended the system again
	searches int
}

// NewCaller returns a caller of an executor that was opened in a context with this life. A
// limit of 0 means no limit.
func NewCaller(exec campaign.Executor[any], life *campaign.Life, limit time.Duration) *Caller {
	return &Caller{exec: exec, deadline: &deadline{limit: limit}, life: life, recent: &Recent{}}
}

// Beside makes the caller search the recent cases of all callers of a session when a system
// that they share ends.
func (c *Caller) Beside(r *Recent) { c.recent = r }

// Execute returns an error only if the campaign ends or starts again, or if ctx ended; any
// other error becomes the outcome of its case.
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

// begin returns the context of a case, or of several cases that are executed together.
func (c *Caller) begin(ctx context.Context) context.Context {
	c.life.Calls, c.life.End, c.life.Before, c.life.Cut, c.life.Program = 0, nil, 0, false, nil
	if campaign.LifeOf(ctx) != c.life {
		ctx = campaign.WithLife(ctx, c.life)
	}
	return ctx
}

// Notes reports how many cases were executed again.
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

// errorOutcome is the outcome of a case without a result, because of err or, if late,
// because of the case timeout limit.
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

// deadline is the backstop for single cases. It has one timer per worker, and makes a new
// context only after the old one was cancelled.
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

// extend gives the next of several cases the full limit, unless the limit was exceeded
// already.
func (d *deadline) extend() {
	if d.limit > 0 && d.timer.Stop() {
		d.timer.Reset(d.limit)
	}
}

// stop ends the watch over a case and reports whether the limit was exceeded.
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
