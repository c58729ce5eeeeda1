package command

import (
	"context"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

// watchdog ends a running case at its deadline or when the caller's context ends. One timer serves
// all cases of a lane: it is not set for each case, but when it expires it checks the case that is
// running then.
type watchdog struct {
	mu   sync.Mutex
	kill func() // ends the running case; called with mu held
	// look reports the processor time that the running case has had; called with mu held. nil:
	// unknown.
	look func() forkline.Standing
	// full reports whether the running case has exceeded its write limit; called with mu held,
	// every [lookEvery] of a case. nil: no limit.
	full      func() bool
	running   bool
	deadline  time.Time
	grace     forkline.Grace
	timer     *time.Timer
	armed     bool
	due       time.Time // when the timer expires, if armed
	timedOut  bool
	flooded   bool
	cancelled bool

	done   <-chan struct{} // of the context being followed
	ctx    context.Context
	unhook func() bool
}

// newWatchdog returns a watchdog that ends cases by kill. It calls kill only between watch and
// unwatch, so that kill cannot hit another process.
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

// watch starts guarding a case that is now running and may take limit; its start does not count.
func (w *watchdog) watch(limit time.Duration) {
	deadline := time.Now().Add(limit)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.timedOut, w.flooded, w.cancelled = true, false, false, false
	w.deadline = deadline
	w.grace.Begin(limit)
	// The timer may still be armed for an earlier case; it is moved only if that is too late for
	// this one.
	if !w.armed || w.due.After(deadline) {
		w.arm(w.next())
	}
	if w.ctx.Err() != nil {
		w.cancelled = true
		w.kill()
	}
}

// unwatch stops guarding; from then on kill is not called. It reports whether and why the watchdog
// ended the case.
func (w *watchdog) unwatch() (timedOut, flooded, cancelled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	return w.timedOut, w.flooded, w.cancelled
}

// lookEvery is the time between two checks of what a case has written. In that time a program may
// exceed its limit by as much as it can write.
const lookEvery = 50 * time.Millisecond

// next returns when to check the running case next.
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

// check runs when the timer expires.
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
