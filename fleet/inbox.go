package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/thresh-dev/thresh/diag"
)

// incoming is a checked message of a worker.
type incoming struct {
	m     *nats.Msg
	seal  seal
	data  []byte
	reply string // kind of the answer
}

// check opens a message about a lease, and notes one that is ignored.
func (c *Coordinator) check(kind, reply string, m *nats.Msg) (in incoming, ok bool) {
	s, data, err := c.channel.open(kind, leaseID(m.Subject), "", RoleWorker, m.Data)
	if err != nil {
		c.drop(kind, "", err)
		if t := c.ticket(m.Subject); t != nil && c.wasRevoked(s.From) {
			go t.replace(leaseID(m.Subject))
		}
		if kind == kindTake && s.stranger { // else its worker waits and nobody knows why
			c.answer(incoming{m, s, nil, reply}, taken{Refused: "its key is not enrolled"})
		}
		return in, false
	}
	return incoming{m, s, data, reply}, true
}

// wasRevoked reports whether a key has worked on this run and is no longer enrolled.
func (c *Coordinator) wasRevoked(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.keyOf {
		if k == key && k != "" && c.channel.keys != nil {
			_, enrolled := c.channel.keys.member(k)
			return !enrolled
		}
	}
	return false
}

// answer answers a message. If the answer is lost, the worker asks again.
func (c *Coordinator) answer(in incoming, v any) {
	_ = in.m.Respond(c.channel.seal(in.reply, leaseID(in.m.Subject), in.seal.Nonce, messageFor, mustJSON(v)))
}

// drop notes an ignored message: its kind, its alleged sender, and what is wrong with it.
func (c *Coordinator) drop(kind, who string, err error) {
	what := kind
	if who != "" {
		what += fmt.Sprintf(" in the name of %q", diag.Cut(who, 60))
	}
	what += ": " + err.Error()
	c.mu.Lock()
	first := false
	if _, known := c.dropped[what]; known || len(c.dropped) < droppedShown {
		first = c.dropped[what] == 0
		c.dropped[what]++
	}
	c.mu.Unlock()
	if first {
		c.report("a message was dropped: %s", what)
	}
}

// droppedShown is how many kinds of ignored messages are distinguished.
const droppedShown = 20

// believed reports whether a message counts: it is signed by the worker that it names, and the
// worker is not excluded.
func (c *Coordinator) believed(kind, worker string, from seal) bool {
	if !from.speaksFor(worker) {
		c.drop(kind, worker, fmt.Errorf("signed by %s", from.name))
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.excluded(worker, from.From)
}

// excluded reports whether a worker or its key is excluded.
func (c *Coordinator) excluded(worker, key string) bool {
	return c.banned[worker] != "" || c.banned[key] != ""
}

// asked gives a worker a lease as soon as there is one.
func (c *Coordinator) asked(m *nats.Msg) {
	in, ok := c.check(kindTake, kindLease, m)
	if !ok {
		return
	}
	var q take
	if json.Unmarshal(in.data, &q) != nil {
		c.drop(kindTake, "", errMalformed)
		return
	}
	if !c.believed(kindTake, q.Worker, in.seal) {
		c.mu.Lock()
		why := cmp.Or(c.banned[q.Worker], c.banned[in.seal.From])
		c.mu.Unlock()
		if why != "" {
			c.answer(in, taken{Refused: why})
		}
		return
	}
	// Close does not wait for this goroutine: it ends with the run, and may start while Close
	// waits.
	go func() {
		ctx, cancel := context.WithTimeout(c.up, takeFor)
		defer cancel()
		c.answer(in, c.queue.take(ctx))
	}()
}

// held notes that a worker is busy with a lease or has given it back.
func (c *Coordinator) held(m *nats.Msg) {
	in, ok := c.check(kindHold, "", m)
	if !ok {
		return
	}
	var h hold
	if json.Unmarshal(in.data, &h) != nil {
		c.drop(kindHold, "", errMalformed)
		return
	}
	if !c.believed(kindHold, h.Worker, in.seal) {
		return
	}
	while := c.set.Patience
	if h.Back {
		while = h.After
	}
	c.queue.hold(leaseID(m.Subject), h.Deliveries, while)
}

// claimed tells a worker what is left of a lease.
func (c *Coordinator) claimed(m *nats.Msg) {
	in, ok := c.check(kindClaim, kindGrant, m)
	if !ok {
		return
	}
	var q claim
	if json.Unmarshal(in.data, &q) != nil {
		c.drop(kindClaim, "", errMalformed)
		return
	}
	t := c.ticket(m.Subject)
	if t != nil && !c.believed(kindClaim, q.Worker, in.seal) {
		// The excluded worker may keep the lease: another one is given out.
		go t.replace(leaseID(m.Subject))
		return
	}
	c.noteWorker(q, in.seal.From)
	g := grant{Stale: true}
	if t != nil {
		g = t.grant(leaseID(m.Subject), q)
	}
	if g.Stale {
		c.queue.drop(leaseID(m.Subject))
	} else if !g.Elsewhere {
		c.queue.hold(leaseID(m.Subject), q.Deliveries, c.set.Patience)
	}
	c.answer(in, g)
}

// noteWorker notes a worker that takes leases before its first statistics arrive.
func (c *Coordinator) noteWorker(q claim, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, known := c.seen[q.Worker]
	if !known {
		m.Stats, c.keyOf[q.Worker] = Stats{Role: RoleWorker, ID: q.Worker, Host: q.Host, Runs: []string{c.ann.Run}}, key
	}
	m.seen = time.Now()
	c.seen[q.Worker] = m
}

// reported passes a report to the lane that waits for it; the lane also answers.
func (c *Coordinator) reported(m *nats.Msg) {
	in, ok := c.check(kindReport, kindReceipt, m)
	if !ok {
		return
	}
	t := c.ticket(m.Subject)
	if t == nil {
		c.answer(in, receipt{Stop: true}) // the worker asks for another lease
		return
	}
	if !t.ended() {
		select {
		case t.inbox() <- in:
			return
		case <-t.over():
		}
	}
	t.late(in)
	c.answer(in, receipt{Stop: true})
}
