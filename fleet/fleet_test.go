package fleet_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/fleet"
	"github.com/thresh-dev/thresh/internal/testproc"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

func TestMain(m *testing.M) {
	testproc.Ready(16)
	os.Exit(m.Run())
}

// tally is a campaign whose later rounds depend on all outcomes before them.
type tally struct {
	rounds, perRound int64
	hook             func(lane campaign.Lane, at campaign.Case) error
	exclusive        bool
	once             bool          // no case may be run twice
	lie              bool          // every answer is a pass
	bulk             int           // bytes more of each outcome
	inside           *atomic.Int64 // executions under way
	together         *atomic.Int64 // most of them at once
	quota            campaign.Quota
}

type sum struct{ Rounds, Total int64 }

func (c *tally) Identity() campaign.Identity {
	return campaign.Identity{Contract: "tally", Name: "numbers", Digest: fmt.Sprint(c.rounds, c.perRound)}
}
func (c *tally) Traits() campaign.Traits {
	return campaign.Traits{Planned: c.rounds * c.perRound, Exclusive: c.exclusive, Once: func(campaign.Case, *campaign.Outcome) string {
		if c.once {
			return "it changes something"
		}
		return ""
	}}
}
func (c *tally) Probe(context.Context) (campaign.Facts, error) {
	return campaign.Facts{Data: []byte("7"), Warnings: []string{"counting from seven"}}, nil
}
func (c *tally) Start(f campaign.Facts) sum {
	var n int64
	_ = json.Unmarshal(f.Data, &n)
	return sum{Total: n}
}
func (c *tally) Round(s sum) (campaign.Round, bool) {
	return campaign.Round{Len: c.perRound, At: func(i int64) []byte { return fmt.Append(nil, s.Total, i) }}, s.Rounds < c.rounds
}
func (c *tally) Fold(s sum, results iter.Seq2[campaign.Case, campaign.Outcome]) sum {
	for at, o := range results {
		s.Total = s.Total*31 + int64(len(o.Data)) + at.Index
		if len(o.Data) > 0 { // not an error's
			s.Total += int64(o.Data[0])
		}
	}
	s.Rounds++
	return s
}
func (c *tally) Open(*campaign.Cache) campaign.Session[sum] {
	return campaign.Separate[sum](c.executor)
}
func (c *tally) executor(_ context.Context, lane campaign.Lane) (campaign.Executor[sum], error) {
	return &counting{c, lane}, nil
}

type counting struct {
	c    *tally
	lane campaign.Lane
}

// Execute fails every 97th case; what it says depends on the state, so that a
// worker with another state would be found out.
func (x *counting) Execute(ctx context.Context, s sum, at campaign.Case) (campaign.Outcome, error) {
	if g := campaign.GateOf(ctx); g != nil && x.c.quota != (campaign.Quota{}) {
		leave, err := g.Enter(ctx, "service", x.c.quota)
		if err != nil {
			return campaign.Outcome{}, err
		}
		defer leave()
	}
	if x.c.inside != nil {
		n := x.c.inside.Add(1)
		for most := x.c.together.Load(); n > most && !x.c.together.CompareAndSwap(most, n); most = x.c.together.Load() {
		}
		defer x.c.inside.Add(-1)
	}
	if x.c.hook != nil {
		if err := x.c.hook(x.lane, at); err != nil {
			return campaign.Outcome{}, err
		}
	}
	o := campaign.Outcome{Data: fmt.Append(nil, s.Total%1000, string(at.Payload))}
	o.Data = append(o.Data, make([]byte, x.c.bulk)...)
	if at.Index%97 == 5 && !x.c.lie {
		o.Verdict, o.Kind, o.Title = campaign.VerdictFail, "crash", "it fell over"
		o.Evidence = []campaign.Attachment{{Name: "stderr", Data: []byte(strings.Repeat("x", 1000))}}
	}
	return o, nil
}
func (x *counting) Close() error { return nil }

// yard is an embedded server with a coordinator's store, and workers in this
// process.
type yard struct {
	t        *testing.T
	link     *fleet.Link
	dir      string
	patience time.Duration // of workers; 0: the usual one
}

func newYard(t *testing.T) *yard {
	dir := t.TempDir()
	link, err := fleet.Connect(t.Context(), fleet.Access{URL: "embedded", Dir: dir}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	return &yard{t: t, link: link, dir: dir}
}

// worker starts a worker; dismiss has it leave and waits until it has.
func (y *yard) worker(c *tally, lanes int, change func(*fleet.Worker)) (dismiss func()) {
	y.t.Helper()
	link, err := fleet.Connect(y.t.Context(), fleet.Access{URL: y.link.URL(), Token: y.link.Token()}, "worker")
	if err != nil {
		y.t.Fatal(err)
	}
	if y.patience > 0 {
		fleet.Wait(link, y.patience)
	}
	return y.serve(link, c, lanes, change)
}

// serve is worker over a link that is there.
func (y *yard) serve(link *fleet.Link, c *tally, lanes int, change func(*fleet.Worker)) (dismiss func()) {
	y.t.Helper()
	w := &fleet.Worker{Lanes: lanes, Say: y.t.Logf, Compile: func(context.Context, fleet.Bundle) ([]campaign.Any, error) {
		return []campaign.Any{campaign.Erase(c)}, nil
	}}
	if change != nil {
		change(w)
	}
	ctx, cancel := context.WithCancel(context.Background())
	kill, end := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := w.Serve(ctx, kill, link); err != nil {
			y.t.Error(err)
		}
		link.Close()
	})
	stop := sync.OnceFunc(func() { cancel(); wg.Wait(); end() })
	y.t.Cleanup(stop)
	return stop
}

func (y *yard) run(ctx context.Context, c *tally, remote bool, change func(*fleet.Settings)) (campaign.Record, error) {
	y.t.Helper()
	st, err := store.Open(filepath.Join(y.t.TempDir(), "store"))
	if err != nil {
		y.t.Fatal(err)
	}
	defer st.Close()
	w, err := st.Begin(store.Manifest{Identities: []campaign.Identity{c.Identity()}})
	if err != nil {
		y.t.Fatal(err)
	}
	defer w.Close()
	job := run.Job{Campaigns: []campaign.Any{campaign.Erase(c)}, Sources: []string{"numbers"}, Store: st, Writer: w}
	if remote {
		set := fleet.Settings{Run: w.RunID(), Identities: []campaign.Identity{c.Identity()}, Patience: 2 * time.Second}
		if change != nil {
			change(&set)
		}
		co, err := fleet.Coordinate(ctx, y.link, set)
		if err != nil {
			y.t.Fatal(err)
		}
		defer co.Close()
		job.Campaigns[0] = co.Wrap(0, job.Campaigns[0])
	}
	return run.Run(ctx, job, run.Options{Workers: 8, Reruns: 1})
}

func (y *yard) must(c *tally, remote bool, change func(*fleet.Settings)) campaign.Record {
	y.t.Helper()
	rec, err := y.run(y.t.Context(), c, remote, change)
	if err != nil {
		y.t.Fatal(err)
	}
	return rec
}

// same holds a record against that of a run without a fleet.
func same(t *testing.T, got, want campaign.Record) {
	t.Helper()
	if got.Digest != want.Digest || got.Campaigns[0].Cases != want.Campaigns[0].Cases || len(got.Findings) != len(want.Findings) {
		t.Errorf("digest %.12s, %+v, %d findings; without a fleet %.12s, %+v, %d", got.Digest, got.Campaigns[0].Cases, len(got.Findings),
			want.Digest, want.Campaigns[0].Cases, len(want.Findings))
	}
	for i := range min(len(got.Findings), len(want.Findings)) {
		if got.Findings[i].Fingerprint != want.Findings[i].Fingerprint || got.Findings[i].Flaky {
			t.Errorf("finding %d: %+v", i, got.Findings[i])
		}
	}
}

func TestWorkersChangeNothing(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	c := &tally{rounds: 4, perRound: 500}
	want := y.must(c, false, nil)
	for _, workers := range []int{1, 4, 16} {
		var stops []func()
		for range workers {
			stops = append(stops, y.worker(c, 2, nil))
		}
		got := y.must(c, true, nil)
		same(t, got, want)
		if got.Warnings[0] != "counting from seven" {
			t.Errorf("%d workers: what was learned of the target is %v", workers, got.Warnings)
		}
		for _, stop := range stops {
			stop()
		}
	}
}

// Outcomes that are too large for one message, or for one report of a lease, are
// reported as they come; each case is executed once, and each lease given out once.
func TestLargeOutcomes(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	for _, bulk := range []int{300 << 10, 1200 << 10} {
		c := &tally{rounds: 2, perRound: 12, bulk: bulk}
		want := y.must(c, false, nil)
		var times [24]atomic.Int64
		counted := *c
		counted.hook = func(_ campaign.Lane, at campaign.Case) error {
			times[at.Index].Add(1)
			return nil
		}
		var w *fleet.Worker
		stop := y.worker(&counted, 1, func(x *fleet.Worker) { w = x })
		same(t, y.must(c, true, nil), want)
		stop()
		if n := fleet.Leases(w); n > 39 { // 26: each case, the probe and what is confirmed
			t.Errorf("%d bytes: %d leases; those that were done are given out again", bulk, n)
		}
		for i := range times {
			if n := times[i].Load(); n != 1 && i%97 != 5 { // case 5 fails, and is confirmed
				t.Errorf("%d bytes: case %d was executed %d times", bulk, i, n)
			}
		}
	}
}

// A worker that comes late is waited for; one that leaves gives back what it
// has not run.
func TestWorkersComeAndGo(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	plain := &tally{rounds: 3, perRound: 300}
	want := y.must(plain, false, nil)
	enter, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	first := *plain
	first.hook = func(campaign.Lane, campaign.Case) error {
		once.Do(func() { close(enter) })
		<-leave
		return nil
	}
	waited := make(chan struct{})
	go func() {
		<-waited
		stop := y.worker(&first, 1, nil)
		<-enter
		y.worker(plain, 2, nil)
		go func() {
			time.Sleep(50 * time.Millisecond) // it has to leave while a case runs
			close(leave)
		}()
		stop()
	}()
	got := y.must(plain, true, func(s *fleet.Settings) { s.Waiting = func() { close(waited) } })
	same(t, got, want)
}

// Two answers for one case are a finding, also if the second comes when nobody
// waits for it any more.
func TestWorkersDisagree(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	plain := &tally{rounds: 2, perRound: 40}
	want := y.must(plain, false, nil)
	borrowed, second, told := make(chan struct{}), make(chan struct{}), make(chan struct{})
	gated := *plain
	var once sync.Once
	gated.hook = func(_ campaign.Lane, at campaign.Case) error {
		<-borrowed
		if at.Index >= plain.perRound {
			once.Do(func() { close(second) })
			<-told
		}
		return nil
	}
	y.worker(&gated, 1, nil)
	var index int64
	got := y.must(plain, true, func(s *fleet.Settings) {
		go func() {
			defer close(told)
			var late func(campaign.Outcome) error
			err := errors.New("no queue yet")
			for err != nil && t.Context().Err() == nil { // it is made in a moment
				late, index, err = fleet.Borrow(t.Context(), y.link, s.Run)
			}
			close(borrowed)
			<-second
			for range 2 { // reports are sent again: it is one dispute
				if err := late(campaign.Outcome{Verdict: campaign.VerdictFail, Title: "what nobody else sees"}); err != nil {
					t.Error(err)
				}
			}
		}()
	})
	if got.Digest != want.Digest {
		t.Errorf("digest %.12s; without a fleet %.12s: the first answer counts", got.Digest, want.Digest)
	}
	if len(got.Findings) != len(want.Findings)+1 {
		t.Fatalf("%d findings, %d without a fleet", len(got.Findings), len(want.Findings))
	}
	f := got.Findings[len(got.Findings)-1]
	row, first := f.Evidence[0].Table.Rows[0], "pass"
	if index%97 == 5 {
		first = "fail: it fell over"
	}
	if f.Kind != campaign.KindNondeterminism || !f.Flaky || f.Cases != 1 || f.First != index || f.Rerun != (campaign.Rerun{Tried: 1}) ||
		!slices.Equal(row, []string{fmt.Sprint(index), first, "fail: what nobody else sees"}) {
		t.Errorf("%+v\n%q", f, row)
	}
}

func TestRedoAndFatalTravel(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	c := &tally{rounds: 2, perRound: 200}
	want := y.must(c, false, nil)
	untrue := *c
	untrue.hook = func(lane campaign.Lane, at campaign.Case) error {
		if !lane.Cold && at.Index == 150 {
			return &campaign.RedoError{Reason: "case 150 came out differently"}
		}
		return nil
	}
	stop := y.worker(&untrue, 2, nil)
	got := y.must(&untrue, true, nil)
	same(t, got, want)
	if notes := strings.Join(got.Environment.Notes, "\n"); !strings.Contains(notes, "case 150 came out differently") {
		t.Errorf("notes: %s", notes)
	}
	stop()
	gone := *c
	gone.hook = func(_ campaign.Lane, at campaign.Case) error {
		if at.Index == 60 {
			return campaign.Fatal("the program is gone")
		}
		return nil
	}
	y.worker(&gone, 2, nil)
	if rec, err := y.run(t.Context(), &gone, true, nil); err == nil || !strings.Contains(err.Error(), "the program is gone") || rec.Stopped != run.StoppedFatal {
		t.Errorf("%v, %s", err, rec.Stopped)
	}
}

// Workers that must not, or cannot, run a campaign do not.
func TestWhoRunsWhat(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	c := &tally{rounds: 1, perRound: 100}
	want := y.must(c, false, nil)
	never := *c
	never.hook = func(campaign.Lane, campaign.Case) error {
		t.Error("a case was run where none may be")
		return nil
	}
	public, private, _ := ed25519.GenerateKey(nil)
	other, _, _ := ed25519.GenerateKey(nil)
	y.worker(&never, 1, func(w *fleet.Worker) { w.Trust = []ed25519.PublicKey{other}; w.Labels = []string{"gpu"} })
	y.worker(&never, 1, func(w *fleet.Worker) { w.Labels = []string{"disk"} })
	y.worker(&never, 1, func(w *fleet.Worker) {
		w.Labels = []string{"gpu"}
		w.Compile = func(context.Context, fleet.Bundle) ([]campaign.Any, error) {
			return []campaign.Any{campaign.Erase(&tally{rounds: 9, perRound: 9})}, nil
		}
	})
	y.worker(c, 2, func(w *fleet.Worker) {
		w.Trust = []ed25519.PublicKey{other, public}
		w.Labels = []string{"disk", "gpu"}
	})
	got := y.must(c, true, func(s *fleet.Settings) { s.Key, s.Require = private, []string{"gpu"} })
	same(t, got, want)
	if notes := strings.Join(got.Environment.Notes, "\n"); !strings.Contains(notes, "compile to different cases here") {
		t.Errorf("no note on the worker that cannot run it: %s", notes)
	}
}

func TestNobodyCanRunIt(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	c := &tally{rounds: 1, perRound: 100}
	y.worker(c, 2, func(w *fleet.Worker) {
		w.Compile = func(context.Context, fleet.Bundle) ([]campaign.Any, error) {
			return nil, fmt.Errorf("the program is not here")
		}
	})
	if _, err := y.run(t.Context(), c, true, nil); err == nil || !strings.Contains(err.Error(), "the program is not here") {
		t.Errorf("%v", err)
	}
}

// A target that must not be called by several at once is called by one lane of
// one worker.
func TestExclusiveTargetsKeepOneLane(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	c := &tally{rounds: 2, perRound: 200, exclusive: true, inside: new(atomic.Int64), together: new(atomic.Int64)}
	for range 3 {
		y.worker(c, 4, nil)
	}
	if rec := y.must(c, true, nil); !rec.Complete || c.together.Load() != 1 {
		t.Errorf("%d at once", c.together.Load())
	}
}

func TestTop(t *testing.T) {
	t.Parallel() // mostly waits
	y := newYard(t)
	w, err := fleet.Watch(y.link)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	hold, held := make(chan struct{}), make(chan struct{})
	var once sync.Once
	c := &tally{rounds: 1, perRound: 50, hook: func(campaign.Lane, campaign.Case) error {
		once.Do(func() { close(held) })
		<-hold
		return nil
	}}
	y.worker(c, 3, func(w *fleet.Worker) { w.Labels = []string{"gpu"} })
	done := make(chan campaign.Record, 1)
	go func() { done <- y.must(c, true, nil) }()
	<-held
	deadline := time.Now().Add(20 * time.Second)
	for {
		roles := map[string]fleet.Row{}
		for _, r := range w.Rows() {
			roles[r.Role] = r
		}
		if roles[fleet.RoleWorker].Busy > 0 && roles[fleet.RoleCoordinator].InFlight > 0 && roles[fleet.RoleWorker].Lanes == 3 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 20 s: %+v", roles)
		}
		time.Sleep(50 * time.Millisecond)
	}
	close(hold)
	if rec := <-done; !rec.Complete {
		t.Errorf("%+v", rec)
	}
}

// What is said of a passing case in docs/scale.md.
func TestWireSize(t *testing.T) {
	if n := fleet.WireSize(1<<20, campaign.Outcome{Elapsed: 2 * time.Millisecond}); n > 14 {
		t.Errorf("a passing case takes %d bytes", n)
	}
}
