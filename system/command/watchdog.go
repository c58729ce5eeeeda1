package command

import (
	"context"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

// watchdog ends a running case at its deadline or when the caller's context
// does. One timer serves all cases of a lane: it is not set for each of them,
// but looks, when it goes off, at the case that then runs.
type watchdog struct {
	mu   sync.Mutex
	kill func() // ends the running case; called with mu held
	// look is what the running case has had of the processor; called with mu held.
	// nil: not known.
	look func() forkline.Standing
	// full reports that the running case has written more than it may; called
	// with mu held, every [lookEvery] of a case. nil: no limit.
	full      func() bool
	running   bool
	deadline  time.Time
	grace     forkline.Grace
	timer     *time.Timer
	armed     bool
	due       time.Time // when the timer goes off, if armed
	timedOut  bool
	flooded   bool
	cancelled bool

	done   <-chan struct{} // of the context that is followed
	ctx    context.Context
	unhook func() bool
}

// newWatchdog returns a watchdog that ends cases by kill. Kill is never called
// outside of watch and unwatch, so that what it kills cannot be a stranger.
func newWatchdog(kill func()) *watchdog { return &watchdog{kill: kill} }

// follow makes the watchdog heed ctx from now on.
func (w *watchdog) follow(ctx context.Context) {
	if w.ctx != nil && ctx.Done() == w.done {
		return
	}
	if w.unhook != nil {
		w.unhook()
	}
	w.ctx, w.done = ctx, ctx.Done()
	w.unhook = context.AfterFunc(ctx, func() { w.cancel(ctx) })
}

func (w *watchdog) cancel(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running && w.ctx == ctx {
		w.cancelled = true
		w.kill()
	}
}

// watch starts to guard a case that is now running and may take limit: what its start took
// is not its own.
func (w *watchdog) watch(limit time.Duration) {
	deadline := time.Now().Add(limit)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.timedOut, w.flooded, w.cancelled = true, false, false, false
	w.deadline = deadline
	w.grace.Begin(limit)
	// A timer that is set goes off no later than the deadline of an earlier
	// case plus its limit; it is moved only if that is too late for this one.
	if !w.armed || w.due.After(deadline) {
		w.arm(w.next())
	}
	if w.ctx.Err() != nil {
		w.cancelled = true
		w.kill()
	}
}

// unwatch ends the guard; from then on kill is not called. It reports whether
// the case was ended by the watchdog, and why.
func (w *watchdog) unwatch() (timedOut, flooded, cancelled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	return w.timedOut, w.flooded, w.cancelled
}

// lookEvery is the time between two looks at what a case has written: a program
// may write as much as it can in it beyond its limit.
const lookEvery = 50 * time.Millisecond

// next is when the running case is to be looked at.
func (w *watchdog) next() time.Time {
	if w.full != nil {
		if soon := time.Now().Add(lookEvery); soon.Before(w.deadline) {
			return soon
		}
	}
	return w.deadline
}

func (w *watchdog) arm(at time.Time) {
	w.armed, w.due = true, at
	if w.timer == nil {
		w.timer = time.AfterFunc(time.Until(at), w.check)
		return
	}
	w.timer.Reset(time.Until(at))
}

// check is called when the timer goes off.
func (w *watchdog) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.running || w.timedOut || w.flooded:
		w.armed = false
	case w.full != nil && w.full():
		w.armed, w.flooded = false, true
		w.kill()
	case time.Now().Before(w.deadline):
		w.arm(w.next())
	default:
		if more := w.owed(); more > 0 {
			w.deadline = time.Now().Add(more)
			w.arm(w.next())
			return
		}
		w.armed = false
		w.timedOut = true
		w.kill()
	}
}

func (w *watchdog) owed() time.Duration {
	if w.look == nil {
		return 0
	}
	return w.grace.More(w.look)
}

func (w *watchdog) close() {
	if w.unhook != nil {
		w.unhook()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	if w.timer != nil {
		w.timer.Stop()
	}
}
