package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/thresh-dev/thresh/campaign"
)

// The quota of a target that runs elsewhere holds for all workers together: each asks the
// coordinator before a call.

// pass is a worker's request to call a target.
type pass struct {
	Worker string         `json:"worker"`
	Target string         `json:"target"`
	Quota  campaign.Quota `json:"quota"`
	// Free is the place of a call that has ended. Such a message has no answer.
	Free string `json:"free,omitempty"`
}

// permit answers a pass.
type permit struct {
	Full  bool          `json:"full,omitempty"` // ask again
	After time.Duration `json:"after,omitempty"`
	Place string        `json:"place,omitempty"`
}

// passID takes the place of the lease in messages about calls.
const passID = "calls"

const (
	// fullFor is how long the coordinator waits for a free place before it answers. A worker's
	// request waits longer.
	fullFor = 2 * time.Second
	// placeGrace is how long a place is kept beyond the call's own time. The place of a lost worker
	// is then free again.
	placeGrace = 5 * time.Second
)

// limiter keeps the calls of one target within its quota.
type limiter struct {
	mu     sync.Mutex
	next   time.Time            // earliest start of the next call
	serial int                  // number of the last place
	places map[string]time.Time // places of running calls, and when they expire
	freed  chan struct{}        // closed when a place becomes free
}

// enter waits for a free place and returns it with the time at which the call may start.
func (d *limiter) enter(ctx context.Context, q campaign.Quota) permit {
	ctx, cancel := context.WithTimeout(ctx, fullFor)
	defer cancel()
	for {
		p, freed, lapse := d.tryEnter(q, time.Now())
		if !p.Full {
			return p
		}
		t := time.NewTimer(lapse)
		select {
		case <-freed:
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return p
		}
		t.Stop()
	}
}

// tryEnter is enter without waiting. If no place is free, it returns what to wait for: a place that
// is given back, or the time until one expires.
func (d *limiter) tryEnter(q campaign.Quota, now time.Time) (p permit, freed <-chan struct{}, lapse time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.freed == nil {
		d.freed, d.places = make(chan struct{}), make(map[string]time.Time)
	}
	lapse = fullFor
	for place, until := range d.places {
		if left := until.Sub(now); left > 0 {
			lapse = min(lapse, left)
		} else {
			delete(d.places, place)
		}
	}
	if q.AtOnce > 0 && len(d.places) >= q.AtOnce {
		return permit{Full: true}, d.freed, lapse
	}
	if q.Count > 0 {
		if d.next.Before(now) {
			d.next = now
		}
		p.After = d.next.Sub(now)
		d.next = d.next.Add(q.Per / time.Duration(q.Count))
	}
	if q.AtOnce > 0 {
		d.serial++
		p.Place = fmt.Sprint(d.serial)
		d.places[p.Place] = now.Add(p.After + q.Hold + placeGrace)
	}
	return p, nil, 0
}

func (d *limiter) leave(place string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, there := d.places[place]; there {
		delete(d.places, place)
		close(d.freed)
		d.freed = make(chan struct{})
	}
}

// passed answers a worker that wants to call a target.
func (c *Coordinator) passed(m *nats.Msg) {
	in, ok := c.check(kindPass, kindPermit, m)
	if !ok {
		return
	}
	var q pass
	if json.Unmarshal(in.data, &q) != nil {
		c.drop(kindPass, "", errMalformed)
		return
	}
	if !c.believed(kindPass, q.Worker, in.seal) {
		return
	}
	c.mu.Lock()
	d := c.limiters[q.Target]
	if d == nil {
		d = &limiter{}
		c.limiters[q.Target] = d
	}
	c.mu.Unlock()
	if q.Free != "" {
		d.leave(q.Free)
		return
	}
	go func() { c.answer(in, d.enter(c.up, q.Quota)) }() // see asked for why Close does not wait
}

// gate is the gate of a run's lanes on a worker.
type gate struct{ s *session }

// Enter implements [campaign.Gate].
func (g gate) Enter(ctx context.Context, key string, q campaign.Quota) (leave func(), err error) {
	d := &dispatch{x: &laneWork{s: g.s}, id: passID}
	question := pass{Worker: g.s.w.id, Target: key, Quota: q}
	var p permit
	for p.Full = true; p.Full; {
		p = permit{}
		if err := d.ask(ctx, kindPass, mustJSON(question), &p); err != nil {
			return nil, fmt.Errorf("ask the coordinator for a place among the calls of all workers: %w", err)
		}
	}
	leave = func() {}
	if p.Place != "" {
		question.Free = p.Place
		leave = func() { d.publish(kindPass, question) } // if the message is lost, the place expires
	}
	t := time.NewTimer(p.After)
	defer t.Stop()
	select {
	case <-t.C:
		return leave, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
