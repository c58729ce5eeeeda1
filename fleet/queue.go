package fleet

import (
	"context"
	"slices"
	"sync"
	"time"
)

// queue holds the unfinished leases of a run, oldest first. It lives in the coordinator's memory,
// because the journal is the record.
type queue struct {
	mu      sync.Mutex
	list    []*queued
	changed chan struct{} // closed when a lease becomes free sooner than expected
}

// queued is a lease that waits for a worker or is with one.
type queued struct {
	lease
	from       time.Time // when it is given out again, unless a worker reports that it is busy with it
	deliveries uint64
}

// unclaimedFor is how long a lease stays with a worker that has not claimed it. The worker may have
// left while its request was on the way.
const unclaimedFor = 2 * time.Second

func (q *queue) put(l lease) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, &queued{lease: l})
	q.wake()
}

// wake wakes all waiters. Call it with mu held.
func (q *queue) wake() {
	if q.changed != nil {
		close(q.changed)
		q.changed = nil
	}
}

// take returns the first lease that nobody is busy with; an empty answer if there is none before
// ctx ends.
func (q *queue) take(ctx context.Context) (t taken) {
	for ctx.Err() == nil {
		t, changed, after := q.tryTake(time.Now())
		if t.Lease != nil {
			return t
		}
		timer := time.NewTimer(after)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return t
}

// tryTake is take without waiting. Without a lease, it returns what to wait for.
func (q *queue) tryTake(now time.Time) (t taken, changed <-chan struct{}, after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	after = takeFor
	for _, l := range q.list {
		left := l.from.Sub(now)
		if left <= 0 {
			l.from = now.Add(unclaimedFor)
			l.deliveries++
			return taken{Lease: &l.lease, Deliveries: l.deliveries}, nil, 0
		}
		after = min(after, left)
	}
	if q.changed == nil {
		q.changed = make(chan struct{})
	}
	return t, q.changed, after
}

// hold sets when a lease is given out again if it is still with the worker that got it last. A
// while of 0 gives it out at once.
func (q *queue) hold(id string, deliveries uint64, while time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.list {
		if l.ID == id && l.deliveries == deliveries {
			sooner := time.Now().Add(while)
			sooner, l.from = l.from, sooner
			if l.from.Before(sooner) {
				q.wake()
			}
		}
	}
}

// drop removes leases that nobody waits for.
func (q *queue) drop(ids ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = slices.DeleteFunc(q.list, func(l *queued) bool { return slices.Contains(ids, l.ID) })
}
