package fleet

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
)

// DefaultRecheck is the share of cases that another worker executes again if there are workers on
// more than one machine.
const DefaultRecheck = 0.01

// answer is a worker's outcome of a case.
type answer struct {
	worker  string
	outcome campaign.Outcome
}

// otherWorkers reports whether another worker can check what the given one answered for campaign k,
// and whether there are workers on more than one machine.
func (c *Coordinator) otherWorkers(worker string, k int) (there, machines bool) {
	hosts := make(map[string]bool)
	for _, m := range c.workers() {
		there = there || !c.maybeOne(m.ID, worker) && !c.unable(m.ID, k)
		hosts[m.Host] = true
	}
	return there, len(hosts) > 1
}

// unable reports whether a worker cannot run campaign k.
func (c *Coordinator) unable(worker string, k int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, is := c.unfit[unfit{worker, k}]
	return is
}

// maybeOne reports whether two workers may be the same one, because the owner of a key can use many
// names. If all workers share one key, only their names distinguish them.
func (c *Coordinator) maybeOne(a, b string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := c.keyOf[b]
	if a == b || key == "" || c.keyOf[a] != key {
		return a == b
	}
	for id := range c.seen {
		if c.keyOf[id] != key {
			return true
		}
	}
	return false
}

// pick selects the cases to execute again. The selection is random, so that workers cannot predict
// it, and affects only what is checked.
func (c *Coordinator) pick(cases []campaign.Case) map[int64]*answer {
	share := c.set.Recheck
	if share < 0 {
		share = 0
		if _, machines := c.otherWorkers("", -1); machines {
			share = DefaultRecheck
		}
	}
	if share == 0 {
		return nil
	}
	picked := make(map[int64]*answer)
	for _, at := range cases {
		if rand.Float64() < share {
			picked[at.Index] = new(answer)
		}
	}
	return picked
}

// recheck makes other workers execute the picked cases of a ticket again. If the answers differ,
// the case is disputed, and the coordinator executes it itself to learn which worker to exclude.
func (l *remoteLane) recheck(ctx context.Context, st *remoteState, t *ticket, cases []campaign.Case) error {
	may := campaign.TraitsOf(l.r.inner)
	if may.Comparable == campaign.CompareNone {
		return nil
	}
	for _, index := range slices.Sorted(maps.Keys(t.picked)) {
		first := *t.picked[index]
		if there, _ := l.r.coordinator.otherWorkers(first.worker, l.r.k); !there || first.worker == "" || first.outcome.Verdict == campaign.VerdictError {
			continue
		}
		at := cases[slices.IndexFunc(cases, func(c campaign.Case) bool { return c.Index == index })]
		if may.Once(at, &first.outcome) != "" {
			continue // the case changes something, so it runs only once
		}
		second, err := l.executeElsewhere(ctx, t, index, first.worker)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || second.outcome.Verdict == campaign.VerdictError {
			continue // nobody else could execute it
		}
		l.r.coordinator.rechecked.Add(1)
		if may.Comparable.Differing(first.outcome, second.outcome) == "" {
			continue
		}
		t.dispute(index, first.outcome, second.outcome)
		l.judge(ctx, st, at, may.Comparable, first, second)
	}
	return nil
}

// recheckFor is how long another worker has to take a case. For the whole recheck, it is added to the
// case's own limits.
const recheckFor = 10 * time.Second

// executeElsewhere makes a worker other than the given one execute a case of a ticket.
func (l *remoteLane) executeElsewhere(ctx context.Context, t *ticket, index int64, not string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, recheckFor+3*l.r.coordinator.set.CaseTimeout)
	defer cancel()
	second := answer{}
	sub := &ticket{
		coordinator: l.r.coordinator, lo: index, left: 1, wanted: []bool{true}, not: not, lease: t.lease, picked: map[int64]*answer{index: &second},
	}
	began, look := time.Now(), time.NewTicker(500*time.Millisecond)
	defer look.Stop()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				there, _ := l.r.coordinator.otherWorkers(not, l.r.k)
				if !there || !sub.held() && time.Since(began) >= recheckFor {
					cancel() // the others left, were excluded, cannot run it or are busy
				}
			}
		}
	}()
	_, err := sub.await(ctx, func(int64, campaign.Outcome) error { return nil })
	return second, err
}

// judge excludes the worker whose answer contradicts the coordinator's own. If both do, the system
// is nondeterministic, and nobody is excluded.
func (l *remoteLane) judge(ctx context.Context, st *remoteState, at campaign.Case, how campaign.Comparison, first, second answer) {
	exec, err := campaign.Solo(ctx, l.r.inner, campaign.Lane{Of: 1, Cold: true})
	if err != nil {
		l.r.coordinator.report("case %d: workers %s and %s differ, and it cannot be executed here: %v", at.Index, first.worker, second.worker, err)
		return
	}
	call := run.NewCaller(exec, &campaign.Life{}, l.r.coordinator.set.CaseTimeout)
	own, err := call.Execute(ctx, st.inner, at)
	call.Close()
	_ = exec.Close() // it served a single case
	if err != nil || own.Verdict == campaign.VerdictError {
		return
	}
	like1, like2 := how.Differing(own, first.outcome) == "", how.Differing(own, second.outcome) == ""
	if like1 == like2 {
		return
	}
	liar, witness := second, first
	if like2 {
		liar, witness = first, second
	}
	l.r.coordinator.excludeWorker(liar.worker, fmt.Sprintf("it answered %q for case %d, worker %s and the coordinator %q", summary(liar.outcome), at.Index, witness.worker, summary(own)))
}

func summary(o campaign.Outcome) string {
	if o.Title == "" {
		return o.Verdict.String()
	}
	return o.Verdict.String() + ": " + o.Title
}

// excludeWorker stops accepting anything from a worker and gives its leases to others.
func (c *Coordinator) excludeWorker(worker, why string) {
	c.mu.Lock()
	already := c.banned[worker] != ""
	c.banned[worker] = why
	delete(c.seen, worker)
	// Its key is excluded too. Other workers with the same key are spared once, but not when a
	// second worker with it is excluded: a liar that changed its name would change it again.
	key := c.keyOf[worker]
	spared := false
	for id := range c.seen {
		spared = spared || c.keyOf[id] == key
	}
	for id := range c.banned {
		spared = spared && (id == worker || c.keyOf[id] != key)
	}
	if key != "" && !spared {
		c.banned[key] = why
	}
	var held []*ticket
	var ids []string
	for id, t := range c.tickets {
		held, ids = append(held, t), append(ids, id)
	}
	c.mu.Unlock()
	if already {
		return
	}
	c.report("worker %s is excluded: %s; its earlier results stay, unless they were executed again", worker, why)
	for i, t := range held {
		holder := t.holder(ids[i])
		c.mu.Lock()
		out := c.excluded(holder, c.keyOf[holder])
		c.mu.Unlock()
		if out {
			go t.replace(ids[i])
		}
	}
}

func (c *Coordinator) report(format string, args ...any) {
	if c.set.Say != nil {
		c.set.Say(format, args...)
	}
}
