package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// WireSize is how many bytes an outcome takes in a report.
func WireSize(index int64, o campaign.Outcome) int { return len(appendEntry(nil, index, &o)) }

// Decode reads outcomes as the coordinator does and writes them again.
func Decode(b []byte) ([]byte, error) {
	entries, err := decodeEntries(b)
	var again []byte
	for i := range entries {
		again = appendEntry(again, entries[i].index, &entries[i].outcome)
	}
	return again, err
}

// Borrow takes a lease of cases as a worker would, gives it back, and returns a
// function that reports an outcome for its first case all the same.
func Borrow(ctx context.Context, l *Link, run string) (late func(campaign.Outcome) error, index int64, err error) {
	ask := func(kind, id string, question []byte, answer any) error {
		m, err := l.nc.RequestWithContext(ctx, prefix+"."+run+"."+kind+"."+id, question)
		if err != nil {
			return err
		}
		return json.Unmarshal(m.Data, answer)
	}
	for ctx.Err() == nil {
		var t taken
		if err := ask(kindTake, queueID, mustJSON(take{"late"}), &t); err != nil {
			return nil, 0, err
		}
		if t.Lease == nil {
			continue
		}
		back := func() error {
			return l.nc.Publish(prefix+"."+run+"."+kindHold+"."+t.Lease.ID, mustJSON(hold{Worker: "late", Deliveries: t.Deliveries, Back: true}))
		}
		if t.Lease.Probe {
			if err := back(); err != nil {
				return nil, 0, err
			}
			continue
		}
		var g grant
		if err := ask(kindClaim, t.Lease.ID, mustJSON(claim{Worker: "late", Deliveries: t.Deliveries}), &g); err != nil {
			return nil, 0, err
		}
		at := g.Ranges[0][0]
		return func(o campaign.Outcome) error {
			return ask(kindReport, t.Lease.ID, frame(mustJSON(report{Worker: "late", Last: true}), appendEntry(nil, at, &o)), new(receipt))
		}, at, back()
	}
	return nil, 0, ctx.Err()
}

// Report and Entry make a report as a worker does, unsigned.
func Report(head map[string]any, body []byte) []byte { return frame(mustJSON(head), body) }

// Entry is an outcome of a report.
func Entry(index int64, o campaign.Outcome) []byte { return appendEntry(nil, index, &o) }

// Seal signs a message and Open checks one.
func Seal(k *Keys, run, epoch, bundle, kind, lease, nonce string, lasts time.Duration, data []byte) []byte {
	return channel{k, run, epoch, bundle}.seal(kind, lease, nonce, lasts, data)
}

// Open is the inverse of Seal.
func Open(k *Keys, run, epoch, bundle, kind, lease, nonce, role string, b []byte) ([]byte, error) {
	_, data, err := channel{k, run, epoch, bundle}.open(kind, lease, nonce, role, b)
	return data, err
}

// Forge signs a report with the keys of one member on behalf of the worker whose claim was heard.
func Forge(k *Keys, heard []byte, fields map[string]any, body []byte) []byte {
	rest, _ := bytes.CutPrefix(heard, []byte(sealMagic))
	head, data, _ := splitFrame(rest[:len(rest)-signatureSize])
	var s seal
	var q claim
	_, _ = json.Unmarshal(head, &s), json.Unmarshal(data, &q)
	fields["worker"] = q.Worker
	return Seal(k, s.Run, s.Epoch, s.Bundle, kindReport, s.Lease, "N", time.Minute, Report(fields, body))
}

// Crowd is a coordinator that has heard of workers, each with its key.
func Crowd(keys map[string]string) *Coordinator {
	c := &Coordinator{keyOf: keys, seen: make(map[string]member), banned: make(map[string]string)}
	for id := range keys {
		c.seen[id] = member{seen: time.Now()}
	}
	return c
}

// MaybeOne says whether two workers may be one.
func (c *Coordinator) MaybeOne(a, b string) bool { return c.maybeOne(a, b) }

// Exclude excludes a worker and says which of all workers are believed no more.
func (c *Coordinator) Exclude(worker string) (out []string) {
	c.excludeWorker(worker, "it lied")
	for id, key := range c.keyOf {
		if c.excluded(id, key) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Forget has keys read their trust list again.
func Forget(k *Keys) { k.looked = time.Time{} }

// Wait has the member of a link wait so long for an answer.
func Wait(l *Link, d time.Duration) { l.patience = d }

// Leases is how many leases a worker was given.
func Leases(w *Worker) int64 { return w.leases.Load() }

// Limiter keeps the calls of one target within its quota.
type Limiter struct{ d limiter }

// Take says whether one more call may begin, when, and in which place.
func (d *Limiter) Take(q campaign.Quota, now time.Time) (full bool, after time.Duration, place string) {
	p, _, _ := d.d.tryEnter(q, now)
	return p.Full, p.After, p.Place
}

// Leave gives a place back.
func (d *Limiter) Leave(place string) { d.d.leave(place) }
