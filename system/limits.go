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

// limiter spreads calls evenly, so that no more than the rate's count begin in its
// time.
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

// wait waits for the next place.
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

// Pause waits for a time, less if ctx ends first.
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

// enter waits until one more call may begin, by the limits of the plan. Those of a
// system that runs elsewhere are limits of all machines of a run together.
func (x *session) enter(ctx context.Context, timeout time.Duration) (done func(), err error) {
	l := x.plan.Limits
	if x.gate != nil && len(x.plan.Command) == 0 && x.plan.URL != "" {
		if l.Rate.Count == 0 && l.Concurrency == 0 {
			return func() {}, ctx.Err()
		}
		key := sha256.Sum256([]byte(x.shared.key)) // which may hold secrets
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

// acquire waits for a place among the calls at once.
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

// flight is the calls that are under way.
type flight struct {
	mu    sync.RWMutex
	count atomic.Int64
	begun atomic.Int64
	cut   atomic.Int64 // when a call was last cut, in nanoseconds
	lost  atomic.Int64 // calls that were cut and have not been made again yet
	// One of the calls that were cut is known to have ended the system, or stands for all.
	solved atomic.Bool
}

// lately reports whether a call was cut within a time.
func (f *flight) lately(d time.Duration) bool { return time.Since(time.Unix(0, f.cut.Load())) < d }

// begin enters a call. What it returns leaves, and reports whether others were under way.
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

// A service that says when it wants to be called again, soon, is called again without
// being asked to: what it refuses for so long says nothing of it.
const (
	soon       = 10 * time.Second
	unprompted = 5
)

// retryDelay is how long to wait before a call is tried again; false: it is not.
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
