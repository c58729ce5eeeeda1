package run_test

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
	"testing/synctest"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// counter is a campaign over numbers. Its state is the sum of the numbers of
// finished rounds, and every outcome depends on it, so that a mistake in the
// order of folding, in resuming or in rounds changes the digest.
type counter struct {
	rounds, perRound int64
	fail             func(n int64) string // kind of failure of case n, "" for none
	hook             func(lane campaign.Lane, n int64) error
	probeErr         error
	flaky            *atomic.Int64 // if set, failures show only every other time
	stuck            bool          // no case ends when it is run again
	hangs            int64         // nor does this one; 0: none is; below: what runs them does not open
}

func (c *counter) Identity() campaign.Identity {
	return campaign.Identity{Contract: "counter", Name: "numbers", Digest: fmt.Sprint(c.rounds, c.perRound)}
}
func (c *counter) Traits() campaign.Traits { return campaign.Traits{Planned: c.rounds * c.perRound} }
func (c *counter) Probe(context.Context) (campaign.Facts, error) {
	return campaign.Facts{Data: []byte("7"), Warnings: []string{"counting from seven"}}, c.probeErr
}

type sum struct{ rounds, total int64 }

func (c *counter) Start(f campaign.Facts) sum {
	var n int64
	_ = json.Unmarshal(f.Data, &n)
	return sum{total: n}
}
func (c *counter) Round(s sum) (campaign.Round, bool) {
	return campaign.Round{Len: c.perRound}, s.rounds < c.rounds
}
func (c *counter) Fold(s sum, results iter.Seq2[campaign.Case, campaign.Outcome]) sum {
	last := int64(-1)
	for at, o := range results {
		if at.Index <= last {
			panic("results out of order")
		}
		last = at.Index
		s.total = s.total*31 + int64(len(o.Data)) + at.Index
	}
	s.rounds++
	return s
}
func (c *counter) Open(*campaign.Cache) campaign.Session[sum] {
	return campaign.Separate[sum](c.executor)
}
func (c *counter) executor(ctx context.Context, lane campaign.Lane) (campaign.Executor[sum], error) {
	if c.hangs < 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &adder{c, lane}, nil
}
func (c *counter) Input(_ context.Context, _ sum, at campaign.Case) []byte {
	return []byte(strings.Repeat("x", int(at.Index%50)+1) + fmt.Sprint(at.Index))
}
func (c *counter) Reduce(_ context.Context, payload []byte, test func([]byte) (bool, error)) ([]byte, string) {
	for len(payload) > 0 {
		held, err := test(payload[1:])
		if err != nil || !held {
			break
		}
		payload = payload[1:]
	}
	return payload, ""
}

type adder struct {
	c    *counter
	lane campaign.Lane
}

func (a *adder) Notes() []string { return []string{fmt.Sprintf("cold=%t", a.lane.Cold)} }
func (a *adder) Close() error    { return nil }
func (a *adder) Execute(ctx context.Context, s sum, at campaign.Case) (campaign.Outcome, error) {
	if a.c.hook != nil && at.Payload == nil {
		if err := a.c.hook(a.lane, at.Index); err != nil {
			return campaign.Outcome{}, err
		}
	}
	if a.c.stuck && a.lane.Cold || a.c.hangs > 0 && at.Index == a.c.hangs {
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return campaign.Outcome{}, err
	}
	o := campaign.Outcome{Data: []byte(fmt.Sprint(s.total % 1000))}
	if at.Payload != nil {
		o.Data = nil
	}
	if a.c.fail == nil {
		return o, nil
	}
	kind := a.c.fail(at.Index)
	if kind != "" && a.c.flaky != nil && a.lane.Cold && a.c.flaky.Add(1)%2 == 0 {
		return o, nil
	}
	if kind != "" && (at.Payload == nil || strings.Contains(string(at.Payload), fmt.Sprint(at.Index))) {
		o.Verdict, o.Kind, o.Title, o.Cause = campaign.VerdictFail, kind, "fails with "+kind, []string{kind}
		o.Input = fmt.Sprint(at.Index)
		o.Evidence = []campaign.Attachment{{Name: "stderr", Data: []byte("it broke")}}
	}
	return o, nil
}

type fixture struct {
	t     *testing.T
	store *store.Store
	id    string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fixture{t: t, store: st}
}

func (f *fixture) run(ctx context.Context, c *counter, opt run.Options) (campaign.Record, error) {
	f.t.Helper()
	return f.runs(ctx, campaign.Erase[sum](c), opt)
}

func (f *fixture) runs(ctx context.Context, c campaign.Any, opt run.Options) (campaign.Record, error) {
	f.t.Helper()
	job := run.Job{Campaigns: []campaign.Any{c}, Sources: []string{"numbers"}, Store: f.store}
	var err error
	if f.id == "" {
		job.Writer, err = f.store.Begin(store.Manifest{Identities: []campaign.Identity{c.Identity()}})
	} else {
		job.Writer, job.Journal, err = f.store.Resume(f.id)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.id = job.Writer.RunID()
	if job.Journal != nil {
		defer job.Journal.Close()
	}
	rec, err := run.Run(ctx, job, opt)
	if cerr := job.Writer.Close(); cerr != nil {
		f.t.Fatal(cerr)
	}
	return rec, err
}

func (f *fixture) must(ctx context.Context, c *counter, opt run.Options) campaign.Record {
	f.t.Helper()
	rec, err := f.run(ctx, c, opt)
	if err != nil {
		f.t.Fatal(err)
	}
	return rec
}

func everyTenth(n int64) string {
	switch {
	case n%10 == 3:
		return "three"
	case n == 77:
		return "lucky"
	}
	return ""
}

func TestDigestIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	c := &counter{rounds: 5, perRound: 400, fail: everyTenth}
	want := newFixture(t).must(t.Context(), c, run.Options{Workers: 1, Reruns: 2, Shrink: 50})
	if want.Verdict != "fail" || len(want.Findings) != 2 || want.Campaigns[0].Cases.Run != 2000 || want.Campaigns[0].Cases.Fail != 201 {
		t.Fatalf("%+v", want)
	}
	for _, f := range want.Findings {
		if f.Flaky || !f.Minimized.Verified || f.Minimized.Size >= f.Minimized.From {
			t.Errorf("%+v", f)
		}
		if f.Cause[0] == "three" && len(f.Samples) != 5 {
			t.Errorf("%d samples, want 5", len(f.Samples))
		}
	}
	for _, n := range []int{2, 8, 33} {
		if got := newFixture(t).must(t.Context(), c, run.Options{Workers: n, Reruns: 2, Shrink: 50}); got.Digest != want.Digest {
			t.Errorf("%d workers: digest %s, want %s", n, got.Digest, want.Digest)
		}
	}
	changed := *c
	changed.fail = func(n int64) string { return everyTenth(n + 1) }
	if got := newFixture(t).must(t.Context(), &changed, run.Options{Workers: 2}); got.Digest == want.Digest {
		t.Error("other outcomes have the same digest")
	}
}

func TestResumeAtAnyPoint(t *testing.T) {
	c := &counter{rounds: 4, perRound: 100, fail: everyTenth}
	want := newFixture(t).must(t.Context(), c, run.Options{Workers: 3, Reruns: 1})
	for _, at := range []int64{1, 2, 50, 99, 100, 101, 250, 399} {
		f := newFixture(t)
		ctx, cancel := context.WithCancel(t.Context())
		part := *c
		part.hook = func(_ campaign.Lane, n int64) error {
			if n == at {
				cancel()
			}
			return nil
		}
		rec := f.must(ctx, &part, run.Options{Workers: 3, Reruns: 1})
		cancel()
		if rec.Stopped != run.StoppedInterrupted || rec.Complete {
			t.Fatalf("at %d: stopped %q", at, rec.Stopped)
		}
		executed := make(map[int64]int)
		var mu sync.Mutex
		part.hook = func(_ campaign.Lane, n int64) error {
			mu.Lock()
			executed[n]++
			mu.Unlock()
			return nil
		}
		rec = f.must(t.Context(), &part, run.Options{Workers: 3, Reruns: 1})
		if !rec.Complete || rec.Digest != want.Digest || rec.Campaigns[0].Cases != want.Campaigns[0].Cases {
			t.Errorf("at %d: resumed to %+v, want %+v", at, rec.Campaigns[0].Cases, want.Campaigns[0].Cases)
		}
		if n := int64(len(executed)); n > 400-at+1+3*64 || n == 400 && at > 200 {
			t.Errorf("at %d: %d cases were executed again", at, n)
		}
	}
}

func TestErrorsAreToldAndRetriedOnResume(t *testing.T) {
	broken := true
	c := &counter{rounds: 1, perRound: 50, hook: func(_ campaign.Lane, n int64) error {
		if broken && n%7 == 0 {
			return errors.New("endpoint down")
		}
		return nil
	}}
	f := newFixture(t)
	rec := f.must(t.Context(), c, run.Options{Workers: 4})
	if rec.Verdict != "error" || rec.Campaigns[0].Cases.Error != 8 || rec.Campaigns[0].Cases.Pass != 42 {
		t.Fatalf("%s %+v", rec.Verdict, rec.Campaigns[0].Cases)
	}
	broken = false
	if rec = f.must(t.Context(), c, run.Options{Workers: 4}); rec.Verdict != "pass" || rec.Campaigns[0].Cases.Pass != 50 {
		t.Fatalf("after the cause was mended: %s %+v", rec.Verdict, rec.Campaigns[0].Cases)
	}
	whole := newFixture(t).must(t.Context(), &counter{rounds: 1, perRound: 50}, run.Options{Workers: 1})
	if whole.Digest != rec.Digest {
		t.Error("a run whose errors were mended differs from one without")
	}

	// Where a later round was planned without them, they stay, and the run says so.
	broken, c.rounds, f = true, 2, newFixture(t)
	f.must(t.Context(), c, run.Options{Workers: 4})
	broken = false
	const want = "numbers: 8 cases without a result cannot be run again, because later cases depend on the results before them; start a new run"
	if rec = f.must(t.Context(), c, run.Options{Workers: 4}); rec.Campaigns[0].Cases.Error != 8 || !slices.Contains(rec.Warnings, want) {
		t.Errorf("%+v %q", rec.Campaigns[0].Cases, rec.Warnings)
	}
}

// A target that no longer answers ends its campaign: no case is started after it, what was
// found is reported, and nothing of it is confirmed. Campaigns after it run.
func TestGoneTargetEndsItsCampaign(t *testing.T) {
	var gone atomic.Bool
	c := &counter{rounds: 2, perRound: 5000, fail: func(n int64) string {
		if n == 40 {
			gone.Store(true)
			return "forty"
		}
		return ""
	}, hook: func(lane campaign.Lane, _ int64) error {
		if lane.Cold {
			t.Error("a case was run to confirm something")
		}
		if gone.Load() {
			return &campaign.GoneError{Err: errors.New("nothing answers")}
		}
		return nil
	}}
	f, other := newFixture(t), &counter{rounds: 2, perRound: 50}
	rec, err := f.all(t.Context(), []campaign.Any{campaign.Erase[sum](c), campaign.Erase[sum](other)}, run.Options{Workers: 4, Reruns: 2, Shrink: 10})
	if err == nil || err.Error() != "counter numbers: nothing answers" || rec.Verdict != "fail" || rec.Stopped != run.StoppedFatal {
		t.Fatalf("%v %s %s", err, rec.Verdict, rec.Stopped)
	}
	if n := rec.Campaigns[0].Cases; len(rec.Findings) != 1 || rec.Findings[0].Unconfirmed != "it could not be run again: nothing answers" || n.Error == 0 || n.Error > 100 {
		t.Errorf("%+v %+v", rec.Findings, n)
	}
	if n := rec.Campaigns[1].Cases; n.Pass != 100 {
		t.Errorf("the campaign after it: %+v", n)
	}
}

func TestFatalErrorEndsTheRunAndKeepsIt(t *testing.T) {
	gone := true
	c := &counter{rounds: 1, perRound: 1000, hook: func(_ campaign.Lane, n int64) error {
		if gone && n >= 500 {
			return campaign.Fatal("the program is gone")
		}
		return nil
	}}
	f := newFixture(t)
	var before, after atomic.Int64
	rec, err := f.run(t.Context(), c, run.Options{Workers: 4, Executed: func(n int64) { before.Store(n) }})
	if err == nil || !strings.Contains(err.Error(), "the program is gone") || rec.Verdict != "error" || rec.Stopped != run.StoppedFatal {
		t.Fatalf("%v %s %s", err, rec.Verdict, rec.Stopped)
	}
	if n := rec.Campaigns[0].Cases.Run; n > 500 {
		t.Errorf("%d cases counted", n)
	}
	gone = false
	rec = f.must(t.Context(), c, run.Options{Workers: 4, Executed: func(n int64) { after.Store(n) }})
	if !rec.Complete || rec.Campaigns[0].Cases.Pass != 1000 {
		t.Errorf("resumed: %+v", rec.Campaigns[0].Cases)
	}
	if before.Load() == 0 || before.Load()+after.Load() != 1000 {
		t.Errorf("%d cases executed before the end and %d after it", before.Load(), after.Load())
	}
}

func TestRedoRunsTheCampaignAgainCold(t *testing.T) {
	c := &counter{rounds: 3, perRound: 100, fail: everyTenth}
	want := newFixture(t).must(t.Context(), c, run.Options{Workers: 2, Reruns: 1})
	untrue := *c
	untrue.hook = func(lane campaign.Lane, n int64) error {
		if !lane.Cold && n == 150 {
			return &campaign.RedoError{Reason: "case 150 came out differently"}
		}
		return nil
	}
	f := newFixture(t)
	rec := f.must(t.Context(), &untrue, run.Options{Workers: 2, Reruns: 1})
	if rec.Digest != want.Digest || rec.Campaigns[0].Cases.Run != 300 {
		t.Errorf("digest or counts differ: %+v", rec.Campaigns[0].Cases)
	}
	if notes := strings.Join(rec.Environment.Notes, "\n"); !strings.Contains(notes, "case 150 came out differently") || !strings.Contains(notes, "cold=true") {
		t.Errorf("notes do not say so: %s", notes)
	}
	// A run that is over can be resumed: nothing is left to do.
	untrue.hook = func(campaign.Lane, int64) error { return errors.New("executed again") }
	if again := f.must(t.Context(), &untrue, run.Options{Workers: 2, Reruns: 1}); again.Digest != want.Digest || !again.Complete {
		t.Error("resuming a finished run changed it")
	}
}

func TestStopIsInCaseOrder(t *testing.T) {
	c := &counter{rounds: 1, perRound: 5000, fail: everyTenth}
	stop := func(o *campaign.Outcome) bool { return o.Kind == "lucky" }
	var digests []string
	for _, n := range []int{1, 2, 16} {
		rec := newFixture(t).must(t.Context(), c, run.Options{Workers: n, Reruns: 1, Stop: stop})
		if rec.Stopped != run.StoppedFailFast || rec.Campaigns[0].Cases.Run != 78 || rec.Campaigns[0].Cases.Planned != 5000 {
			t.Errorf("%d workers: %s %+v", n, rec.Stopped, rec.Campaigns[0].Cases)
		}
		digests = append(digests, rec.Digest)
	}
	if digests[0] != digests[1] || digests[1] != digests[2] {
		t.Errorf("digests differ: %q", digests)
	}
}

// A case that stops the run may stand in an attempt that is dropped because of
// a later case: the stop is dropped with it.
func TestRedoForgetsTheStop(t *testing.T) {
	stop := func(o *campaign.Outcome) bool { return o.Kind == "lucky" }
	c := &counter{rounds: 1, perRound: 5000, fail: everyTenth, hook: func(lane campaign.Lane, n int64) error {
		if !lane.Cold && n == 78 {
			return &campaign.RedoError{Reason: "case 78 came out differently"}
		}
		return nil
	}}
	for range 5 { // case 78 is most often, not always, in flight when case 77 is met
		rec := newFixture(t).must(t.Context(), c, run.Options{Workers: 1, Reruns: 1, Stop: stop})
		if rec.Stopped != run.StoppedFailFast || rec.Campaigns[0].Cases.Run != 78 {
			t.Errorf("%s %+v", rec.Stopped, rec.Campaigns[0].Cases)
		}
	}
}

// Going on past a stop needs the first case at which to stop next.
func TestStopFrom(t *testing.T) {
	stop := func(o *campaign.Outcome) bool { return o.Verdict == campaign.VerdictFail }
	c := &counter{rounds: 1, perRound: 100, fail: everyTenth}
	f := newFixture(t)
	for from := int64(0); from < 100; {
		rec := f.must(t.Context(), c, run.Options{Workers: 2, Reruns: 1, Stop: stop, StopFrom: from})
		if got := rec.Campaigns[0].Cases.Run; got <= from || rec.Complete != (got == 100) {
			t.Fatalf("from %d: %d cases, complete %t", from, got, rec.Complete)
		} else {
			from = got
		}
	}
}

// A limit counts what has run before; a lower one than that takes nothing back.
func TestCasesLimit(t *testing.T) {
	c := &counter{rounds: 10, perRound: 10}
	f := newFixture(t)
	for _, x := range [][2]int64{{1, 1}, {25, 25}, {5, 25}, {26, 26}} {
		rec := f.must(t.Context(), c, run.Options{Workers: 3, Cases: x[0]})
		if got := rec.Campaigns[0].Cases; got.Run != x[1] || got.Planned != x[1] || !rec.Complete || rec.Verdict != "pass" {
			t.Errorf("at most %d: %+v %s", x[0], got, rec.Verdict)
		}
	}
}

func TestVacuousRunsAreErrors(t *testing.T) {
	c := &counter{rounds: 0, perRound: 10}
	if rec := newFixture(t).must(t.Context(), c, run.Options{Workers: 1}); rec.Verdict != "error" || len(rec.Warnings) < 2 {
		t.Errorf("%s %q", rec.Verdict, rec.Warnings)
	}
	if rec := newFixture(t).must(t.Context(), c, run.Options{Workers: 1, AllowEmpty: true}); rec.Verdict != "pass" {
		t.Errorf("allowed: %s", rec.Verdict)
	}
}

func TestFlakyFindingIsKeptAndLabelled(t *testing.T) {
	c := &counter{rounds: 1, perRound: 20, fail: func(n int64) string {
		if n == 5 {
			return "sometimes"
		}
		return ""
	}, flaky: new(atomic.Int64)}
	rec := newFixture(t).must(t.Context(), c, run.Options{Workers: 2, Reruns: 4, Shrink: 100})
	if len(rec.Findings) != 1 || !rec.Findings[0].Flaky || rec.Findings[0].Rerun != (campaign.Rerun{Tried: 4, Same: 2}) || rec.Findings[0].Minimized != nil {
		t.Errorf("%+v", rec.Findings)
	}
}

func TestProbeFailure(t *testing.T) {
	c := &counter{rounds: 1, perRound: 20, probeErr: errors.New("no such program")}
	rec, err := newFixture(t).run(t.Context(), c, run.Options{Workers: 2})
	if err == nil || !strings.Contains(err.Error(), "no such program") || rec.Verdict != "error" {
		t.Errorf("%v %s", err, rec.Verdict)
	}
}

func TestFactsWarningsAreKept(t *testing.T) {
	rec := newFixture(t).must(t.Context(), &counter{rounds: 1, perRound: 1}, run.Options{Workers: 1})
	if len(rec.Warnings) != 1 || rec.Warnings[0] != "counting from seven" {
		t.Errorf("%q", rec.Warnings)
	}
}

// A failing case in every place fills no memory: the groups, not the cases, are kept.
func BenchmarkCases(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			st, err := store.Open(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			c := &counter{rounds: 1, perRound: int64(b.N)}
			w, err := st.Begin(store.Manifest{Identities: []campaign.Identity{c.Identity()}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			if _, err := run.Run(b.Context(), run.Job{Campaigns: []campaign.Any{campaign.Erase[sum](c)}, Sources: []string{""}, Store: st, Writer: w}, run.Options{Workers: workers, AllowEmpty: true}); err != nil {
				b.Fatal(err)
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// The time of a run is a deadline for confirming too: what was not run again is
// marked, fails the run all the same, and is confirmed by a resume.
func TestTimeIsADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		c := &counter{rounds: 1, perRound: 100, fail: everyTenth, stuck: true}
		rec := f.must(t.Context(), c, run.Options{Workers: 1, Reruns: 2, Shrink: 50, Time: 2 * time.Second})
		if rec.Verdict != "fail" || len(rec.Findings) != 2 {
			t.Fatalf("%+v", rec)
		}
		for _, x := range rec.Findings {
			if !strings.Contains(x.Unconfirmed, "--time") || x.Flaky || x.Minimized != nil {
				t.Errorf("%+v", x)
			}
		}
		c.stuck = false
		for _, x := range f.must(t.Context(), c, run.Options{Workers: 1, Reruns: 2, Shrink: 50}).Findings {
			if x.Unconfirmed != "" || x.Rerun.Same != 2 || x.Minimized == nil {
				t.Errorf("after a resume: %+v", x)
			}
		}
	})
}

// What runs the cases and does not come up is ended with the time of the run.
func TestTimeEndsAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		rec := newFixture(t).must(ctx, &counter{rounds: 2, perRound: 100, hangs: -1}, run.Options{Workers: 1, Time: time.Second})
		if rec.Stopped != run.StoppedTime || rec.Verdict != "error" || rec.Campaigns[0].Cases.Run != 0 {
			t.Errorf("stopped by %q, %s after %+v", rec.Stopped, rec.Verdict, rec.Campaigns[0].Cases)
		}
	})
}

// A case that does not end is ended with the time of the run, not with its own, and
// leaves what was found a part of it.
func TestTimeEndsACase(t *testing.T) {
	for name, fail := range map[string]func(int64) string{"found": everyTenth, "nothing found": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				c := &counter{rounds: 1, perRound: 100, fail: fail, hangs: 55}
				rec := newFixture(t).must(ctx, c, run.Options{Workers: 1, Reruns: 1, Time: 2 * time.Second})
				if rec.Stopped != run.StoppedTime || rec.Campaigns[0].Cases.Run == 0 || rec.Campaigns[0].Cases.Run > 55 || rec.Campaigns[0].Cases.Error > 0 {
					t.Errorf("stopped by %q after %+v", rec.Stopped, rec.Campaigns[0].Cases)
				}
			})
		})
	}
}

// closer is a counter whose probe leaves a journal that can no longer be written.
type closer struct {
	*counter
	journal *store.Writer
}

func (c closer) Probe(ctx context.Context) (campaign.Facts, error) {
	f, err := c.counter.Probe(ctx)
	return f, errors.Join(err, c.journal.Close())
}

// What a probe learned has to be in the journal, even if no case follows.
func TestAJournalThatCannotBeWritten(t *testing.T) {
	f := newFixture(t)
	c := closer{counter: &counter{}}
	var err error
	if c.journal, err = f.store.Begin(store.Manifest{Identities: []campaign.Identity{c.Identity()}}); err != nil {
		t.Fatal(err)
	}
	_, err = run.Run(t.Context(), run.Job{Campaigns: []campaign.Any{campaign.Erase[sum](c)}, Sources: []string{""}, Store: f.store, Writer: c.journal}, run.Options{Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "writing the run's journal: ") {
		t.Errorf("%v", err)
	}
}

// A kill before findings are confirmed loses none, whether its first case left evidence or not.
func TestAFindingIsJournaledWhenItIsMet(t *testing.T) {
	for name, c := range map[string]campaign.Any{
		"with evidence":    campaign.Erase[sum](&counter{rounds: 1, perRound: 30, fail: func(n int64) string { return map[bool]string{true: "crash"}[n == 12] }}),
		"without evidence": campaign.Erase[sum](&mortal{counter: &counter{rounds: 1, perRound: 30}, bomb: -1, own: 12}),
	} {
		f := newFixture(t)
		if _, err := f.runs(t.Context(), c, run.Options{Workers: 1}); err != nil {
			t.Fatal(err)
		}
		j, err := f.store.OpenJournal(f.id)
		if err != nil {
			t.Fatal(err)
		}
		var met []string // each finding as it was met, and as it was settled
		for e, err := range j.Entries() {
			if err != nil {
				t.Fatal(err)
			}
			var x struct {
				Provisional *struct {
					Case int64
					Kind string
				}
			}
			if e.Kind != store.KindFinding {
				continue
			}
			if err := json.Unmarshal(e.Data, &x); err != nil {
				t.Fatal(err)
			}
			if p := x.Provisional; p != nil {
				met = append(met, fmt.Sprint(p.Kind, " in case ", p.Case))
			} else {
				met = append(met, "settled")
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(met, []string{"crash in case 12", "settled"}) {
			t.Errorf("%s: %q", name, met)
		}
	}
}
