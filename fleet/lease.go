package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run"
)

// laneWork is one lane of a worker on one run.
type laneWork struct {
	s    *session
	lane int
	// unable: the last lease cannot be run here.
	unable bool

	exec campaign.Executor[any]
	call *run.Caller // of exec
	k    int
	cold bool
}

// Outcomes are sent after reportEvery or once they have this many bytes, whichever comes first.
const (
	reportEvery = time.Second
	reportBytes = 256 << 10
)

// queueID takes the place of the lease in requests for a lease.
const queueID = "queue"

// takeFor is how long the coordinator waits for a lease before it answers. A worker's request waits
// longer.
const takeFor = time.Second

var (
	errUnable  = errors.New("it cannot be run here")
	errRefused = errors.New("the coordinator gives this worker no cases")
)

// next takes one lease, if one arrives in time, and works on it.
func (x *laneWork) next() error {
	// A worker that is about to leave also waits for the answer, so that it can give the lease
	// back.
	ctx, cancel := context.WithTimeout(x.s.kill, 3*takeFor)
	defer cancel()
	var t taken
	if err := (&dispatch{x: x, id: queueID}).ask(ctx, kindTake, mustJSON(take{x.s.w.id}), &t); err != nil {
		return err
	}
	if t.Refused != "" {
		x.s.refused.Do(func() { x.s.w.Say("run %s gives this worker no cases: %s", x.s.ann.Run, diag.Cut(t.Refused, 200)) })
		return errRefused
	}
	if t.Lease == nil {
		return nil
	}
	x.s.w.busy.Add(1)
	x.unable = false
	x.serve(t)
	x.s.w.busy.Add(-1)
	if x.unable {
		return errUnable
	}
	return nil
}

// serve works on a lease. The coordinator removes the lease from its queue when it has every
// outcome.
func (x *laneWork) serve(t taken) {
	hold := hold{Worker: x.s.w.id, Deliveries: t.Deliveries}
	d := &dispatch{x: x, id: t.Lease.ID}
	if !x.knows(*t.Lease) {
		x.s.w.Say("run %s: a lease was dropped: %v", x.s.ann.Run, errMalformed)
		return // the coordinator gives it to another worker
	}
	// A worker reports every second that it is busy with a lease. When it falls silent, the lease
	// goes to another worker.
	ctx, cancel := context.WithCancel(x.s.kill)
	var beat sync.WaitGroup
	beat.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				d.publish(kindHold, hold) // if it is lost, the next one arrives
			}
		}
	})
	done, elsewhere := x.lease(ctx, *t.Lease, t.Deliveries)
	cancel()
	beat.Wait()
	if elsewhere {
		hold.After = elsewhereAfter
	}
	if !done {
		hold.Back = true
		d.publish(kindHold, hold) // if it is lost, the lease is given out once this worker is silent
	}
}

func (x *laneWork) knows(l lease) bool {
	return x.s.unfit != "" || l.Campaign >= 0 && l.Campaign < len(x.s.campaigns)
}

// elsewhereAfter is when a lease meant for another worker is given out again.
const elsewhereAfter = 200 * time.Millisecond

// lease executes what is left of a lease. Cases not done are given back, or left to another worker.
func (x *laneWork) lease(ctx context.Context, l lease, deliveries uint64) (done, elsewhere bool) {
	x.s.w.leases.Add(1)
	d := &dispatch{x: x, id: l.ID}
	if x.s.unfit != "" {
		_, _ = d.send(ctx, report{Unfit: x.s.unfit}, nil) // sent again with the next lease
		x.unable = true
		return false, false
	}
	var g grant
	if err := d.ask(ctx, kindClaim, mustJSON(claim{Worker: x.s.w.id, Host: x.s.w.host, Deliveries: deliveries}), &g); err != nil {
		return false, false
	}
	if g.Stale || g.Elsewhere {
		return g.Stale, g.Elsewhere
	}
	if l.Probe {
		f, err := x.s.campaigns[l.Campaign].Probe(ctx)
		if err != nil { // another worker may have what this one lacks
			_, _ = d.send(ctx, report{Unfit: err.Error()}, nil)
			x.unable = true
			return false, false
		}
		_, err = d.send(ctx, report{Last: true, Facts: &f}, nil)
		return err == nil, false
	}
	state, err := x.s.states[l.Campaign].at(ctx, l.State)
	if err == nil {
		err = x.open(ctx, l)
	}
	if err != nil {
		_, _ = d.send(ctx, report{Unfit: err.Error()}, nil)
		x.unable = true
		return false, false
	}
	return x.cases(ctx, d, l, g, state), false
}

// open prepares the executor for a lease.
func (x *laneWork) open(ctx context.Context, l lease) error {
	if x.exec != nil && x.k == l.Campaign && x.cold == l.Cold {
		return nil
	}
	x.close()
	life := &campaign.Life{}
	in := x.s.enter(l.Campaign)
	exec, err := in.Executor(campaign.WithLife(ctx, life), campaign.Lane{Index: x.lane, Of: x.s.w.Lanes, Cold: l.Cold})
	if err != nil {
		return fmt.Errorf("starting the target: %w", errors.Join(err, x.s.leave(l.Campaign)))
	}
	x.exec, x.k, x.cold = exec, l.Campaign, l.Cold
	x.call = run.NewCaller(exec, life, x.s.ann.CaseTimeout)
	x.call.Beside(&in.recent)
	return nil
}

func (x *laneWork) close() {
	if x.exec == nil {
		return
	}
	x.call.Close()
	if err := errors.Join(x.exec.Close(), x.s.leave(x.k)); err != nil {
		x.s.w.Say("run %s: closing the target: %v", x.s.ann.Run, err)
	}
	x.exec = nil
}

// notes returns the executor's notes on how it ran its cases.
func (x *laneWork) notes() []string {
	if n, ok := campaign.As[interface{ Notes() []string }](x.exec); ok {
		return append(n.Notes(), x.call.Notes()...)
	}
	return x.call.Notes()
}

// cases runs the cases of a grant and reports outcomes as it goes.
func (x *laneWork) cases(ctx context.Context, d *dispatch, l lease, g grant, state any) (done bool) {
	round, _ := x.s.campaigns[l.Campaign].Round(state)
	var body []byte
	since := time.Now()
	flush := func(last, handback bool) (stop bool, err error) {
		r := report{Last: last, Handback: handback, Busy: time.Since(since)}
		rec, err := d.send(ctx, r, body)
		body, since = body[:0], time.Now()
		return rec.Stop, err
	}
	for at := range g.order() {
		if x.s.ctx.Err() != nil { // this worker is about to leave, or the run is over
			// If the report is lost, the lease is given out again once this worker is silent.
			_, _ = flush(false, true)
			return false
		}
		c := campaign.Case{Round: l.Round, Index: at}
		if l.Explicit != nil {
			c.Payload = l.Explicit.Payload
		} else {
			c.Payload = round.Payload(at - l.Base)
		}
		o, err := x.call.Execute(ctx, state, c)
		if err != nil {
			r := report{Last: true, Fatal: err.Error()}
			if reason, redo := campaign.IsRedo(err); redo {
				r = report{Last: true, Redo: reason}
			} else if !campaign.IsFatal(err) {
				return false // the coordinator stopped it
			}
			_, err = d.send(ctx, r, nil)
			return err == nil
		}
		x.s.w.cases.Add(1)
		body = appendEntry(body, at, &o)
		if g.Careful || len(body) >= reportBytes || time.Since(since) >= reportEvery {
			if stop, err := flush(false, false); stop || err != nil {
				return stop
			}
		}
	}
	_, err := flush(true, false)
	return err == nil
}

// order yields the cases in the order in which to run them.
func (g grant) order() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if !g.Reverse {
			for _, r := range g.Ranges {
				for i := r[0]; i < r[1]; i++ {
					if !yield(i) {
						return
					}
				}
			}
			return
		}
		for n := len(g.Ranges) - 1; n >= 0; n-- {
			for i := g.Ranges[n][1] - 1; i >= g.Ranges[n][0]; i-- {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// dispatch exchanges messages with the coordinator about one lease.
type dispatch struct {
	x  *laneWork
	id string
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("plain values cannot be encoded: " + err.Error())
	}
	return text
}

func (d *dispatch) subject(kind string) string {
	return prefix + "." + d.x.s.ann.Run + "." + kind + "." + d.id
}

// patience is how long a worker waits for a coordinator that is away.
const patience = 30 * time.Second

// ask sends a message and waits for the answer. It retries for as long as the patience of the link.
func (d *dispatch) ask(ctx context.Context, kind string, data []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, d.x.s.w.link.patience)
	defer cancel()
	for {
		err := d.askOnce(ctx, kind, data, answer)
		if err == nil {
			return nil
		}
		if d.x.s.ctx.Err() != nil && errors.Is(err, nats.ErrNoResponders) {
			return err // nobody is there, and this worker is leaving
		}
		select {
		case <-ctx.Done():
			return err
		case <-d.x.s.ctx.Done():
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// askOnce ignores invalid answers, because a valid one may follow.
func (d *dispatch) askOnce(ctx context.Context, kind string, data []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	nc, ch := d.x.s.w.link.nc, d.x.s.channel
	sub, err := nc.SubscribeSync(nc.NewInbox())
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // it fails only with the connection, which ends the subscription
	nonce := ch.nonce()
	if err := nc.PublishRequest(d.subject(kind), sub.Subject, ch.seal(kind, d.id, nonce, messageFor, data)); err != nil {
		return err
	}
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return err // also nats.ErrNoResponders
		}
		_, text, err := ch.open(answerTo[kind], d.id, nonce, RoleCoordinator, m.Data)
		if err == nil {
			return json.Unmarshal(text, answer)
		}
		d.x.s.w.Say("run %s: an answer to a %s was dropped: %v", d.x.s.ann.Run, kind, err)
	}
}

// answerTo maps a message's kind to that of its answer.
var answerTo = map[string]string{kindTake: kindLease, kindClaim: kindGrant, kindReport: kindReceipt, kindPass: kindPermit}

// publish sends a message that has no answer.
func (d *dispatch) publish(kind string, v any) {
	ch := d.x.s.channel
	_ = d.x.s.w.link.nc.Publish(d.subject(kind), ch.seal(kind, d.id, ch.nonce(), messageFor, mustJSON(v)))
}

// send sends a report. A body too large for a message goes into an object.
func (d *dispatch) send(ctx context.Context, r report, body []byte) (receipt, error) {
	r.Worker, r.Lane = d.x.s.w.id, d.x.lane
	if r.Last && d.x.exec != nil {
		r.Notes = d.x.notes()
	}
	var answer receipt
	if room := d.x.s.w.link.nc.MaxPayload(); int64(len(body)) > room/2 {
		name, data, err := packed("report", body)
		if err == nil {
			err = d.x.s.w.link.put(name, data)
		}
		if err != nil {
			return answer, err
		}
		defer d.x.s.w.link.drop(name)
		r.Object, body = name, nil
	}
	err := d.ask(ctx, kindReport, frame(mustJSON(r), body), &answer)
	return answer, err
}
