package fleet

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// ticket is a set of cases that a lane of the coordinator waits for, with the leases given out for
// them: one, or a second for an idle worker that starts at the other end.
type ticket struct {
	coordinator *Coordinator
	lease       lease
	facts       campaign.Facts // answer to a probe

	mu      sync.Mutex
	ids     []string
	back    string // the lease that runs from the last case to the first
	lo      int64
	wanted  []bool // by index-lo; whether the case still lacks an outcome
	left    int
	answers []byte   // facts of the outcomes so far, each preceded by its length
	where   []uint32 // by index-lo: position in answers, from 1; 0: no outcome
	dispute func(index int64, first, second campaign.Outcome)
	claims  map[string]uint64 // deliveries, by lease
	excused map[string]uint64 // deliveries after which a worker gave the lease back
	holders map[string]string // last worker to claim a lease
	careful bool
	suspect int64 // the case in flight when the lease was last claimed carefully
	deaths  int
	not     string            // worker that must not get the lease, because it checks that worker's answer
	picked  map[int64]*answer // cases whose answers and workers are kept for a recheck
	lapsed  map[string]bool   // leases given out again because an excluded worker has them

	open sync.Once
	in   chan incoming
	done chan struct{}
}

// fatalDeaths is how many workers a case may end before it is given to no other.
const fatalDeaths = 3

func (t *ticket) init() {
	t.open.Do(func() {
		t.in, t.done = make(chan incoming, 16), make(chan struct{})
		t.claims, t.excused = make(map[string]uint64), make(map[string]uint64)
		t.holders, t.lapsed = make(map[string]string), make(map[string]bool)
		t.where = make([]uint32, len(t.wanted))
		t.suspect = -1
	})
}

func (t *ticket) inbox() chan<- incoming { t.init(); return t.in }
func (t *ticket) over() <-chan struct{}  { t.init(); return t.done }

// ended reports whether nobody waits for the ticket any more.
func (t *ticket) ended() bool {
	t.init()
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// grant tells a worker that has taken a lease what is left of it.
func (t *ticket) grant(id string, q claim) grant {
	t.init()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left == 0 || t.ended() {
		return grant{Stale: true}
	}
	if t.not != "" && t.coordinator.maybeOne(q.Worker, t.not) {
		t.claims[id], t.excused[id] = q.Deliveries, q.Deliveries
		return grant{Elsewhere: true}
	}
	if seen := t.claims[id]; q.Deliveries > 1 && q.Deliveries != seen {
		if t.not == "" {
			t.coordinator.redelivered.Add(1)
		}
		if seen > t.excused[id] { // a worker that never claimed the lease has not run it
			t.loseWorker()
		}
	}
	t.claims[id], t.holders[id] = q.Deliveries, q.Worker
	g := grant{Careful: t.careful, Reverse: id == t.back, Ranges: t.ranges()}
	if t.careful && !t.lease.Probe {
		t.suspect = t.lo + firstOf(t.wanted)
	}
	return g
}

// loseWorker notes that a worker was lost during the lease. From the second loss on it is known
// which case the worker ran, because it reported every one.
func (t *ticket) loseWorker() {
	if !t.careful {
		t.careful = true
		return
	}
	if t.suspect >= 0 && t.suspect == t.lo+firstOf(t.wanted) {
		t.deaths++
	} else {
		t.deaths = 1
	}
}

func firstOf(wanted []bool) int64 {
	for i, w := range wanted {
		if w {
			return int64(i)
		}
	}
	return -1
}

// ranges returns the cases still wanted, as half-open ranges.
func (t *ticket) ranges() [][2]int64 {
	var list [][2]int64
	for i := 0; i < len(t.wanted); i++ {
		if !t.wanted[i] {
			continue
		}
		from := i
		for i < len(t.wanted) && t.wanted[i] {
			i++
		}
		list = append(list, [2]int64{t.lo + int64(from), t.lo + int64(i)})
	}
	return list
}

// complete marks a case as done; false means that it was no longer wanted. A second answer that
// differs from the first is disputed.
func (t *ticket) complete(index int64, o *campaign.Outcome, worker string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := index - t.lo
	if i < 0 || i >= int64(len(t.wanted)) {
		return false
	}
	if p := t.picked[index]; p != nil && t.wanted[i] {
		*p = answer{worker, *o}
	}
	if !t.wanted[i] {
		t.compare(i, o)
		return false
	}
	if at := len(t.answers); at < math.MaxUint32 {
		t.answers = append(t.answers, 0, 0, 0, 0)
		t.answers = o.AppendFacts(t.answers)
		binary.LittleEndian.PutUint32(t.answers[at:], uint32(len(t.answers)-at-4))
		t.where[i] = uint32(at) + 1
	}
	t.wanted[i] = false
	t.left--
	return true
}

// await issues the lease and waits until every case has an outcome, which it passes to each. It
// returns how long workers were busy.
func (t *ticket) await(ctx context.Context, each func(int64, campaign.Outcome) error) (busy time.Duration, err error) {
	t.init()
	defer close(t.done)
	defer t.coordinator.forget(t)
	t.coordinator.flying.Add(1)
	defer t.coordinator.flying.Add(-1)
	t.coordinator.issue(t, false)
	began := time.Now()
	look := time.NewTicker(500 * time.Millisecond)
	defer look.Stop()
	for t.left > 0 {
		select {
		case <-ctx.Done():
			return busy, ctx.Err()
		case m := <-t.in:
			spent, err := t.receive(ctx, m, each)
			busy += spent
			if err != nil {
				return busy, err
			}
		case <-look.C:
			if err := t.coordinator.noCapableWorker(t.lease.Campaign); err != nil {
				return busy, err
			}
			if err := t.quarantine(each); err != nil {
				return busy, err
			}
			t.share(time.Since(began))
		}
	}
	return busy, nil
}

// receive handles one report, and confirms it once its outcomes are stored.
func (t *ticket) receive(ctx context.Context, in incoming, each func(int64, campaign.Outcome) error) (busy time.Duration, err error) {
	stop, refused := false, false
	defer func() {
		if (err == nil || stop) && !refused {
			t.coordinator.answer(in, receipt{Stop: stop || err != nil || t.left == 0}) // an unconfirmed report is sent again
		}
	}()
	var r report
	head, body, err := splitFrame(in.data)
	if err != nil || json.Unmarshal(head, &r) != nil {
		refused = true
		t.coordinator.drop(kindReport, "", errMalformed)
		return 0, nil
	}
	if !t.coordinator.believed(kindReport, r.Worker, in.seal) {
		refused = true
		return 0, nil
	}
	t.coordinator.note(fmt.Sprintf("%s, lane %d", r.Worker, r.Lane+1), r.Notes)
	switch {
	case r.Unfit != "":
		t.coordinator.exclude(r.Worker, t.lease.Campaign, r.Unfit)
		return 0, nil
	case r.Redo != "":
		stop = true
		return r.Busy, &campaign.RedoError{Reason: r.Redo}
	case r.Fatal != "":
		stop = true
		return r.Busy, campaign.Fatal("%s", r.Fatal)
	case r.Handback:
		t.leaseReturned(leaseID(in.m.Subject))
	case t.lease.Probe && r.Facts != nil:
		t.facts = *r.Facts
		t.left, stop = 0, true
		return 0, nil
	}
	if r.Object != "" {
		packed, err := t.coordinator.link.get(ctx, r.Object)
		if err == nil {
			body, err = unpacked(r.Object, packed)
		}
		if err != nil {
			refused = true // an unconfirmed report is sent again
			return 0, nil
		}
	}
	entries, derr := decodeEntries(body)
	if derr == nil && t.lease.Probe && len(entries) > 0 {
		derr = errMalformed // a probe has no cases
	}
	if derr != nil {
		refused = true
		t.coordinator.drop(kindReport, r.Worker, derr)
		return 0, nil
	}
	for i := range entries {
		e := &entries[i]
		if !t.complete(e.index, &e.outcome, r.Worker) {
			continue
		}
		t.coordinator.sum.Add(1)
		if err := each(e.index, e.outcome); err != nil {
			return r.Busy, err
		}
	}
	return r.Busy, nil
}

// leaseReturned notes that a worker gave a lease back because it is leaving.
func (t *ticket) leaseReturned(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.excused[id] = t.claims[id]
}

// quarantine gives up a case that has ended too many workers.
func (t *ticket) quarantine(each func(int64, campaign.Outcome) error) error {
	t.mu.Lock()
	index, deaths := t.suspect, t.deaths
	t.mu.Unlock()
	if deaths < fatalDeaths || index < 0 || each == nil {
		return nil
	}
	o := campaign.Outcome{
		Verdict: campaign.VerdictError, Kind: "quarantined",
		Title: fmt.Sprintf("%d workers were lost while they ran it; no other worker gets it", deaths+1),
	}
	if !t.complete(index, &o, "") {
		return nil
	}
	t.mu.Lock()
	t.deaths, t.suspect = 0, -1
	t.mu.Unlock()
	t.coordinator.quarantined.Add(1)
	t.coordinator.sum.Add(1)
	return each(index, o)
}

// shareAfter is when a lease is slow enough for an idle worker to help. It is not shorter because
// the second lease costs as much as the first.
const shareAfter = 800 * time.Millisecond

// share issues a second lease from the other end if the first takes long and a lane is idle.
func (t *ticket) share(so time.Duration) {
	t.mu.Lock()
	left, shared, taken := t.left, t.back != "", len(t.claims) > 0
	t.mu.Unlock()
	if shared || !taken || left < 2 || t.lease.Explicit != nil || so < shareAfter || t.coordinator.idleLanes() == 0 {
		return
	}
	t.coordinator.stolen.Add(1)
	t.coordinator.issue(t, true)
}

// holder returns the worker that claimed a lease last.
func (t *ticket) holder(id string) string {
	t.init()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.holders[id]
}

// held reports whether a worker has claimed a lease and not given it back.
func (t *ticket) held() bool {
	t.init()
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, deliveries := range t.claims {
		if deliveries > t.excused[id] {
			return true
		}
	}
	return false
}

// replace issues the lease again in place of one that an excluded worker has taken.
func (t *ticket) replace(id string) {
	t.init()
	t.mu.Lock()
	again := !t.lapsed[id] && t.left > 0
	t.lapsed[id] = true
	t.mu.Unlock()
	if again && !t.ended() {
		t.coordinator.issue(t, false)
	}
}
