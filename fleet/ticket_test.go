package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// office is a coordinator that no server connects with workers.
func office() *Coordinator {
	return &Coordinator{
		ann: Announcement{Run: "R", Epoch: "e"}, up: context.Background(), tickets: make(map[string]*ticket), seen: make(map[string]member), unfit: make(map[unfit]string),
		banned: make(map[string]string), keyOf: make(map[string]string), dropped: make(map[string]int), said: make(map[string][]string), set: Settings{Patience: time.Hour},
	}
}

// awaited is a ticket for cases from 10 on, and its lease.
func awaited(c *Coordinator, cases int) (t *ticket, id string) {
	t = &ticket{coordinator: c, lo: 10, left: cases, wanted: slices.Repeat([]bool{true}, cases)}
	t.init()
	c.issue(t, false)
	return t, t.ids[0]
}

// about is a message about a lease.
func about(kind, id string, data []byte) *nats.Msg {
	return &nats.Msg{Subject: prefix + ".R." + kind + "." + id, Data: data}
}

// mailbox is where answers to a worker's messages arrive.
type mailbox struct {
	nc  *nats.Conn
	sub *nats.Subscription
}

func newMailbox(t *testing.T) mailbox {
	t.Helper()
	link, err := Connect(t.Context(), Access{URL: "embedded", Dir: t.TempDir()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	sub, err := link.nc.SubscribeSync(link.nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	return mailbox{link.nc, sub}
}

// about is a message about a lease that may be answered.
func (b mailbox) about(kind, id string, data []byte) *nats.Msg {
	return &nats.Msg{Subject: prefix + ".R." + kind + "." + id, Data: data, Reply: b.sub.Subject, Sub: b.sub}
}

// answer is what was answered; "": nothing.
func (b mailbox) answer(t *testing.T) string {
	t.Helper()
	if err := b.nc.Flush(); err != nil { // what was sent before it has arrived
		t.Fatal(err)
	}
	if n, _, err := b.sub.Pending(); err != nil || n == 0 {
		return ""
	}
	m, err := b.sub.NextMsgWithContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(m.Data)
}

// A lease that comes back from a lost worker is run carefully, and the case that was in flight
// when several were lost is given up; a worker that gave it back, or never began, is not lost.
func TestLostWorkers(t *testing.T) {
	c := office()
	k, id := awaited(c, 5)
	say := func(worker string, deliveries uint64) string {
		g := k.grant(id, claim{Worker: worker, Deliveries: deliveries})
		return fmt.Sprintf("%v careful=%t stale=%t back=%t elsewhere=%t; suspect %d, deaths %d, again %d", g.Ranges, g.Careful, g.Stale, g.Reverse, g.Elsewhere, k.suspect, k.deaths, c.redelivered.Load())
	}
	pass := &campaign.Outcome{}
	for i, step := range []struct {
		do   func() string
		want string
	}{
		{func() string { return say("a", 1) }, "[[10 15]] careful=false stale=false back=false elsewhere=false; suspect -1, deaths 0, again 0"},
		{func() string { return say("a", 1) }, "[[10 15]] careful=false stale=false back=false elsewhere=false; suspect -1, deaths 0, again 0"}, // it asks again
		{func() string { k.complete(11, pass, "a"); return say("b", 2) }, "[[10 11] [12 15]] careful=true stale=false back=false elsewhere=false; suspect 10, deaths 0, again 1"},
		{func() string { return say("b", 3) }, "[[10 11] [12 15]] careful=true stale=false back=false elsewhere=false; suspect 10, deaths 1, again 2"},
		{func() string { k.complete(10, pass, "b"); return say("c", 4) }, "[[12 15]] careful=true stale=false back=false elsewhere=false; suspect 12, deaths 1, again 3"},
		{func() string { return say("d", 5) }, "[[12 15]] careful=true stale=false back=false elsewhere=false; suspect 12, deaths 2, again 4"},
		{func() string { k.leaseReturned(id); return say("e", 6) }, "[[12 15]] careful=true stale=false back=false elsewhere=false; suspect 12, deaths 2, again 5"},
		{func() string {
			return fmt.Sprint(k.quarantine(nil), k.quarantine(func(int64, campaign.Outcome) error { return errMalformed }))
		}, "<nil> <nil>"}, // not yet
		{func() string { return say("f", 7) }, "[[12 15]] careful=true stale=false back=false elsewhere=false; suspect 12, deaths 3, again 6"},
	} {
		if got := step.do(); got != step.want {
			t.Errorf("step %d: %s\nwant %s", i, got, step.want)
		}
	}
	given := ""
	for range 2 { // once
		if err := k.quarantine(func(at int64, o campaign.Outcome) error {
			given += fmt.Sprintf("%d %s %s: %s", at, o.Verdict, o.Kind, o.Title)
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	if given != "12 error quarantined: 4 workers were lost while they ran it; no other worker gets it" || c.quarantined.Load() != 1 || c.sum.Load() != 1 || k.left != 2 {
		t.Errorf("given up: %q, %d, %d; %d are left", given, c.quarantined.Load(), c.sum.Load(), k.left)
	}
	k.mu.Lock()
	k.deaths, k.suspect = fatalDeaths, 10 // which has its outcome by now
	k.mu.Unlock()
	if err := k.quarantine(func(int64, campaign.Outcome) error { return errMalformed }); err != nil || c.quarantined.Load() != 1 {
		t.Errorf("a case that is done is given up: %v", err)
	}
	k.deaths, k.suspect = 0, -1
	if got := say("g", 8); got != "[[13 15]] careful=true stale=false back=false elsewhere=false; suspect 13, deaths 1, again 7" {
		t.Error(got)
	}
	c.issue(k, true) // for who starts at the other end
	id = k.back
	if got := say("h", 2); got != "[[13 15]] careful=true stale=false back=true elsewhere=false; suspect 13, deaths 1, again 8" { // nobody had claimed it
		t.Error(got)
	}
	if len(k.ids) != 2 || c.leases.Load() != 2 || k.holder(k.ids[0]) != "g" || k.holder(id) != "h" {
		t.Errorf("leases %v, held by %v", k.ids, k.holders)
	}
	k.complete(13, pass, "h")
	k.complete(14, pass, "h")
	if g := k.grant(id, claim{Worker: "h", Deliveries: 2}); !g.Stale || len(g.Ranges) > 0 {
		t.Errorf("nothing is left of it, and granted is %+v", g)
	}
	over, id := awaited(c, 1)
	close(over.done)
	if g := over.grant(id, claim{Worker: "h", Deliveries: 1}); !g.Stale || !over.ended() {
		t.Errorf("nobody waits for it, and granted is %+v", g)
	}
	probe, id := awaited(c, 1)
	probe.lease.Probe = true
	for n := range uint64(3) {
		probe.grant(id, claim{Worker: "h", Deliveries: n + 1})
	}
	if probe.suspect != -1 || !probe.careful {
		t.Errorf("a probe that ends workers suspects case %d", probe.suspect)
	}
}

// A lease that checks what a worker answered goes to another one, and is not counted as lost.
func TestWhoChecks(t *testing.T) {
	c := office()
	k, id := awaited(c, 1)
	k.not = "a"
	if g := k.grant(id, claim{Worker: "a", Deliveries: 1}); !g.Elsewhere || len(g.Ranges) > 0 || g.Stale {
		t.Errorf("its own answer is checked by it: %+v", g)
	}
	if g := k.grant(id, claim{Worker: "b", Deliveries: 2}); g.Elsewhere || len(g.Ranges) != 1 || g.Careful || c.redelivered.Load() != 0 {
		t.Errorf("another gets %+v, %d are given again", g, c.redelivered.Load())
	}
	if g := k.grant(id, claim{Worker: "c", Deliveries: 3}); !g.Careful || c.redelivered.Load() != 0 {
		t.Errorf("after one was lost, granted is %+v, %d are given again", g, c.redelivered.Load())
	}
}

// A recheck ends after 10 s if nobody takes it, and otherwise only after the case's own limits.
func TestRechecksThatNobodyTakes(t *testing.T) {
	for name, x := range map[string]struct {
		claims string // who claims it in the eighth second, in order
		back   bool   // the last one gives it back
		want   time.Duration
	}{
		"nobody":                   {"", false, recheckFor},
		"only who is checked":      {"a", false, recheckFor},
		"another":                  {"b", false, recheckFor + 3*time.Minute},
		"another that is leaving":  {"b", true, recheckFor},
		"who is checked, after it": {"ba", false, recheckFor},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := office()
			c.set.CaseTimeout = time.Minute
			for _, id := range []string{"a", "b"} {
				c.seen[id] = member{Stats{ID: id, Host: "h"}, time.Now().Add(time.Hour)} // it stays
			}
			go func() {
				time.Sleep(8 * time.Second)
				k, id := c.ticket("x.e-1"), "e-1"
				for i, worker := range x.claims {
					k.grant(id, claim{Worker: string(worker), Deliveries: uint64(i) + 1})
				}
				if x.back {
					k.leaseReturned(id)
				}
			}()
			began := time.Now()
			_, err := (&remoteLane{r: remote{coordinator: c}}).executeElsewhere(t.Context(), &ticket{}, 10, "a")
			if took := time.Since(began); err == nil || took != x.want {
				t.Errorf("%s: it took %s, want %s (%v)", name, took, x.want, err)
			}
		})
	}
}

// An idle lane helps with a lease that takes long, if there is something to share.
func TestSharedLeases(t *testing.T) {
	for name, x := range map[string]struct {
		change func(*Coordinator, *ticket)
		so     time.Duration
		shared bool
	}{
		"long":             {nil, shareAfter, true},
		"not yet":          {nil, shareAfter - 1, false},
		"one case left":    {func(_ *Coordinator, k *ticket) { k.left = 1 }, time.Hour, false},
		"two cases left":   {func(_ *Coordinator, k *ticket) { k.left = 2 }, time.Hour, true},
		"nobody has it":    {func(_ *Coordinator, k *ticket) { k.claims = nil }, time.Hour, false},
		"a case by itself": {func(_ *Coordinator, k *ticket) { k.lease.Explicit = new(explicit) }, time.Hour, false},
		"all are busy": {func(c *Coordinator, _ *ticket) {
			c.seen["b"] = member{Stats{ID: "b", Runs: []string{"R"}, Lanes: 2, Busy: 2}, time.Now()}
		}, time.Hour, false},
		"of another run": {func(c *Coordinator, _ *ticket) {
			c.seen["b"] = member{Stats{ID: "b", Runs: []string{"S"}, Lanes: 2}, time.Now()}
		}, time.Hour, false},
		"long ago": {func(c *Coordinator, _ *ticket) {
			c.seen["b"] = member{Stats{ID: "b", Runs: []string{"R"}, Lanes: 2}, time.Now().Add(-time.Minute)}
		}, time.Hour, false},
		"shared already": {func(c *Coordinator, k *ticket) { c.issue(k, true); c.leases.Add(-1) }, time.Hour, false},
	} {
		c := office()
		k, id := awaited(c, 3)
		k.grant(id, claim{Worker: "a", Deliveries: 1})
		c.seen["b"] = member{Stats{ID: "b", Runs: []string{"S", "R"}, Lanes: 2, Busy: 1}, time.Now()}
		c.seen["over"] = member{Stats{ID: "over", Runs: []string{"R"}, Lanes: 1, Busy: 3}, time.Now()} // says more than it has
		if x.change != nil {
			x.change(c, k)
		}
		before := len(k.ids)
		k.share(x.so)
		if shared := len(k.ids) > before; shared != x.shared || c.stolen.Load() > 0 != x.shared || shared && (k.back != k.ids[1] || c.leases.Load() != 2) {
			t.Errorf("%s: shared %t, leases %v, %d stolen, %d given out", name, shared, k.ids, c.stolen.Load(), c.leases.Load())
		}
	}
}

// The second answer to a case is compared with the first, once, and only real answers are.
func TestSecondAnswers(t *testing.T) {
	c := office()
	k, _ := awaited(c, 4)
	k.wanted[2], k.left = false, 3 // a gap
	var disputes []string
	k.dispute = func(at int64, first, second campaign.Outcome) {
		disputes = append(disputes, fmt.Sprintf("%d: %s or %s, %d of evidence", at, first.Title, second.Title, len(second.Evidence)))
	}
	k.picked = map[int64]*answer{11: new(answer), 12: new(answer)}
	o := func(title string, v campaign.Verdict) *campaign.Outcome {
		return &campaign.Outcome{Verdict: v, Title: title, Elapsed: time.Second, Evidence: []campaign.Attachment{{Name: "stderr", Data: []byte("x")}}}
	}
	for i, x := range []struct {
		at     int64
		o      *campaign.Outcome
		worker string
		taken  bool
	}{
		{9, o("before", campaign.VerdictPass), "a", false}, {14, o("behind", campaign.VerdictPass), "a", false}, {12, o("unwanted", campaign.VerdictPass), "a", false},
		{10, o("one", campaign.VerdictFail), "a", true}, {10, o("one", campaign.VerdictFail), "b", false}, {10, o("no answer", campaign.VerdictError), "b", false},
		{10, o("two", campaign.VerdictFail), "b", false}, {10, o("three", campaign.VerdictFail), "c", false}, // reported once
		{11, o("error", campaign.VerdictError), "a", true}, {11, o("answer", campaign.VerdictPass), "b", false},
		{13, o("last", campaign.VerdictPass), "a", true}, {13, o("other", campaign.VerdictPass), "a", false},
	} {
		if taken := k.complete(x.at, x.o, x.worker); taken != x.taken {
			t.Errorf("answer %d to case %d: taken %t", i, x.at, taken)
		}
	}
	if want := []string{"10: one or two, 0 of evidence", "13: last or other, 0 of evidence"}; !slices.Equal(disputes, want) || k.left != 0 {
		t.Errorf("%q, %d left", disputes, k.left)
	}
	if p := k.picked[11]; p.worker != "a" || p.outcome.Title != "error" || k.picked[12].worker != "" {
		t.Errorf("kept for a check: %+v %+v", p, k.picked[12])
	}
	for i := range disputesShown + 2 {
		c.disputed(1, campaign.Dispute{Case: campaign.Case{Index: int64(i)}})
	}
	for at, want := range map[int][2]int{0: {0, 0}, 1: {disputesShown, disputesShown + 2}, 2: {0, 0}} {
		if list, all := (remote{coordinator: c, k: at}).Disputes(); len(list) != want[0] || all != int64(want[1]) {
			t.Errorf("of campaign %d: %d of %d disputes", at, len(list), all)
		}
	}
}

// What a report says is taken, or it is noted why it is not.
func TestReportsOfALease(t *testing.T) {
	body := func(list ...int64) (b []byte) {
		for _, at := range list {
			b = appendEntry(b, at, &campaign.Outcome{Data: fmt.Append(nil, at)})
		}
		return b
	}
	box := newMailbox(t)
	link := &Link{nc: box.nc}
	object, packedBody, err := packed("report", body(10, 11))
	if err == nil {
		err = link.put(object, packedBody)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		data  []byte
		probe bool
		want  string // cases, left, error, answer
		notes string // of the run
		gives bool   // the lease is given back
	}{
		"outcomes":               {frame(mustJSON(report{Worker: "a", Busy: 7, Notes: []string{"by spawn"}}), body(10, 12)), false, "10 12; 1 left, busy 7ns, <nil>; {}", "worker a, lane 1: by spawn", false},
		"outcomes that are done": {frame(mustJSON(report{Worker: "a"}), body(12, 12, 99)), false, "12; 2 left, busy 0s, <nil>; {}", "", false},
		"given back":             {frame(mustJSON(report{Worker: "a", Handback: true}), body(11)), false, "11; 2 left, busy 0s, <nil>; {}", "", true},
		"unfit":                  {frame(mustJSON(report{Worker: "a", Unfit: "no such program"}), body(11)), false, "; 3 left, busy 0s, <nil>; {}", "worker a could not run it: no such program", false},
		"again, cold":            {frame(mustJSON(report{Worker: "a", Redo: "it differs", Busy: 7}), body(11)), false, "; 3 left, busy 7ns, campaign must be run again cold: it differs; {\"stop\":true}", "", false},
		"the end":                {frame(mustJSON(report{Worker: "a", Fatal: "it is gone", Busy: 7}), body(11)), false, "; 3 left, busy 7ns, it is gone; {\"stop\":true}", "", false},
		"facts":                  {frame(mustJSON(report{Worker: "a", Facts: &campaign.Facts{Data: []byte("seven")}}), nil), true, "; 0 left, busy 0s, <nil>; {\"stop\":true}; seven", "", false},
		"facts nobody asked for": {frame(mustJSON(report{Worker: "a", Facts: &campaign.Facts{Data: []byte("seven")}}), nil), false, "; 3 left, busy 0s, <nil>; {}", "", false},
		"cases of a probe":       {frame(mustJSON(report{Worker: "a"}), body(10)), true, "; 3 left, busy 0s, <nil>; ", `1 message dropped: report in the name of "a": malformed outcomes`, false},
		"nothing of a probe":     {frame(mustJSON(report{Worker: "a"}), nil), true, "; 3 left, busy 0s, <nil>; {}", "", false},
		"all of it":              {frame(mustJSON(report{Worker: "a"}), body(12, 11, 10)), false, "12 11 10; 0 left, busy 0s, <nil>; {\"stop\":true}", "", false},
		"an object":              {frame(mustJSON(report{Worker: "a", Object: object}), nil), false, "10 11; 1 left, busy 0s, <nil>; {}", "", false},
		"an object nobody has":   {frame(mustJSON(report{Worker: "a", Object: "report-1"}), nil), false, "; 3 left, busy 0s, <nil>; ", "", false},
		"no report":              {[]byte("\xff"), false, "; 3 left, busy 0s, <nil>; ", "1 message dropped: report: malformed outcomes", false},
		"no JSON":                {frame([]byte("{"), body(10)), false, "; 3 left, busy 0s, <nil>; ", "1 message dropped: report: malformed outcomes", false},
		"torn outcomes":          {frame(mustJSON(report{Worker: "a"}), body(10)[:3]), false, "; 3 left, busy 0s, <nil>; ", `1 message dropped: report in the name of "a": malformed outcomes`, false},
		"of an excluded worker":  {frame(mustJSON(report{Worker: "liar"}), body(10)), false, "; 3 left, busy 0s, <nil>; ", "worker liar was excluded: it lied", false},
	} {
		c := office()
		c.link = link
		c.note("b, lane 1", []string{"by a fork server"})
		if name == "an object nobody has" {
			Wait(link, time.Millisecond)
		} else {
			Wait(link, time.Minute)
		}
		c.banned["liar"] = "it lied"
		k, id := awaited(c, 3)
		k.lease.Probe = x.probe
		k.claims[id] = 4
		var given []string
		busy, err := k.receive(t.Context(), incoming{m: box.about(kindReport, id, nil), data: x.data}, func(at int64, o campaign.Outcome) error {
			given = append(given, string(o.Data))
			return nil
		})
		got := fmt.Sprintf("%s; %d left, busy %s, %v; %s", strings.Join(given, " "), k.left, busy, err, box.answer(t))
		if k.facts.Data != nil {
			got += "; " + string(k.facts.Data)
		}
		if got != x.want || k.excused[id] == 4 != x.gives || c.sum.Load() != int64(len(given)) {
			t.Errorf("%s: %s, excused %d, %d counted; want %s", name, got, k.excused[id], c.sum.Load(), x.want)
		}
		if notes := strings.Join(c.notes(), "\n"); !strings.Contains(notes, x.notes) || x.notes == "" && strings.Contains(notes, "dropped") {
			t.Errorf("%s: notes %q, want %q", name, notes, x.notes)
		}
	}
	k, id := awaited(office(), 3)
	full := errors.New("the disk is full")
	if busy, err := k.receive(t.Context(), incoming{m: box.about(kindReport, id, nil), data: frame(mustJSON(report{Worker: "a", Busy: 7}), body(10, 11))}, func(int64, campaign.Outcome) error { return full }); !errors.Is(err, full) || busy != 7 || k.left != 2 {
		t.Errorf("%v after %s, %d left", err, busy, k.left)
	}
	if got := box.answer(t); got != "" {
		t.Errorf("what is not stored is confirmed: %s", got)
	}
}

// A lease stays with who says that it is busy, and is free at once when it is given back.
func TestHeldLeases(t *testing.T) {
	for name, x := range map[string]struct {
		hold  any
		after time.Duration // how long it is held then
	}{
		"busy":                {hold{Worker: "a", Deliveries: 1}, time.Hour},
		"given back":          {hold{Worker: "a", Deliveries: 1, Back: true}, 0},
		"left to others":      {hold{Worker: "a", Deliveries: 1, Back: true, After: 3 * time.Hour}, 3 * time.Hour},
		"of an earlier time":  {hold{Worker: "a"}, unclaimedFor},
		"of an excluded one":  {hold{Worker: "liar", Deliveries: 1, Back: true}, unclaimedFor},
		"of nobody who knows": {"what?", unclaimedFor},
	} {
		c := office()
		c.banned["liar"] = "it lied"
		_, id := awaited(c, 1)
		now := time.Now()
		if l, _, _ := c.queue.tryTake(now); l.Lease == nil || l.Lease.ID != id {
			t.Fatal("there is no lease")
		}
		c.held(about(kindHold, id, mustJSON(x.hold)))
		heard := time.Since(now) // the clock goes on
		_, _, after := c.queue.tryTake(now)
		if x.after > 0 {
			after = c.queue.list[0].from.Sub(now)
		}
		if after < x.after || after > x.after+heard {
			t.Errorf("%s: it is free after %s, want %s", name, after, x.after)
		}
		if _, dropped := c.dropped["hold: malformed outcomes"]; dropped != (name == "of nobody who knows") {
			t.Errorf("%s: dropped %v", name, c.dropped)
		}
	}
}

// A claim holds the lease for the worker, which is known from then on; one of a lease that nobody
// waits for removes it.
func TestClaims(t *testing.T) {
	c, box := office(), newMailbox(t)
	_, id := awaited(c, 1)
	now := time.Now()
	c.queue.tryTake(now)
	answered := func(want string) {
		t.Helper()
		if got := box.answer(t); got != want {
			t.Errorf("answered %s, want %s", got, want)
		}
	}
	c.claimed(box.about(kindClaim, id, mustJSON(claim{Worker: "a", Host: "h", Deliveries: 1})))
	answered(`{"ranges":[[10,11]]}`)
	if l := c.queue.list[0]; l.from.Before(now.Add(time.Hour)) || c.seen["a"].Host != "h" || !slices.Equal(c.seen["a"].Runs, []string{"R"}) || len(c.workers()) != 1 {
		t.Errorf("held until %s, known: %+v", l.from, c.seen)
	}
	c.seen["a"] = member{Stats{ID: "a", Lanes: 4}, now.Add(-time.Minute)}
	c.claimed(box.about(kindClaim, id, mustJSON(claim{Worker: "a", Host: "other", Deliveries: 1})))
	answered(`{"ranges":[[10,11]]}`)
	if m := c.seen["a"]; m.Lanes != 4 || m.Host != "" || m.seen.Before(now) {
		t.Errorf("what it said of itself is lost: %+v", m)
	}
	k, checked := awaited(c, 1)
	k.not = "a"
	before := c.queue.list[1].from
	c.claimed(box.about(kindClaim, checked, mustJSON(claim{Worker: "a", Deliveries: 1})))
	answered(`{"elsewhere":true}`)
	if !c.queue.list[1].from.Equal(before) {
		t.Error("who must not have a lease holds it")
	}
	c.claimed(box.about(kindClaim, id, []byte("{")))
	answered("")
	if len(c.queue.list) != 2 || c.dropped["claim: malformed outcomes"] != 1 {
		t.Errorf("%d leases, dropped %v", len(c.queue.list), c.dropped)
	}
	delete(c.tickets, id)
	c.claimed(box.about(kindClaim, id, mustJSON(claim{Worker: "a", Deliveries: 1})))
	answered(`{"stale":true}`)
	if len(c.queue.list) != 1 || c.queue.list[0].ID != checked {
		t.Errorf("%d leases are left", len(c.queue.list))
	}
}

// Messages that are ignored are counted by what is wrong with them, and reported once; of
// very many kinds the first are.
func TestDroppedMessages(t *testing.T) {
	c := office()
	said := 0
	c.set.Say = func(string, ...any) { said++ }
	for i := range droppedShown + 5 {
		for range 3 {
			c.drop(kindReport, fmt.Sprint("w", i), errMalformed)
			if said != min(i+1, droppedShown) {
				t.Errorf("%d reported of %d kinds", said, i+1)
			}
		}
	}
	if said != droppedShown || len(c.dropped) != droppedShown || c.dropped[`report in the name of "w0": malformed outcomes`] != 3 {
		t.Errorf("%d reported, dropped: %v", said, c.dropped)
	}
}

// Notes that all lanes have are given once, others with their lane.
func TestNotesOfLanes(t *testing.T) {
	c := office()
	c.note("a, lane 1", []string{"by spawn", "a fork server"})
	c.note("b, lane 1", []string{"by spawn"})
	c.note("b, lane 1", nil)
	c.redelivered.Store(1)
	c.rechecked.Store(2)
	c.exclude("c", 0, "no such program")
	c.exclude("c", 1, "no such program")
	want := []string{"by spawn", "worker a, lane 1: a fork server", "1 lease had to be given to another worker", "worker c could not run it: no such program", "2 cases executed again by another worker"}
	if got := c.notes(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := c.noCapableWorker(0); err != nil {
		t.Errorf("nobody is there: %v", err)
	}
	c.seen["c"] = member{Stats{ID: "c", Host: "h"}, time.Now()}
	if err := c.noCapableWorker(0); err == nil || !campaign.IsFatal(err) || !strings.HasSuffix(err.Error(), "no worker can run it: h: no such program") {
		t.Errorf("the only one cannot: %v", err)
	}
	if err := c.noCapableWorker(2); err != nil {
		t.Errorf("it was not asked to run another campaign: %v", err)
	}
	for k, want := range map[int]bool{1: false, 2: true} {
		if there, _ := c.otherWorkers("d", k); there != want {
			t.Errorf("campaign %d of another worker can be checked: %v", k, there)
		}
	}
	c.seen["d"] = member{Stats{ID: "d", Host: "h"}, time.Now()}
	if err := c.noCapableWorker(0); err != nil {
		t.Errorf("another can: %v", err)
	}
}

// chained is a campaign whose state is the list of what was folded into it.
type chained struct{ bench }

func (*chained) Fold(s int, results iter.Seq2[campaign.Case, campaign.Outcome]) int {
	for at, o := range results {
		s = s*100 + at.Round*10 + int(at.Index) + len(o.Data)
		if o.Title == "enough" {
			break
		}
	}
	return s
}

// A state is made of the links of its chain, from the newest that is known; some are kept.
func TestChainsOfStates(t *testing.T) {
	links := map[string][]byte{}
	put := func(l chainLink) string {
		name, data, err := l.pack()
		if err != nil {
			t.Fatal(err)
		}
		links[name] = data
		return name
	}
	names := []string{put(chainLink{Facts: &campaign.Facts{}})}
	for i := range keptStates + 2 {
		names = append(names, put(chainLink{Parent: names[i], Round: i + 1, Log: appendEntry(nil, int64(i), &campaign.Outcome{Data: []byte("x")})}))
	}
	fetched := 0
	s := newStates(campaign.Erase(&chained{}), func(_ context.Context, name string) ([]byte, error) {
		fetched++
		if data, ok := links[name]; ok {
			return data, nil
		}
		return nil, fmt.Errorf("no state %s", name)
	})
	for i, x := range []struct {
		name    int
		state   int
		fetches int
	}{
		{2, 7_01_12, 3}, {2, 7_01_12, 0}, {1, 7_01, 0}, {3, 7_01_12_23, 1}, {4, 7_01_12_23_34, 1}, {0, 7, 1}, {1, 7_01, 1}, // the oldest are gone
		{4, 7_01_12_23_34, 0},
	} {
		fetched = 0
		got, err := s.at(t.Context(), names[x.name])
		if err != nil || got != x.state || fetched != x.fetches {
			t.Errorf("step %d: state %v after %d links, want %d after %d, %v", i, got, fetched, x.state, x.fetches, err)
		}
	}
	if len(s.known) != keptStates {
		t.Errorf("%d states are kept", len(s.known))
	}
	two := appendEntry(appendEntry(nil, 4, &campaign.Outcome{Title: "enough"}), 5, &campaign.Outcome{})
	if got, err := s.at(t.Context(), put(chainLink{Parent: names[0], Round: 1, Log: two})); err != nil || got != 7_04 {
		t.Errorf("a campaign that needs no more has the state %v, %v", got, err)
	}
	torn := put(chainLink{Parent: names[0], Round: 3, Log: []byte("\xff")})
	links["state-0"] = links[names[0]]
	for name, want := range map[string]string{"none": "no state none", torn: "read the log of round 2: malformed outcomes", "state-0": "does not match its name"} {
		if _, err := s.at(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A log has every outcome of a round, without what states do not depend on, however little of it
// is read.
func TestLogsOfRounds(t *testing.T) {
	var log []byte
	read := 0
	for range logResults(func(yield func(campaign.Case, campaign.Outcome) bool) {
		for i := range int64(3) {
			if !yield(campaign.Case{Index: i}, campaign.Outcome{Title: fmt.Sprint(i), Elapsed: 1, Evidence: []campaign.Attachment{{Name: "x"}}}) {
				return
			}
		}
	}, &log) {
		if read++; read == 2 {
			break
		}
	}
	entries, err := decodeEntries(log)
	if err != nil || len(entries) != 3 || read != 2 {
		t.Fatalf("%d entries, %d read, %v", len(entries), read, err)
	}
	for i, e := range entries {
		if e.index != int64(i) || e.outcome.Title != fmt.Sprint(i) || e.outcome.Elapsed != 0 || e.outcome.Evidence != nil {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
}

// What people see of a server's address has no password and no token.
func TestRedactedAddresses(t *testing.T) {
	for url, want := range map[string]string{
		"nats://127.0.0.1:4222": "nats://127.0.0.1:4222", "nats://token@h:1": "nats://xxxxx@h:1", "nats://anna:word@h:1": "nats://anna:xxxxx@h:1",
		"nats://t@h:1,tls://u:p@g": "nats://xxxxx@h:1,tls://u:xxxxx@g", "@h:%zz": "...@h:%zz", "tok%zz@h": "...@h", "a@tok%zz@h": "...@h", "%zz": "%zz", "": "",
	} {
		if got := redact(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// A trust list that cannot be written is an error.
func TestTrustThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if _, err := InitKeys(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, TrustFile+".new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Enroll(dir, RoleWorker, "late", ""); diag.ExitCode(err) != diag.ExitEnvironment {
		t.Errorf("enrolled: %v", err)
	}
	if _, err := Revoke(dir, RoleWorker); diag.ExitCode(err) != diag.ExitEnvironment {
		t.Errorf("revoked: %v", err)
	}
	if list, err := Members(dir); err != nil || len(list) != 2 {
		t.Errorf("%v %v", list, err)
	}
}

// A report that is too large for a message goes into an object, which is withdrawn once the
// coordinator has it.
func TestLargeReports(t *testing.T) {
	link, err := Connect(t.Context(), Access{URL: "embedded", Dir: t.TempDir()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	d := newBenchDesk(t, link, "R")
	room := int(link.nc.MaxPayload())
	for size, object := range map[int]bool{room / 2: false, room/2 + 1: true, room + 1: true} {
		o := &campaign.Outcome{}
		o.Data = make([]byte, size-len(appendEntry(nil, 10, &campaign.Outcome{Data: make([]byte, size)}))+size)
		body := appendEntry(nil, 10, o)
		if len(body) != size {
			t.Fatalf("%d bytes, want %d", len(body), size)
		}
		var name string
		sub, err := link.nc.Subscribe(prefix+".R.report.L", func(m *nats.Msg) {
			var r report
			head, rest, err := splitFrame(m.Data)
			if err == nil {
				err = json.Unmarshal(head, &r)
			}
			if name = r.Object; name != "" && err == nil {
				var data []byte
				if data, err = link.get(context.Background(), name); err == nil {
					rest, err = unpacked(name, data)
				}
			}
			entries, err2 := decodeEntries(rest)
			if err != nil || err2 != nil || len(entries) != 1 || len(entries[0].outcome.Data) != len(o.Data) || r.Worker != "me" {
				t.Errorf("%d bytes: %v %v", size, err, err2)
			}
			_ = m.Respond(mustJSON(receipt{Stop: true}))
		})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := (&dispatch{x: d.laneWork, id: "L"}).send(t.Context(), report{}, body)
		if err != nil || !answer.Stop || (name != "") != object {
			t.Errorf("%d bytes: %+v %v, object %q", size, answer, err, name)
		}
		link.mu.Lock()
		if _, kept := link.objects[name]; kept {
			t.Errorf("%d bytes: the object is still offered", size)
		}
		link.mu.Unlock()
		if err := sub.Unsubscribe(); err != nil {
			t.Error(err)
		}
	}
}

// A worker that asks for a lease is given the first that nobody has.
func TestAskedForLeases(t *testing.T) {
	c, box := office(), newMailbox(t)
	c.banned["liar"] = "it lied"
	_, id := awaited(c, 1)
	for data, want := range map[string]string{"{": "", `{"worker":"liar"}`: `{"refused":"it lied"}`} {
		c.asked(box.about(kindTake, queueID, []byte(data)))
		if got := box.answer(t); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
	own, err := box.nc.SubscribeSync(box.nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	c.asked(mailbox{box.nc, own}.about(kindTake, queueID, mustJSON(take{"a"})))
	m, err := own.NextMsgWithContext(t.Context())
	var got taken
	if err == nil {
		err = json.Unmarshal(m.Data, &got)
	}
	if err != nil || got.Lease == nil || got.Lease.ID != id || got.Deliveries != 1 || c.queue.list[0].deliveries != 1 || c.dropped["take: malformed outcomes"] != 1 {
		t.Errorf("%v, %+v, dropped %v", err, got, c.dropped)
	}
}

// A report goes to who waits for the lease. One that nobody waits for is compared with what is
// known, and tells the worker to ask for another lease.
func TestLateReports(t *testing.T) {
	c, box := office(), newMailbox(t)
	c.banned["liar"] = "it lied"
	k, id := awaited(c, 2)
	disputes := 0
	k.dispute = func(int64, campaign.Outcome, campaign.Outcome) { disputes++ }
	data := func(worker, title string, list ...int64) []byte {
		var b []byte
		for _, at := range list {
			b = appendEntry(b, at, &campaign.Outcome{Title: title})
		}
		return frame(mustJSON(report{Worker: worker}), b)
	}
	c.reported(box.about(kindReport, id, data("a", "one", 10, 11)))
	if in := <-k.in; in.reply != kindReceipt || len(in.data) == 0 || box.answer(t) != "" {
		t.Errorf("%+v is passed on", in)
	}
	c.reported(box.about(kindReport, "none", data("a", "one", 10)))
	if got := box.answer(t); got != `{"stop":true}` {
		t.Errorf("of no lease: %s", got)
	}
	k.complete(10, &campaign.Outcome{Title: "one"}, "a")
	k.complete(11, &campaign.Outcome{Title: "one"}, "a")
	close(k.done)
	for i, x := range []struct {
		data []byte
		want int
	}{
		{data("b", "one", 10, 11), 0}, {data("liar", "two", 10, 11), 0}, {data("b", "two", 10)[:9], 0}, {[]byte("\xff"), 0}, {frame([]byte("{"), nil), 0}, {append(data("b", "two", 10), 1), 0},
		{data("b", "two", 11), 1}, {data("b", "two", 10, 11), 2},
	} {
		c.reported(box.about(kindReport, id, x.data))
		if got := box.answer(t); got != `{"stop":true}` || disputes != x.want {
			t.Errorf("report %d: %s, %d disputes, want %d", i, got, disputes, x.want)
		}
	}
}

// What was given out once is forgotten with its cases. Of leases that a second worker may be busy
// with the newest are kept, for its answers.
func TestForgottenLeases(t *testing.T) {
	c := office()
	for name, x := range map[string]struct {
		change func(k *ticket, id string)
		kept   bool
	}{
		"never taken":  {func(*ticket, string) {}, false},
		"taken once":   {func(k *ticket, id string) { k.grant(id, claim{Worker: "a", Deliveries: 1}) }, false},
		"taken twice":  {func(k *ticket, id string) { k.grant(id, claim{Worker: "a", Deliveries: 2}) }, true},
		"given out of": {func(k *ticket, _ string) { c.issue(k, true) }, true},
	} {
		c.late = nil
		k, id := awaited(c, 1)
		x.change(k, id)
		c.forget(k)
		if _, kept := c.tickets[id]; kept != x.kept || len(c.late) > 0 != x.kept || len(c.queue.list) > 0 {
			t.Errorf("%s: kept %t, %d of late ones; %d leases wait", name, kept, len(c.late), len(c.queue.list))
		}
	}
	c.late, c.tickets = nil, make(map[string]*ticket)
	for range lateTickets + 2 {
		k, id := awaited(c, 1)
		k.grant(id, claim{Worker: "a", Deliveries: 2})
		c.forget(k)
	}
	if len(c.late) != lateTickets || len(c.tickets) != lateTickets || c.tickets[c.late[0].ids[0]] == nil {
		t.Errorf("%d are kept, %d leases", len(c.late), len(c.tickets))
	}
}

// A lease that an excluded worker has is given out again, once, while somebody waits for it.
func TestReplacedLeases(t *testing.T) {
	c := office()
	k, id := awaited(c, 2)
	for range 2 {
		k.replace(id)
	}
	if len(k.ids) != 2 || len(c.queue.list) != 2 || k.back != "" {
		t.Errorf("given out as %v", k.ids)
	}
	k.replace(k.ids[1])
	if len(k.ids) != 3 {
		t.Errorf("given out as %v", k.ids)
	}
	done, id := awaited(c, 1)
	done.complete(10, &campaign.Outcome{}, "a")
	done.replace(id)
	over, id2 := awaited(c, 1)
	close(over.done)
	over.replace(id2)
	if len(done.ids) != 1 || len(over.ids) != 1 {
		t.Errorf("nobody waits, and given out are %v and %v", done.ids, over.ids)
	}
}

// Who waits for a lease gets every outcome as it comes, and how long workers took, until all are
// there, an outcome cannot be stored or the run ends.
func TestAwaitedLeases(t *testing.T) {
	t.Parallel() // mostly waits
	box := newMailbox(t)
	full := errors.New("the disk is full")
	for name, x := range map[string]struct {
		reports []report
		err     error
		stored  error
		lost    bool // workers, with the second case
		got     string
	}{
		"all":                   {[]report{{Busy: 3}, {Busy: 4}}, nil, nil, false, "10 11; 7ns"},
		"the end":               {[]report{{Busy: 3}, {Busy: 4, Fatal: "it is gone"}}, errors.New("it is gone"), nil, false, "10; 7ns"},
		"a full disk":           {[]report{{Busy: 3}}, full, full, false, "10; 3ns"},
		"the run ended":         {[]report{{Busy: 3}}, context.Canceled, nil, false, "10; 3ns"},
		"given up":              {[]report{{Busy: 3}}, nil, nil, true, "10 11; 3ns"},
		"given up, a full disk": {[]report{{Busy: 3}}, full, full, true, "10 11; 3ns"},
	} {
		c := office()
		k := &ticket{coordinator: c, lo: 10, left: 2, wanted: []bool{true, true}}
		ctx, cancel := context.WithCancel(t.Context())
		for i, r := range x.reports {
			r.Worker = "a"
			k.inbox() <- incoming{m: box.about(kindReport, "e-1", nil), data: frame(mustJSON(r), appendEntry(nil, int64(10+i), &campaign.Outcome{}))}
		}
		var got []string
		busy, err := k.await(ctx, func(at int64, _ campaign.Outcome) error {
			got = append(got, fmt.Sprint(at))
			if c.flying.Load() != 1 || len(k.ids) != 1 || c.ticket("x."+k.ids[0]) != k {
				t.Errorf("%s: in flight %d, leases %v", name, c.flying.Load(), k.ids)
			}
			if x.err == context.Canceled {
				cancel()
			}
			if x.lost && at == 10 {
				k.mu.Lock()
				k.suspect, k.deaths = 11, fatalDeaths
				k.mu.Unlock()
				return nil
			}
			return x.stored
		})
		cancel()
		if what := fmt.Sprintf("%s; %s", strings.Join(got, " "), busy); what != x.got || fmt.Sprint(err) != fmt.Sprint(x.err) {
			t.Errorf("%s: %s, %v; want %s, %v", name, what, err, x.got, x.err)
		}
		if c.flying.Load() != 0 || len(c.queue.list) != 0 || len(c.tickets) != 0 || !k.ended() {
			t.Errorf("%s: in flight %d, %d leases are left", name, c.flying.Load(), len(c.queue.list))
		}
	}
}
