package run_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
)

// told is a counter that has its own word on findings.
type told struct {
	*counter
	once bool // no case may be executed again
}

func (c told) Refine(title string, _ campaign.Severity, o campaign.Outcome) (string, campaign.Severity) {
	severity := campaign.SeverityLow
	if o.Kind == "lucky" {
		severity = campaign.SeverityCritical
	}
	if len(o.Evidence) > 0 {
		title += ", with " + string(o.Evidence[0].Data)
	}
	return title, severity
}
func (c told) Describe(s sum, at campaign.Case, o campaign.Outcome, smallest []byte) []campaign.Exhibit {
	return []campaign.Exhibit{campaign.TextExhibit("Smallest", string(smallest))}
}
func (c told) Traits() campaign.Traits {
	return campaign.Traits{Planned: c.counter.Traits().Planned, Once: func(campaign.Case, *campaign.Outcome) string {
		if c.once {
			return "it changes something"
		}
		return ""
	}}
}

// A finding is what its first case, its re-runs and its campaign say.
func TestFindingsSayWhatIsKnown(t *testing.T) {
	explain := func(source string, f *campaign.Finding) {
		f.Evidence = append(f.Evidence, campaign.TextExhibit("Source", source+" "+f.Kind))
	}
	texts := func(f campaign.Finding) string {
		var list []string
		for _, e := range f.Evidence {
			list = append(list, e.Title+": "+e.Text.Body)
		}
		return strings.Join(list, "; ")
	}
	for name, x := range map[string]struct {
		once   bool
		shrink int
		want   string // of the finding of case 77
		rerun  campaign.Rerun
	}{
		"confirmed":            {false, 0, "Smallest: ; Source: numbers lucky", campaign.Rerun{Tried: 3, Same: 3}},
		"made small":           {false, 200, "Smallest: 77; Source: numbers lucky", campaign.Rerun{Tried: 3, Same: 3}},
		"not to be done twice": {true, 200, "Smallest: ; Source: numbers lucky", campaign.Rerun{}},
	} {
		t.Run(name, func(t *testing.T) {
			c := told{&counter{rounds: 1, perRound: 100, fail: everyTenth}, x.once}
			f := newFixture(t)
			opt := run.Options{Workers: 2, Reruns: 3, Shrink: x.shrink, Explain: explain, Reproduce: []string{"thresh", "replay"}}
			rec, err := f.runs(t.Context(), campaign.Erase[sum](c), opt)
			if err != nil || len(rec.Findings) != 2 {
				t.Fatalf("%v %+v", err, rec.Findings)
			}
			lucky, three := rec.Findings[0], rec.Findings[1] // the worst first
			if lucky.First != 77 {
				lucky, three = three, lucky
			}
			if lucky.Title != "fails with lucky, with it broke" || lucky.Severity != campaign.SeverityCritical || lucky.Cases != 1 || lucky.Kind != "lucky" ||
				!slices.Equal(lucky.Cause, []string{"lucky"}) || len(lucky.Samples) != 1 || texts(lucky) != x.want || lucky.Rerun != x.rerun || lucky.Flaky ||
				(lucky.Unconfirmed != "") != x.once || !slices.Equal(lucky.Reproduce, []string{"thresh", "replay", lucky.ID}) {
				t.Errorf("%+v\n%s", lucky, texts(lucky))
			}
			if three.First != 3 || three.Cases != 10 || len(three.Samples) != 5 || three.Severity != campaign.SeverityLow || three.ID == lucky.ID {
				t.Errorf("%+v", three)
			}
			if m := lucky.Minimized; (m != nil) != (x.shrink > 0 && !x.once) {
				t.Errorf("made small: %+v", m)
			} else if m != nil {
				small, err := f.store.Blob(m.Blob)
				if err != nil || string(small) != "77" || m.Size != 2 || m.From != 30 || string(m.Preview) != "77" || !m.Verified || m.Spent || m.Tries != 28+1+2 {
					t.Errorf("%q %v %+v", small, err, m)
				}
			}
			// What is settled is not done again.
			c.counter.hook = func(campaign.Lane, int64) error { return errors.New("executed again") }
			again, err := f.runs(t.Context(), campaign.Erase[sum](c), opt)
			if err != nil || len(again.Findings) != 2 || texts(again.Findings[0]) != texts(rec.Findings[0]) || again.Findings[0].Rerun != rec.Findings[0].Rerun {
				t.Errorf("%v %+v", err, again.Findings)
			}
		})
	}
}

// What cannot be confirmed says why, and is reported all the same; what was seen
// of the first case is shown.
func TestFindingsThatCannotBeConfirmed(t *testing.T) {
	busy := func(cold error) func(campaign.Lane, int64) error {
		return func(lane campaign.Lane, _ int64) error {
			if lane.Cold {
				return cold
			}
			return nil
		}
	}
	one := func(n int64) string {
		if n == 3 {
			return "three"
		}
		return ""
	}
	t.Run("no result", func(t *testing.T) {
		c := witnessed{&counter{rounds: 1, perRound: 10, fail: one}, busy(errors.New("no answer"))}
		rec, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](c), run.Options{Workers: 1, Reruns: 2, Shrink: 20})
		if err != nil || len(rec.Findings) != 1 {
			t.Fatalf("%v %+v", err, rec.Findings)
		}
		f := rec.Findings[0]
		if f.Rerun != (campaign.Rerun{Errors: 2}) || !f.Flaky || f.Minimized != nil || f.Title != "fails with three" {
			t.Errorf("%+v", f)
		}
	})
	t.Run("nothing left for a smaller one", func(t *testing.T) {
		var calls atomic.Int64
		c := witnessed{&counter{rounds: 1, perRound: 10, fail: one}, func(lane campaign.Lane, _ int64) error {
			if lane.Cold && calls.Add(1) > 2 {
				return errors.New("the budget is spent")
			}
			return nil
		}}
		rec, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](c), run.Options{Workers: 1, Reruns: 2, Shrink: 20})
		if err != nil || len(rec.Findings) != 1 {
			t.Fatalf("%v %+v", err, rec.Findings)
		}
		if f := rec.Findings[0]; f.Rerun != (campaign.Rerun{Tried: 2, Same: 2}) || f.Flaky || f.Minimized != nil {
			t.Errorf("%+v %+v", f, f.Minimized)
		}
	})
	for name, cold := range map[string]error{"fatal": campaign.Fatal("the program is gone"), "redo": &campaign.RedoError{Reason: "the program is gone"}} {
		t.Run(name, func(t *testing.T) {
			c := witnessed{&counter{rounds: 1, perRound: 10, fail: one}, busy(cold)}
			if _, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](c), run.Options{Workers: 1, Reruns: 2}); name == "fatal" &&
				(err == nil || !strings.Contains(err.Error(), "running case 3 again: the program is gone")) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("no lane", func(t *testing.T) {
		var none []string
		c := witness{quarrel{&counter{rounds: 1, perRound: 10, fail: one}, new(atomic.Int64)}, errors.New("no file"), nil, nil, &none}
		rec, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](c), run.Options{Workers: 1, Reruns: 2})
		if err == nil || !strings.Contains(err.Error(), "starting the target to confirm findings: no file") {
			t.Errorf("%v", err)
		}
		if len(rec.Findings) != 1 || !strings.Contains(rec.Findings[0].Unconfirmed, "could not be run again") { // what was seen is reported
			t.Errorf("%+v", rec)
		}
	})
	t.Run("its evidence is gone", func(t *testing.T) {
		f := newFixture(t)
		c := witnessed{&counter{rounds: 1, perRound: 10, fail: one}, func(lane campaign.Lane, _ int64) error {
			if !lane.Cold {
				return nil
			}
			return errors.Join(errors.New("no answer"), emptied(filepath.Join(f.store.Dir(), "blobs")))
		}}
		_, err := f.runs(t.Context(), campaign.Erase[sum](c), run.Options{Workers: 1, Reruns: 1})
		if err == nil || !strings.Contains(err.Error(), "reading back the evidence of case 3: ") {
			t.Errorf("%v", err)
		}
	})
	t.Run("its input is gone", func(t *testing.T) {
		f := newFixture(t)
		ctx, cancel := context.WithCancel(t.Context())
		c := &counter{rounds: 1, perRound: 100, fail: one, hook: func(_ campaign.Lane, n int64) error {
			if n == 50 {
				cancel()
			}
			return nil
		}}
		if rec := f.must(ctx, c, run.Options{Workers: 1, Reruns: 1}); len(rec.Findings) > 0 || rec.Complete {
			t.Fatalf("%+v", rec)
		}
		c.hook = nil
		if err := emptied(filepath.Join(f.store.Dir(), "blobs")); err != nil {
			t.Fatal(err)
		}
		rec, err := f.run(t.Context(), c, run.Options{Workers: 1, Reruns: 1})
		if err == nil && len(rec.Findings) != 1 || err != nil && !strings.Contains(err.Error(), "reading back the input of case 3") {
			t.Errorf("%v %+v", err, rec.Findings)
		}
	})
}

// What is settled when a run is interrupted is in its record; a resume settles the rest.
func TestInterruptedWhileConfirming(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	var seen []int64 // first cases of findings that were run again
	c := &counter{rounds: 1, perRound: 100, fail: everyTenth}
	interrupting := witnessed{c, func(l campaign.Lane, n int64) error {
		if l.Cold && !slices.Contains(seen, n) {
			if seen = append(seen, n); len(seen) == 2 {
				cancel()
				return context.Canceled
			}
		}
		return nil
	}}
	rec, err := f.runs(ctx, campaign.Erase[sum](interrupting), run.Options{Workers: 1, Reruns: 2})
	if err != nil || rec.Complete || rec.Verdict != "fail" || len(rec.Findings) != 1 || rec.Findings[0].Rerun.Same != 2 {
		t.Errorf("interrupted: %v %+v", err, rec)
	}
	if rec := f.must(t.Context(), c, run.Options{Workers: 1, Reruns: 2}); !rec.Complete || len(rec.Findings) != 2 {
		t.Errorf("resumed: %+v", rec)
	}
}

// witnessed is a counter whose hook is asked about every execution.
type witnessed struct {
	*counter
	each func(campaign.Lane, int64) error
}

func (w witnessed) Open(*campaign.Cache) campaign.Session[sum] {
	return campaign.Separate[sum](w.executor)
}
func (w witnessed) executor(ctx context.Context, lane campaign.Lane) (campaign.Executor[sum], error) {
	x, err := w.counter.executor(ctx, lane)
	return asked{x, w, lane}, err
}

type asked struct {
	campaign.Executor[sum]
	w    witnessed
	lane campaign.Lane
}

func (x asked) Execute(ctx context.Context, s sum, at campaign.Case) (campaign.Outcome, error) {
	if err := x.w.each(x.lane, at.Index); err != nil {
		return campaign.Outcome{}, err
	}
	return x.Executor.Execute(ctx, s, at)
}

// A case has as long as it is given, and the next one again, one by one or together.
func TestCaseTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, batch := range []bool{false, true} {
			slow := slowly{&counter{rounds: 1, perRound: 6}, batch, new(atomic.Int64)}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			rec, err := newFixture(t).runs(ctx, campaign.Erase[sum](slow), run.Options{Workers: 1, CaseTimeout: 300 * time.Millisecond})
			cancel()
			if err != nil || rec.Campaigns[0].Cases.Error != 2 || rec.Campaigns[0].Cases.Pass != 4 {
				t.Fatalf("together %v: %v %+v", batch, err, rec.Campaigns)
			}
			if w := strings.Join(rec.Warnings, "\n"); !strings.Contains(w, "2 cases without a result: no outcome within the case timeout of 300ms") {
				t.Errorf("together %v: %s", batch, w)
			}
			if n := slow.ended.Load(); n != 4 {
				t.Errorf("together %v: the 4 cases that end were executed %d times", batch, n)
			}
		}
	})
}

// slowly is a counter of which cases 1 and 3 never end, and the others take half their time.
type slowly struct {
	*counter
	batch bool
	ended *atomic.Int64
}

func (c slowly) Open(*campaign.Cache) campaign.Session[sum] {
	return campaign.Separate[sum](c.executor)
}
func (c slowly) executor(ctx context.Context, lane campaign.Lane) (campaign.Executor[sum], error) {
	x, err := c.counter.executor(ctx, lane)
	if c.batch {
		return waitingTogether{waiting{x, c.ended}}, err
	}
	return waiting{x, c.ended}, err
}

type waiting struct {
	campaign.Executor[sum]
	ended *atomic.Int64
}

func (x waiting) Execute(ctx context.Context, s sum, at campaign.Case) (campaign.Outcome, error) {
	if at.Index == 1 || at.Index == 3 {
		<-ctx.Done()
		return campaign.Outcome{}, ctx.Err()
	}
	x.ended.Add(1)
	select {
	case <-time.After(150 * time.Millisecond):
	case <-ctx.Done():
		return campaign.Outcome{}, ctx.Err()
	}
	return x.Executor.Execute(ctx, s, at)
}

// waitingTogether takes all cases at once, the slow ones last.
type waitingTogether struct{ waiting }

func (x waitingTogether) Batch() (time.Duration, int64) { return time.Second, 6 }
func (x waitingTogether) ExecuteBatch(ctx context.Context, s any, cases []campaign.Case, each func(campaign.Case, campaign.Outcome) error) (time.Duration, error) {
	for _, slow := range []bool{false, true} {
		for _, at := range cases {
			if slow != (at.Index == 1 || at.Index == 3) {
				continue
			}
			o, err := x.Execute(ctx, s.(sum), at)
			if err == nil {
				err = each(at, o)
			}
			if err != nil {
				return 0, err
			}
		}
	}
	return 0, nil
}

// While findings are confirmed, progress counts findings, and no cases.
func TestProgressOfConfirming(t *testing.T) {
	told := make(chan run.Snapshot, 1)
	var seen run.Snapshot
	begun := func() bool { return seen.Phase == run.PhaseConfirm && seen.Planned == 2 && seen.Done == 0 }
	c := witnessed{&counter{rounds: 1, perRound: 100, fail: everyTenth}, func(lane campaign.Lane, _ int64) error {
		for late := time.After(30 * time.Second); lane.Cold && !begun(); {
			select {
			case seen = <-told:
			case <-late:
				return errors.New("no such progress")
			}
		}
		return nil
	}}
	progress := func(s run.Snapshot) {
		select {
		case told <- s:
		default:
		}
	}
	if _, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](c), run.Options{Workers: 1, Reruns: 1, Progress: progress}); err != nil || !begun() {
		t.Errorf("%v %+v", err, seen)
	}
}
