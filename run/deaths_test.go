package run_test

import (
	"context"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store/inflight"
)

// die leaves behind what a killed process of the run would.
func (f *fixture) die(process uint64, marks ...inflight.Mark) {
	f.t.Helper()
	list, err := inflight.Create(filepath.Join(f.store.Dir(), "runs", f.id, "inflight"), len(marks), process)
	if err != nil {
		f.t.Fatal(err)
	}
	for i, m := range marks {
		list.Begin(i, m)
	}
}

// interrupted is a run of 100 cases that ended at the 50th.
func interrupted(t *testing.T, c *counter) *fixture {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	part := *c
	part.hook = func(_ campaign.Lane, n int64) error {
		if n == 50 {
			cancel()
		}
		return nil
	}
	f.must(ctx, &part, run.Options{Workers: 1})
	cancel()
	return f
}

func inCase(n int64) inflight.Mark { return inflight.Mark{Kind: inflight.Case, Index: n} }

// What was in flight when Thresh was killed is executed alone, first in a process
// of its own; what kills that too has no result, and the run goes on to its end.
func TestACaseThatKillsThresh(t *testing.T) {
	c := &counter{rounds: 1, perRound: 100}
	f := interrupted(t, c)
	f.die(1, inCase(60), inflight.Mark{Kind: inflight.Case, Index: 70, Count: 3})
	var tried []int64
	var running, most, alone atomic.Int64
	c.hook = func(_ campaign.Lane, n int64) error {
		now := running.Add(1)
		defer running.Add(-1)
		if n == 60 || n == 70 || n == 72 {
			alone.Add(1)
			if now > 1 || most.Load() > 0 {
				t.Errorf("case %d is not the only one in flight", n)
			}
			return nil
		}
		if n == 71 {
			t.Error("the case that kills is executed in this process")
		}
		most.Store(max(most.Load(), now))
		return nil
	}
	opt := run.Options{Workers: 4, Trial: func(_ context.Context, x run.Trial) (bool, error) {
		if x.RunID != f.id || x.Campaign != 0 {
			t.Errorf("%+v", x)
		}
		tried = append(tried, x.Case.Index)
		return x.Case.Index == 71, nil
	}}
	for range 2 { // an error is met again when the run is resumed; nothing else is
		rec := f.must(t.Context(), c, opt)
		if got := rec.Campaigns[0].Cases; got.Pass != 99 || got.Error != 1 || !rec.Complete || rec.Verdict != "error" {
			t.Fatalf("%+v %s", got, rec.Verdict)
		}
		if w := strings.Join(rec.Warnings, "\n"); !strings.Contains(w, "1 case without a result: Thresh was killed each time it executed this case") {
			t.Errorf("warnings: %s", w)
		}
	}
	if !slices.Equal(tried, []int64{60, 70, 71, 72, 71}) || alone.Load() != 3 {
		t.Errorf("tried %v, %d alone", tried, alone.Load())
	}
}

// Without its own process two deaths decide; a death counts once, however
// often its traces are read.
func TestTwoDeathsDecide(t *testing.T) {
	c := &counter{rounds: 1, perRound: 100}
	f := interrupted(t, c)
	died := func() int64 { return f.must(t.Context(), c, run.Options{Workers: 2}).Campaigns[0].Cases.Error }
	f.die(1, inCase(60))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.must(ctx, c, run.Options{Workers: 2})
	f.die(1, inCase(60))
	f.must(ctx, c, run.Options{Workers: 2})
	f.die(2, inCase(61))
	f.must(ctx, c, run.Options{Workers: 2})
	f.die(3, inCase(62))
	f.must(ctx, c, run.Options{Workers: 2})
	f.die(4, inCase(62))
	if n := died(); n != 1 {
		t.Errorf("%d cases are given up, want case 62 alone", n)
	}
}

// A target that kills Thresh when it is tried before the first case leaves its
// campaign without a result, and the run goes on.
func TestAProbeThatKillsThresh(t *testing.T) {
	c := &counter{rounds: 1, perRound: 100}
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.must(ctx, c, run.Options{Workers: 2})
	f.die(1, inflight.Mark{Kind: inflight.Probe})
	f.must(ctx, c, run.Options{Workers: 2})
	f.die(2, inflight.Mark{Kind: inflight.Probe})
	rec := f.must(t.Context(), c, run.Options{Workers: 2})
	if rec.Campaigns[0].Cases.Run != 0 || rec.Verdict != "error" || !rec.Complete {
		t.Errorf("%+v %s", rec.Campaigns[0].Cases, rec.Verdict)
	}
	if w := strings.Join(rec.Warnings, "\n"); !strings.Contains(w, "numbers: Thresh was killed each time it tried the target before the first case; the campaign is not run") {
		t.Errorf("warnings: %s", w)
	}
}

// A start that kills Thresh is made without accelerators; one that somebody else
// killed is not.
func TestAStartThatKillsThresh(t *testing.T) {
	c := &counter{rounds: 1, perRound: 100}
	f := interrupted(t, c)
	f.die(1, inflight.Mark{Kind: inflight.Start})
	killed := false
	opt := run.Options{Workers: 2, Trial: func(_ context.Context, x run.Trial) (bool, error) {
		if !x.Start {
			t.Errorf("%+v", x)
		}
		return killed, nil
	}}
	var warm atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	c.hook = func(lane campaign.Lane, n int64) error {
		if !lane.Cold {
			warm.Add(1)
		}
		if n == 70 {
			cancel()
		}
		return nil
	}
	f.must(ctx, c, opt)
	if warm.Swap(0) == 0 {
		t.Error("a start that did not kill is made without accelerators")
	}
	killed = true
	rec := f.must(t.Context(), c, opt)
	if warm.Load() > 0 || rec.Campaigns[0].Cases.Pass != 100 {
		t.Errorf("%d cases with accelerators: %+v", warm.Load(), rec.Campaigns[0].Cases)
	}
	if n := strings.Join(rec.Environment.Notes, "\n"); !strings.Contains(n, "run without accelerator, because Thresh was killed while it tried one") {
		t.Errorf("notes: %s", n)
	}
}

// Making a finding small may kill Thresh too: what did is passed over.
func TestAShrinkThatKillsThresh(t *testing.T) {
	c := &counter{rounds: 1, perRound: 100, fail: func(n int64) string { return map[bool]string{true: "bad"}[n == 80] }}
	f := interrupted(t, c)
	smaller := []byte(strings.Repeat("x", 30) + "80") // the first that is tried
	f.die(1, inflight.Mark{Kind: inflight.Again, Index: 80, Print: crc32.ChecksumIEEE(smaller)})
	var tried []string
	rec := f.must(t.Context(), c, run.Options{Workers: 4, Reruns: 1, Shrink: 100, Trial: func(_ context.Context, x run.Trial) (bool, error) {
		tried = append(tried, string(x.Case.Payload))
		return true, nil
	}})
	if len(rec.Findings) != 1 || rec.Findings[0].Flaky || rec.Findings[0].Minimized.Size != 33 || !slices.Equal(tried, []string{string(smaller)}) {
		t.Errorf("tried %q: %+v", tried, rec.Findings)
	}
}

// planner is a counter whose rounds say what is in flight while they are planned.
type planner struct {
	*counter
	look func()
}

func (p planner) Round(s sum) (campaign.Round, bool) {
	p.look()
	return p.counter.Round(s)
}

// A probe that has ended is not what kills Thresh later.
func TestAProbeIsInFlightUntilItEnds(t *testing.T) {
	f, looks := newFixture(t), 0
	c := planner{&counter{rounds: 1, perRound: 10}, func() {
		looks++
		process, marks, err := inflight.Read(filepath.Join(f.store.Dir(), "runs", f.id, "inflight"))
		if err != nil || process == 0 || len(marks) > 0 {
			t.Errorf("process %d: %+v %v", process, marks, err)
		}
	}}
	if _, err := f.runs(t.Context(), campaign.Erase[sum](c), run.Options{Workers: 1}); err != nil || looks == 0 {
		t.Errorf("%v after %d looks", err, looks)
	}
}
