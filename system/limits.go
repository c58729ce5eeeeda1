package system

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/sut"
)

// limiter spaces calls evenly, so that at most the rate's count begin within its period.
type limiter struct {
	mu    *sync.Mutex
	step  time.Duration
	after time.Time // when the next call may begin
}

func newPace(r sut.Rate) limiter {
	if r.Count == 0 {
		return limiter{}
	}
	return limiter{mu: &sync.Mutex{}, step: r.Per / time.Duration(r.Count)}
}

// wait waits for the next slot.
func (p *limiter) wait(ctx context.Context) error {
	if p.mu == nil {
		return nil
	}
	p.mu.Lock()
	now := time.Now()
	if p.after.Before(now) {
		p.after = now
	}
	left := p.after.Sub(now)
	p.after = p.after.Add(p.step)
	p.mu.Unlock()
	return Pause(ctx, left)
}

// Pause waits for d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter waits until the plan's limits allow another call. The limits of a system that runs
// elsewhere apply to all machines of a run together.
func (x *session) enter(ctx context.Context, timeout time.Duration) (done func(), err error) {
	l := x.plan.Limits
	if x.gate != nil && len(x.plan.Command) == 0 && x.plan.URL != "" {
		if l.Rate.Count == 0 && l.Concurrency == 0 {
			return func() {}, ctx.Err()
		}
		key := sha256.Sum256([]byte(x.shared.key)) // the key may contain secrets
		return x.gate.Enter(ctx, hex.EncodeToString(key[:]),
			campaign.Quota{Count: l.Rate.Count, Per: l.Rate.Per, AtOnce: l.Concurrency, Hold: timeout})
	}
	if done, err = x.shared.acquire(ctx); err != nil {
		return nil, err
	}
	if err = x.shared.pace.wait(ctx); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// acquire waits until another concurrent call is allowed.
func (s *shared) acquire(ctx context.Context) (done func(), err error) {
	if s.places == nil {
		return func() {}, ctx.Err()
	}
	select {
	case s.places <- struct{}{}:
		return func() { <-s.places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// flight tracks the calls in progress.
type flight struct {
	mu    sync.RWMutex
	count atomic.Int64
	begun atomic.Int64
	cut   atomic.Int64 // time of the last cut call, in Unix nanoseconds
	lost  atomic.Int64 // calls that were cut and are not repeated yet
	// solved: one of the calls that were cut is known to have ended the system, or represents all
	// of them.
	solved atomic.Bool
}

// lately reports whether a call was cut less than d ago.
func (f *flight) lately(d time.Duration) bool { return time.Since(time.Unix(0, f.cut.Load())) < d }

// begin records the start of a call. The returned function records its end and reports whether
// other calls were in progress.
func (f *flight) begin() (others func() bool) {
	f.mu.RLock()
	before, beside := f.begun.Add(1), f.count.Add(1) > 1
	return func() bool {
		f.count.Add(-1)
		f.mu.RUnlock()
		return beside || f.begun.Load() > before
	}
}

// Waits before a call is tried again.
const (
	firstWait = 250 * time.Millisecond
	mostWait  = time.Minute
)

// A service that says when to call again, if soon, is called again even without configured retries:
// such a refusal reveals nothing about it.
const (
	soon       = 10 * time.Second
	unprompted = 5
)

// retryDelay returns how long to wait before a call is retried; false if it is not.
func retryDelay(o *sut.Observation, attempt, retries int) (time.Duration, bool) {
	busy := o.Status == 429 || o.Status == 503
	if o.Status == 429 && o.Wait > 0 && o.Wait <= soon {
		retries = max(retries, unprompted)
	}
	if attempt > retries || !busy && o.End != sut.Unreachable {
		return 0, false
	}
	if o.Wait > 0 {
		return min(o.Wait, mostWait), true
	}
	return min(firstWait<<(attempt-1), mostWait), true
}
