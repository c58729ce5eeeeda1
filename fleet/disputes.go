package fleet

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
)

// lateTickets is how many tickets are kept for late answers, and disputesShown how many disputes of
// a campaign are listed.
const (
	lateTickets   = 64
	disputesShown = 20
)

// forget drops a ticket, so that further answers are stale. If another worker may still be busy
// with it, the ticket stays for a while so that the answers can be compared.
func (c *Coordinator) forget(t *ticket) {
	t.mu.Lock()
	c.queue.drop(t.ids...)
	several := len(t.ids) > 1
	for _, deliveries := range t.claims {
		several = several || deliveries > 1
	}
	t.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if several {
		if c.late = append(c.late, t); len(c.late) <= lateTickets {
			return
		}
		t = c.late[0] // first: Delete moves the others into its place
		c.late = slices.Delete(c.late, 0, 1)
	}
	for _, id := range t.ids {
		delete(c.tickets, id)
	}
}

// disputes are the cases of a campaign that two workers answered differently.
type disputes struct {
	list []campaign.Dispute
	all  int64
}

// disputed notes that a case has two different answers.
func (c *Coordinator) disputed(k int, d campaign.Dispute) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.dispute) <= k {
		c.dispute = append(c.dispute, disputes{})
	}
	x := &c.dispute[k]
	if x.all++; len(x.list) < disputesShown {
		x.list = append(x.list, d)
	}
}

// compare compares a second answer with the first. Cases that could not be executed have no answer.
func (t *ticket) compare(i int64, o *campaign.Outcome) {
	if t.dispute == nil || t.where[i] == 0 || o.Verdict == campaign.VerdictError {
		return
	}
	at := t.where[i] - 1
	kept := t.answers[at+4:][:binary.LittleEndian.Uint32(t.answers[at:])]
	if bytes.Equal(kept, o.AppendFacts(nil)) {
		return
	}
	if first, ok := campaign.DecodeFacts(kept); ok && first.Verdict != campaign.VerdictError {
		second := *o
		second.Evidence = nil
		t.where[i] = 0 // compare only once, because reports are sent again
		t.dispute(t.lo+i, first, second)
	}
}

// late reads a report that arrives when every case has its outcome. It comes from a worker believed
// lost, or from the slower of two.
func (t *ticket) late(in incoming) {
	var r report
	head, body, err := splitFrame(in.data)
	if err != nil || json.Unmarshal(head, &r) != nil || !t.coordinator.believed(kindReport, r.Worker, in.seal) {
		return
	}
	entries, err := decodeEntries(body) // outcomes in a separate object are not worth fetching
	if err != nil {
		return
	}
	for i := range entries {
		t.complete(entries[i].index, &entries[i].outcome, r.Worker)
	}
}

// Disputes implements [campaign.Disputer].
func (r remote) Disputes() (list []campaign.Dispute, all int64) {
	r.coordinator.mu.Lock()
	defer r.coordinator.mu.Unlock()
	if r.k >= len(r.coordinator.dispute) {
		return nil, 0
	}
	return slices.Clone(r.coordinator.dispute[r.k].list), r.coordinator.dispute[r.k].all
}
