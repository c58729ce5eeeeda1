package system

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/exchange"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system/program"
)

// session is one worker's view of a system.
type session struct {
	all    *Systems
	shared *shared
	plan   *sut.Plan
	kind   Kind
	site   Site
	own    bool           // the service belongs to this worker
	gate   campaign.Gate  // nil: this process enforces limits alone
	life   *campaign.Life // of the cases; nil: not watched
	limit  time.Duration

	edge    Edge // nil: open one first
	opened  int  // number of edges opened so far
	clean   bool // no calls since the start for this worker
	retried int
	// calls that were cut while others were in progress and repeated alone
	repeated  int
	operation string   // last operation called
	calls     int      // calls since the last reset
	ended     Edge     // edge whose program is known to have ended between two calls
	between   string   // how a program last ended between two calls
	cut       int64    // flight.cut as last seen by this worker
	notes     []string // notes of closed edges
}

// ensure starts the program and opens the edge if they are not running.
func (x *session) ensure(ctx context.Context) error {
	if x.site.Service != nil {
		fresh, err := x.site.Service.Ensure(ctx)
		if err != nil {
			return err
		}
		if fresh && x.edge != nil {
			if err := x.drop(); err != nil {
				return err
			}
		}
	}
	if m, ok := x.edge.(Mortal); ok && m.Dead() {
		if err := x.drop(); err != nil {
			return err
		}
	}
	if x.edge != nil {
		return nil
	}
	edge, err := x.kind(ctx, x.site)
	if err != nil {
		return err
	}
	x.edge = edge
	x.opened++
	return nil
}

func (x *session) drop() error {
	if x.edge == nil {
		return nil
	}
	for _, n := range x.edge.Notes() {
		if !slices.Contains(x.notes, n) {
			x.notes = append(x.notes, n)
		}
	}
	err := x.edge.Close()
	x.edge = nil
	if err != nil {
		return fmt.Errorf("close the system %s: %w", x.plan.Name, err)
	}
	return nil
}

// borrowShared lends this worker the edge that all workers share, if there is one, until back is
// called.
func (x *session) borrowShared() (back func()) {
	e := x.shared.edge
	if e == nil {
		return func() {}
	}
	e.mu.Lock()
	x.edge = e.edge
	return func() {
		e.edge, x.edge = x.edge, nil
		e.mu.Unlock()
	}
}

// Operations implements sut.System.
func (x *session) Operations() []sut.Operation {
	defer x.borrowShared()()
	if x.edge == nil {
		return x.plan.Operations
	}
	return x.edge.Operations()
}

// Reset implements sut.System.
func (x *session) Reset(ctx context.Context) error {
	mode := x.plan.ResetBy()
	x.calls = 0
	x.endedBetween()
	if x.plan.Per == sut.PerCase {
		if err := x.restart(ctx); err != nil {
			return err
		}
	}
	switch mode {
	case sut.ResetNone, sut.ResetProcess:
		return nil
	case sut.ResetRestart:
		if x.plan.Per == sut.PerCase {
			return nil
		}
		return x.restart(ctx)
	case sut.ResetOperation:
		back := x.borrowShared()
		limit := x.resetLimit()
		back()
		o, err := x.Call(ctx, sut.Call{Operation: x.plan.Reset.Operation, Timeout: limit})
		if err != nil {
			return err
		}
		return x.unanswered("reset it by "+x.plan.Reset.Operation, o)
	}
	defer x.borrowShared()()
	return x.fresh(ctx)
}

// fresh resets the system by its kind's own means. If the previous case has damaged the process so
// that it cannot reset, it is replaced once.
func (x *session) fresh(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		limit := x.resetLimit()
		if err := x.ensure(ctx); err != nil {
			return err
		}
		f, ok := x.edge.(Fresher)
		if !ok {
			return diag.Environment("a system of kind %s has no reset by %s", x.plan.Kind, x.plan.ResetBy())
		}
		o, err := f.Fresh(ctx, limit)
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if o.End == sut.Crashed && strings.HasPrefix(o.Why, endedDuring) {
			x.tell(x.life, &o, false)
		}
		err = x.unanswered("reset it", o)
		m, mortal := x.edge.(Mortal)
		if err == nil || attempt > 0 || !mortal || !m.Dead() {
			return err
		}
	}
}

// resetLimit returns the time limit of a reset. A program's first reset also waits for its start,
// because only its answer shows that it has started.
func (x *session) resetLimit() time.Duration {
	if x.clean || !x.running() {
		return max(x.limit, Patience)
	}
	return x.limit
}

// unanswered returns the error of a reset that did not succeed, else nil.
func (x *session) unanswered(doing string, o sut.Observation) error {
	if o.End == sut.Answered {
		return nil
	}
	return diag.Environment("the system %s: %s: %s", x.plan.Name, doing, o.Why)
}

// restart replaces the process, unless it is still unused.
func (x *session) restart(ctx context.Context) error {
	defer x.borrowShared()()
	if x.clean && x.running() {
		return nil
	}
	if err := x.drop(); err != nil {
		return err
	}
	if x.site.Service != nil {
		if err := x.site.Service.Renew(ctx); err != nil {
			return err
		}
	}
	err := x.ensure(ctx)
	x.clean = err == nil && x.alone()
	return err
}

// alone reports whether only this worker calls what it has started.
func (x *session) alone() bool {
	return len(x.plan.Command) > 0 && x.shared.edge == nil && (x.site.Service == nil || x.own)
}

func (x *session) running() bool {
	m, mortal := x.edge.(Mortal)
	return x.edge != nil && !(mortal && m.Dead()) && !(x.site.Service != nil && x.site.Service.HasDied())
}

// Call implements sut.System.
func (x *session) Call(ctx context.Context, c sut.Call) (sut.Observation, error) {
	if c.Timeout <= 0 {
		c.Timeout = x.limit
	}
	for attempt := 1; ; attempt++ {
		o, err := x.callOnce(ctx, c)
		if err != nil {
			return o, err
		}
		wait, retry := retryDelay(&o, attempt, x.plan.Limits.Retries)
		if !retry {
			if o.Status == 429 {
				o.Undeclared, o.End, o.Why = false, sut.Unreachable, "HTTP 429: it asks for fewer calls; set limits.rate or limits.retries"
			}
			return o, nil
		}
		x.retried++
		if err := Pause(ctx, wait); err != nil {
			return o, err
		}
	}
}

func (x *session) callOnce(ctx context.Context, c sut.Call) (sut.Observation, error) {
	done, err := x.enter(ctx, c.Timeout)
	if err != nil {
		return sut.Observation{}, err
	}
	defer done()
	defer x.borrowShared()()
	if o, ended := x.endedBefore(); ended {
		return o, nil
	}
	x.operation = c.Operation
	others := x.shared.flight.begin()
	o, err := x.ask(ctx, c)
	met := others() && o.End == sut.Crashed
	if err == nil && lost(&o) && x.elsewhere() && (met || x.away() && o.End == sut.Crashed || o.End == sut.Unreachable && x.shared.flight.lately(x.limit)) {
		o, err = x.askAlone(ctx, c, o, met)
	}
	if err == nil {
		x.known(&o)
	}
	if err == nil && (o.End == sut.Hung || o.End == sut.Flooded) {
		x.shared.cut.Store(true)
	}
	if c.Input != nil && x.plan.Reply != "" && o.End == sut.Answered {
		o.Value = Returned(&sut.Operation{Returns: x.plan.Reply}, o.Output)
	}
	return o, err
}

// elsewhere reports whether other workers call the same server. What a worker has alone died of its
// own call, which may not fail again after a restart.
func (x *session) elsewhere() bool {
	return (x.plan.URL != "" || x.shared.edge != nil) && x.site.Service == x.shared.service
}

// ask calls the system and opens it first if necessary.
func (x *session) ask(ctx context.Context, c sut.Call) (sut.Observation, error) {
	if n := x.shared.flight.cut.Load(); n != x.cut && x.plan.URL != "" && x.elsewhere() { // its connections may lead to a dead process
		x.cut = n
		if err := x.drop(); err != nil {
			return sut.Observation{}, err
		}
	}
	if err := x.ensure(ctx); err != nil {
		nobody, ok := errors.AsType[*exchange.UnreachableError](err)
		if ok && x.elsewhere() {
			return sut.Observation{End: sut.Unreachable, Why: nobody.Reason}, nil
		}
		if x.opened > 0 && x.elsewhere() && !errors.Is(err, program.ErrGone) && ctx.Err() == nil { // the system ended meanwhile
			return sut.Observation{End: sut.Unreachable, Why: err.Error()}, nil
		}
		return sut.Observation{}, err
	}
	x.clean = false
	o, err := x.edge.Call(ctx, c)
	if err != nil || ctx.Err() != nil {
		return o, errors.Join(err, ctx.Err())
	}
	x.blame(ctx, &o)
	if o.End == sut.Crashed && lost(&o) {
		x.shared.flight.cut.Store(time.Now().UnixNano())
	}
	return o, nil
}

// Notes implements sut.System.
func (x *session) Notes() []string {
	notes := slices.Clone(x.notes)
	if x.edge != nil {
		for _, n := range x.edge.Notes() {
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	if x.site.Service != nil {
		notes = append(notes, x.site.Service.Notes()...)
	}
	if x.between != "" {
		notes = append(notes, fmt.Sprintf("the system %s: the program ended between two calls: %s", x.plan.Name, x.between))
	}
	if x.retried > 0 {
		notes = append(notes, fmt.Sprintf("the system %s: %s retried", x.plan.Name, diag.Plural(x.retried, "call")))
	}
	if x.repeated > 0 {
		notes = append(notes, fmt.Sprintf("the system %s: %d calls were cut off while others were in progress and were repeated alone", x.plan.Name, x.repeated))
	}
	if x.plan.KeepsState() {
		notes = append(notes, fmt.Sprintf("the system %s keeps its state between cases: reset is none", x.plan.Name))
	}
	if x.plan.Unknown != "" {
		notes = append(notes, fmt.Sprintf("the system %s: %s", x.plan.Name, x.plan.Unknown))
	}
	return notes
}

// Close implements sut.System.
func (x *session) Close() error {
	err := x.drop()
	if x.own {
		err = errors.Join(err, x.site.Service.Close())
	}
	return errors.Join(err, x.all.leave(x.shared))
}
