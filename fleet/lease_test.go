package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/thresh-dev/thresh/campaign"
)

// A lease names its cases in ranges; they are run from either end, each once.
func TestOrderOfALease(t *testing.T) {
	ranges := [][2]int64{{2, 4}, {7, 8}, {9, 9}, {10, 12}}
	for reverse, want := range map[bool][]int64{false: {2, 3, 7, 10, 11}, true: {11, 10, 7, 3, 2}} {
		g := grant{Ranges: ranges, Reverse: reverse}
		if got := slices.Collect(g.order()); !slices.Equal(got, want) {
			t.Errorf("reverse %t: %v, want %v", reverse, got, want)
		}
		for n := range want { // who stops is given no more
			var some []int64
			for i := range g.order() {
				if some = append(some, i); len(some) > n {
					break
				}
			}
			if !slices.Equal(some, want[:n+1]) {
				t.Errorf("reverse %t, stopped after %d: %v", reverse, n+1, some)
			}
		}
	}
}

// bench is a campaign that writes down what is done with it.
type bench struct {
	name     string
	log      *[]string
	hook     func(index int64) error
	openErr  error
	closeErr error
	probeErr error
}

func (b *bench) Identity() campaign.Identity { return campaign.Identity{Name: b.name} }
func (b *bench) Traits() campaign.Traits     { return campaign.Traits{Planned: 3} }
func (b *bench) Probe(context.Context) (campaign.Facts, error) {
	return campaign.Facts{Data: []byte("seven")}, b.probeErr
}
func (b *bench) Start(campaign.Facts) int { return 7 }
func (b *bench) Round(int) (campaign.Round, bool) {
	return campaign.Round{Len: 3, At: func(i int64) []byte { return fmt.Append(nil, "p", i) }}, true
}
func (b *bench) Fold(s int, _ iter.Seq2[campaign.Case, campaign.Outcome]) int { return s }
func (b *bench) Open(*campaign.Cache) campaign.Session[int] {
	return campaign.Separate[int](b.executor)
}
func (b *bench) executor(_ context.Context, lane campaign.Lane) (campaign.Executor[int], error) {
	*b.log = append(*b.log, fmt.Sprintf("open %s %d/%d cold=%t", b.name, lane.Index, lane.Of, lane.Cold))
	return benching{b}, b.openErr
}

type benching struct{ b *bench }

func (x benching) Notes() []string { return []string{"note of " + x.b.name} }
func (x benching) Close() error {
	*x.b.log = append(*x.b.log, "close "+x.b.name)
	return x.b.closeErr
}
func (x benching) Execute(ctx context.Context, state int, at campaign.Case) (campaign.Outcome, error) {
	*x.b.log = append(*x.b.log, fmt.Sprintf("%d.%d %s", at.Round, at.Index, at.Payload))
	if x.b.hook != nil {
		if err := x.b.hook(at.Index); err != nil {
			return campaign.Outcome{}, err
		}
	}
	return campaign.Outcome{Data: fmt.Append(nil, state)}, ctx.Err()
}

// benchDesk is a worker's lane, and the coordinator that it talks with.
type benchDesk struct {
	*laneWork
	first, second *bench
	log           []string // what was done with the campaigns
	leave, kill   func()

	mu      sync.Mutex
	grant   grant
	receipt receipt
	queue   queue
	beats   atomic.Int64
	fate    chan string // what the coordinator hears about leases
	claims  []string
	reports []string
	said    string
	spoiled int             // answers that are not ours, before good ones
	deaf    map[string]bool // to messages of these kinds
	hears   []*nats.Subscription
	heard   int64 // messages
}

func newBenchDesk(t *testing.T, link *Link, run string) *benchDesk {
	t.Helper()
	d := &benchDesk{grant: grant{Ranges: [][2]int64{{10, 13}}}, fate: make(chan string, 9)}
	d.first, d.second = &bench{name: "first", log: &d.log}, &bench{name: "second", log: &d.log}
	w := &Worker{Lanes: 4, link: link, id: "me", host: "here", Say: func(format string, args ...any) { d.said += fmt.Sprintf(format, args...) + "\n" }}
	s := &session{w: w, ann: Announcement{Run: run}, channel: channel{run: run}}
	s.ctx, d.leave = context.WithCancel(t.Context())
	s.kill, d.kill = context.WithCancel(t.Context())
	for _, b := range []*bench{d.first, d.second} {
		c := campaign.Erase(b)
		st := newStates(c, func(context.Context, string) ([]byte, error) { return nil, errors.New("no such state") })
		st.cache("S", c.Start(campaign.Facts{}))
		s.campaigns, s.states = append(s.campaigns, c), append(s.states, st)
	}
	d.laneWork = &laneWork{s: s, lane: 2}
	return d
}

// listen is the coordinator.
func (d *benchDesk) listen(t *testing.T) {
	t.Helper()
	answer := func(m *nats.Msg, v any) {
		data := mustJSON(v)
		if d.spoiled--; d.spoiled >= 0 {
			data = []byte(sealMagic + "from somebody else")
		}
		_ = m.Respond(data)
	}
	nc := d.s.w.link.nc
	for kind, hear := range map[string]func(*nats.Msg){
		kindClaim: func(m *nats.Msg) {
			d.claims = append(d.claims, string(m.Data))
			answer(m, d.grant)
		},
		kindHold: func(m *nats.Msg) {
			var h hold
			if err := json.Unmarshal(m.Data, &h); err != nil || h.Worker != "me" || h.Deliveries != 3 {
				t.Errorf("hold %s: %v", m.Data, err)
			}
			switch {
			case !h.Back:
				d.beats.Add(1)
			case h.After == elsewhereAfter:
				d.fate <- "left to others"
			case h.After == 0:
				d.fate <- "given back"
			}
		},
		kindReport: func(m *nats.Msg) {
			d.reports = append(d.reports, d.text(t, m.Data))
			answer(m, d.receipt)
		},
	} {
		if d.deaf[kind] {
			continue
		}
		sub, err := nc.Subscribe(prefix+"."+d.s.ann.Run+"."+kind+".L", func(m *nats.Msg) {
			d.mu.Lock()
			defer d.mu.Unlock()
			hear(m)
			d.heard++
		})
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = sub.Unsubscribe() })
		d.mu.Lock()
		d.hears = append(d.hears, sub)
		d.mu.Unlock()
	}
	if err := nc.Flush(); err != nil {
		t.Error(err)
	}
}

// serves has the lane work on a lease and says what becomes of it.
func (d *benchDesk) serves(t *testing.T, l *lease) string {
	t.Helper()
	d.serve(taken{Lease: l, Deliveries: 3})
	if err := d.s.w.link.nc.Flush(); err != nil {
		t.Error(err)
	}
	for !d.settled(t) {
		time.Sleep(time.Millisecond)
	}
	select {
	case fate := <-d.fate:
		return fate
	default:
		return "done"
	}
}

// settled reports whether the coordinator has heard all messages that have arrived.
func (d *benchDesk) settled(t *testing.T) bool {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	arrived := int64(0)
	for _, sub := range d.hears {
		waiting, _, err := sub.Pending()
		taken, err2 := sub.Delivered()
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		arrived += int64(waiting) + taken
	}
	return arrived == d.heard
}

// text is a report in words.
func (d *benchDesk) text(t *testing.T, data []byte) string {
	head, body, err := splitFrame(data)
	var r report
	if err == nil {
		err = json.Unmarshal(head, &r)
	}
	entries, err2 := decodeEntries(body)
	if err != nil || err2 != nil || r.Worker != "me" || r.Lane != 2 {
		t.Errorf("report %s: %v %v", head, err, err2)
	}
	var words []string
	for _, e := range entries {
		words = append(words, fmt.Sprintf("%d:%s", e.index, e.outcome.Data))
	}
	for word, on := range map[string]bool{"last": r.Last, "handback": r.Handback} {
		if on {
			words = append(words, word)
		}
	}
	for kind, why := range map[string]string{"redo": r.Redo, "fatal": r.Fatal, "unfit": r.Unfit, "notes": strings.Join(r.Notes, ",")} {
		if why != "" {
			words = append(words, kind+" "+why)
		}
	}
	if r.Facts != nil {
		words = append(words, fmt.Sprintf("facts %s", r.Facts.Data))
	}
	if len(entries) > 0 && r.Busy <= 0 {
		t.Errorf("outcomes that took no time: %s", head)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// What becomes of a lease, and what a worker says of it.
func TestLease(t *testing.T) {
	t.Parallel() // mostly waits
	link, err := Connect(t.Context(), Access{URL: "embedded", Dir: t.TempDir()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	at11 := func(err error) func(*benchDesk) {
		return func(d *benchDesk) {
			d.first.hook = func(i int64) error {
				if i == 11 {
					return err
				}
				return nil
			}
		}
	}
	plain := lease{ID: "L", State: "S", Base: 10, Round: 4}
	with := func(change func(*lease)) *lease { l := plain; change(&l); return &l }
	const opened, all, notes = "open first 2/4 cold=false, ", "4.10 p0, 4.11 p1, 4.12 p2", " notes note of first"
	for name, x := range map[string]struct {
		lease   *lease // nil: plain
		before  func(*benchDesk)
		fate    string
		reports []string
		log     string
		said    string
	}{
		"all of it":    {nil, nil, "done", []string{"10:7 11:7 12:7 last" + notes}, opened + all, ""},
		"carefully":    {nil, func(d *benchDesk) { d.grant.Careful = true }, "done", []string{"10:7", "11:7", "12:7", "last" + notes}, opened + all, ""},
		"from the end": {nil, func(d *benchDesk) { d.grant.Reverse = true }, "done", []string{"10:7 11:7 12:7 last" + notes}, opened + "4.12 p2, 4.11 p1, 4.10 p0", ""},
		"nobody waits": {nil, func(d *benchDesk) { d.grant = grant{Stale: true} }, "done", nil, "", ""},
		"another's":    {nil, func(d *benchDesk) { d.grant = grant{Elsewhere: true} }, "left to others", nil, "", ""},
		"enough is known": {nil, func(d *benchDesk) { d.grant.Careful, d.receipt.Stop = true, true }, "done",
			[]string{"10:7"}, opened + "4.10 p0", ""},
		"a case of its own": {with(func(l *lease) { l.Explicit = &explicit{Index: 10, Payload: []byte("mine")} }),
			func(d *benchDesk) { d.grant.Ranges = [][2]int64{{10, 11}} }, "done", []string{"10:7 last" + notes}, opened + "4.10 mine", ""},
		"of the second campaign, cold": {with(func(l *lease) { l.Campaign, l.Cold = 1, true }), nil, "done",
			[]string{"10:7 11:7 12:7 last notes note of second"}, "open second 2/4 cold=true, " + all, ""},
		"a probe": {with(func(l *lease) { l.Probe = true }), nil, "done", []string{"facts seven last"}, "", ""},
		"a probe that fails": {with(func(l *lease) { l.Probe = true }), func(d *benchDesk) { d.first.probeErr = errors.New("nobody is there") }, "given back",
			[]string{"unfit nobody is there"}, "", ""},
		"nothing can be run here": {with(func(l *lease) { l.Campaign = 9 }), func(d *benchDesk) { d.s.unfit = "no such program" }, "given back",
			[]string{"unfit no such program"}, "", ""},
		"the target does not start": {nil, func(d *benchDesk) { d.first.openErr = errors.New("no such file") }, "given back",
			[]string{"unfit starting the target: no such file"}, strings.TrimSuffix(opened, ", "), ""},
		"the state is not there": {with(func(l *lease) { l.State = "T" }), nil, "given back", []string{"unfit no such state"}, "", ""},
		"the end of everything":  {nil, at11(campaign.Fatal("the program is gone")), "done", []string{"fatal the program is gone last" + notes}, opened + "4.10 p0, 4.11 p1", ""},
		"not to be trusted": {nil, at11(&campaign.RedoError{Reason: "it differs"}), "done",
			[]string{"last" + notes + " redo it differs"}, opened + "4.10 p0, 4.11 p1", ""},
		"the worker is to leave": {nil, func(d *benchDesk) { d.first.hook = func(int64) error { d.leave(); return nil } }, "given back",
			[]string{"10:7 handback"}, opened + "4.10 p0", ""},
		"the worker is to end": {nil, func(d *benchDesk) { d.first.hook = func(int64) error { d.kill(); return context.Canceled } }, "given back",
			nil, opened + "4.10 p0", ""},
		"a long case": {nil, func(d *benchDesk) {
			d.first.hook = func(i int64) error {
				for begun := time.Now(); i == 10 && (time.Since(begun) < reportEvery || d.beats.Load() == 0); {
					time.Sleep(5 * time.Millisecond) // that it is worked on is said meanwhile
				}
				return nil
			}
		}, "done", []string{"10:7", "11:7 12:7 last" + notes}, opened + all, ""},
		"another answers": {nil, func(d *benchDesk) { d.spoiled = 1 }, "done", []string{"10:7 11:7 12:7 last" + notes}, opened + all,
			"an answer to a claim was dropped: signed, but there are no keys here"},
		"no such campaign": {with(func(l *lease) { l.Campaign = 2 }), nil, "done", nil, "", "a lease was dropped: malformed"},
		"no campaign":      {with(func(l *lease) { l.Campaign = -1 }), nil, "done", nil, "", "a lease was dropped: malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newBenchDesk(t, link, strings.ReplaceAll(name, " ", "-"))
			if x.lease == nil {
				x.lease = &plain
			}
			if x.before != nil {
				x.before(d)
			}
			d.listen(t)
			fate := d.serves(t, x.lease)
			d.mu.Lock()
			defer d.mu.Unlock()
			log := strings.Join(d.log, ", ")
			if fate != x.fate || !slices.Equal(d.reports, x.reports) || log != x.log || (x.said == "") != (d.said == "") || !strings.Contains(d.said, x.said) {
				t.Errorf("%s; reports %q; done: %s; said: %q\nwant %s; reports %q; done: %s; said %q", fate, d.reports, log, d.said, x.fate, x.reports, x.log, x.said)
			}
			for _, c := range d.claims {
				if c != `{"worker":"me","host":"here","deliveries":3}` {
					t.Errorf("claim %s", c)
				}
			}
			if n, want := d.s.w.leases.Load(), int64(1); n != want && !strings.Contains(x.said, "a lease was dropped") {
				t.Errorf("%d leases are counted", n)
			}
			ended := 0 // cases that came to an outcome
			for _, r := range d.reports {
				ended += strings.Count(r, ":7")
			}
			if n := d.s.w.cases.Load(); ended > 0 && n != int64(ended) {
				t.Errorf("%d cases are counted, %d reported", n, ended)
			}
		})
	}
	t.Run("one after the other", func(t *testing.T) {
		d := newBenchDesk(t, link, "many")
		d.second.closeErr = errors.New("it hangs")
		d.listen(t)
		for _, l := range []lease{{}, {}, {Campaign: 1}, {Campaign: 1, Cold: true}, {Cold: true}} {
			l.ID, l.State, l.Base = "L", "S", 10
			d.grant.Ranges = [][2]int64{{10, 11}}
			d.serve(taken{Lease: &l, Deliveries: 3})
		}
		d.close()
		d.close() // what is closed is not closed again
		want := "open first 2/4 cold=false, 0.10 p0, 0.10 p0, close first, open second 2/4 cold=false, 0.10 p0, close second, " +
			"open second 2/4 cold=true, 0.10 p0, close second, open first 2/4 cold=true, 0.10 p0, close first"
		if log := strings.Join(d.log, ", "); log != want || strings.Count(d.said, "closing the target: it hangs") != 2 {
			t.Errorf("%s\n%s", log, d.said)
		}
	})
	t.Run("the coordinator comes later", func(t *testing.T) {
		d := newBenchDesk(t, link, "later")
		time.AfterFunc(20*time.Millisecond, func() { d.listen(t) })
		if fate := d.serves(t, &plain); fate != "done" || len(d.reports) != 1 {
			t.Errorf("%s %q", fate, d.reports)
		}
	})
	t.Run("what is not heard is not done", func(t *testing.T) {
		d := newBenchDesk(t, link, "deaf")
		d.deaf = map[string]bool{kindReport: true}
		d.listen(t)
		d.first.hook = func(i int64) error {
			if i == 12 {
				d.leave()
			}
			return nil
		}
		if fate := d.serves(t, &plain); fate != "given back" || len(d.log) != 4 {
			t.Errorf("%s %q", fate, d.log)
		}
	})
	t.Run("who is to end asks no more", func(t *testing.T) {
		d := newBenchDesk(t, link, "ended")
		d.listen(t)
		d.kill()
		if fate := d.serves(t, &plain); fate != "given back" || len(d.log) > 0 {
			t.Errorf("%s %q", fate, d.log)
		}
	})
	t.Run("nobody is waited for who leaves", func(t *testing.T) {
		d := newBenchDesk(t, link, "nobody")
		d.deaf = map[string]bool{kindClaim: true, kindReport: true}
		d.listen(t)
		if err := (&dispatch{x: d.laneWork, id: "L"}).askOnce(t.Context(), kindClaim, nil, new(grant)); !errors.Is(err, nats.ErrNoResponders) {
			t.Fatalf("that nobody is there is not noticed: %v", err)
		}
		d.leave()
		if fate := d.serves(t, &plain); fate != "given back" || len(d.log) > 0 {
			t.Errorf("%s %q", fate, d.log)
		}
	})
}

// A lane takes one lease at a time from the queue of its run, and says when it
// cannot: then it pauses and asks again.
func TestNextLease(t *testing.T) {
	t.Parallel() // mostly waits
	link, err := Connect(t.Context(), Access{URL: "embedded", Dir: t.TempDir()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	d := newBenchDesk(t, link, "R")
	d.listen(t)
	if err := d.next(); err == nil {
		t.Error("nobody has a queue, and nothing is wrong")
	}
	_, err = link.nc.Subscribe(prefix+".R.take.queue", func(m *nats.Msg) {
		l, _, _ := d.queue.tryTake(time.Now())
		l.Deliveries += 2 // as the others here
		_ = m.Respond(mustJSON(l))
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d.queue.put(lease{ID: "L", State: "S", Base: 10})
	}
	d.mu.Lock()
	d.grant.Ranges = [][2]int64{{10, 11}}
	d.mu.Unlock()
	busy := []int64{}
	d.first.hook = func(int64) error {
		busy = append(busy, d.s.w.busy.Load())
		return nil
	}
	for n := range 3 { // the third finds nothing, which is not a fault
		if err := d.next(); err != nil {
			t.Errorf("%d: %v", n, err)
		}
		if got := d.s.w.leases.Load(); got != int64(min(n+1, 2)) {
			t.Errorf("%d leases after %d looks", got, n+1)
		}
	}
	if !slices.Equal(busy, []int64{1, 1}) || d.s.w.busy.Load() != 0 {
		t.Errorf("lanes that are busy: %d, then %d", busy, d.s.w.busy.Load())
	}
	d.first.openErr = errors.New("no such file")
	d.close()
	d.queue.put(lease{ID: "L", State: "S", Base: 10})
	for _, want := range []error{errUnable, nil} { // then it is left to others for a while
		if err := d.next(); !errors.Is(err, want) {
			t.Errorf("of what cannot be run here: %v, want %v", err, want)
		}
	}
	link.Close()
	if err := d.next(); err == nil {
		t.Error("the server is away, and nothing is wrong")
	}
}
