package fleet

import (
	"context"
	"encoding/json"
	"testing"
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
	c, err := l.js.Consumer(ctx, streamName(run), "workers")
	if err != nil {
		return nil, 0, err
	}
	for ctx.Err() == nil {
		batch, err := c.Fetch(1)
		if err != nil {
			return nil, 0, err
		}
		for m := range batch.Messages() {
			var ls lease
			if err := json.Unmarshal(m.Data(), &ls); err != nil {
				return nil, 0, err
			}
			if ls.Probe {
				_ = m.Nak()
				continue
			}
			answer, err := l.nc.RequestWithContext(ctx, prefix+"."+run+".claim."+ls.ID, mustJSON(claim{Worker: "late", Deliveries: 1}))
			if err != nil {
				return nil, 0, err
			}
			var g grant
			if err := json.Unmarshal(answer.Data, &g); err != nil {
				return nil, 0, err
			}
			at := g.Ranges[0][0]
			return func(o campaign.Outcome) error {
				head := mustJSON(report{Worker: "late", Last: true})
				_, err := l.nc.RequestWithContext(ctx, prefix+"."+run+".report."+ls.ID, frame(head, appendEntry(nil, at, &o)))
				return err
			}, at, m.Nak()
		}
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

// Forget has keys read their trust list again.
func Forget(k *Keys) { k.looked = time.Time{} }

// Wait has workers wait so long for an answer, until the test ends.
func Wait(t *testing.T, d time.Duration) {
	before := patience
	patience = d
	t.Cleanup(func() { patience = before })
}

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
