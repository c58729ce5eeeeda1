package fleet_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/fleet"
)

// All workers together call a target no oftener, and no more at once, than its
// quota says.
func TestQuotaIsTheFleets(t *testing.T) {
	t.Parallel() // mostly waits
	const cases = 60
	dir := enrolled(t)
	for name, signed := range map[string]bool{"plain": false, "signed": true} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			c := &tally{rounds: 1, perRound: cases, inside: new(atomic.Int64), together: new(atomic.Int64)}
			c.quota = campaign.Quota{Count: 100, Per: time.Second, AtOnce: 2, Hold: time.Minute}
			c.hook = func(campaign.Lane, campaign.Case) error { time.Sleep(15 * time.Millisecond); return nil }
			coordinator, worker := func(*fleet.Settings) {}, func(*fleet.Worker) {}
			if signed {
				coordinator = func(s *fleet.Settings) { s.Keys = keysOf(t, dir, fleet.RoleCoordinator, "coordinator") }
				worker = func(w *fleet.Worker) { w.Keys = keysOf(t, dir, fleet.RoleWorker, "worker") }
			}
			for range 3 {
				y.worker(c, 4, worker)
			}
			began := time.Now()
			rec := y.must(c, true, coordinator)
			if least := (cases - 1) * 10 * time.Millisecond; time.Since(began) < least {
				t.Errorf("%d calls began in %s; 100/s takes %s at least", cases, time.Since(began), least)
			}
			if !rec.Complete || c.together.Load() > 2 {
				t.Errorf("%d at once of 2; %+v", c.together.Load(), rec.Campaigns[0].Cases)
			}
		})
	}
}

// Calls are spread evenly, and the place of a worker that is gone becomes free.
func TestLimiter(t *testing.T) {
	var d fleet.Limiter
	q := campaign.Quota{Count: 10, Per: time.Second, AtOnce: 2, Hold: time.Second}
	now := time.Now()
	_, after, first := d.Take(q, now)
	_, next, second := d.Take(q, now)
	if after != 0 || next != 100*time.Millisecond || first == second {
		t.Fatalf("after %s and %s, places %q and %q", after, next, first, second)
	}
	if full, _, _ := d.Take(q, now); !full {
		t.Error("a third place of two")
	}
	d.Leave(first)
	d.Leave(first)
	if full, after, _ := d.Take(q, now.Add(time.Second)); full || after != 0 {
		t.Errorf("full %v, after %s, though a place was given back", full, after)
	}
	if full, _, _ := d.Take(q, now.Add(2*time.Second)); !full {
		t.Error("a place that was never given back is free before its time")
	}
	if full, _, _ := d.Take(q, now.Add(10*time.Second)); full {
		t.Error("the place of a worker that is gone is kept")
	}
}
