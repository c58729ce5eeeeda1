package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
)

// mortal is a campaign whose system ends some calls after that of a case.
type mortal struct {
	*counter
	bomb, delay int64 // the case, and how many cases are answered until its end shows
	cuts        bool  // the end cuts a call; otherwise it shows before one
	own         int64 // a case that ends the system with its own call
	batch       bool
	slow        bool // the end does not show to who waits less than 150 ms
	calls       atomic.Int64
}

func (m *mortal) Open(*campaign.Cache) campaign.Session[sum] {
	return campaign.Separate[sum](func(ctx context.Context, _ campaign.Lane) (campaign.Executor[sum], error) {
		x := &victim{m: m, life: campaign.LifeOf(ctx), left: -1}
		if m.batch {
			return victims{x}, nil
		}
		return x, nil
	})
}

type victim struct {
	m    *mortal
	life *campaign.Life
	left int64 // calls until it ends; -1: it will not
}

// every stands for all cases.
const every = -2

var theEnd = campaign.Outcome{Verdict: campaign.VerdictFail, Severity: campaign.SeverityHigh, Kind: campaign.KindEndedLater, Title: "it ended", Cause: []string{"it ended"},
	Evidence: []campaign.Attachment{{Name: "stderr", Data: []byte("boiled dry")}}}

func (v *victim) Watch(_ context.Context, d time.Duration) *campaign.Outcome {
	if v.left < 0 || v.m.slow && d < 150*time.Millisecond {
		return nil
	}
	if v.m.slow {
		time.Sleep(50 * time.Millisecond)
	}
	v.left = -1
	end := theEnd
	return &end
}

func (v *victim) Execute(_ context.Context, _ sum, at campaign.Case) (campaign.Outcome, error) {
	v.m.calls.Add(1)
	v.life.System = v
	end := theEnd
	switch {
	case v.left > 0:
		v.left--
	case v.left == 0 && v.m.cuts:
		v.left, v.life.End, v.life.Cut = -1, &end, true
		return campaign.Outcome{Verdict: campaign.VerdictFail, Kind: "crash", Title: "cut", Cause: []string{"cut"}}, nil
	case v.left == 0:
		v.left, v.life.End = -1, &end
	}
	if at.Index == v.m.own || v.m.own == every {
		v.left, v.life.End, v.life.Cut = -1, &end, true
		return campaign.Outcome{Verdict: campaign.VerdictFail, Kind: "crash", Title: "own", Cause: []string{"own"}}, nil
	}
	if at.Index == v.m.bomb || v.m.bomb == every {
		v.left = v.m.delay
	}
	v.life.Calls++
	return campaign.Outcome{}, nil
}
func (v *victim) Close() error { return nil }

// victims take cases together.
type victims struct{ *victim }

func (v victims) Batch() (time.Duration, int64) { return time.Second, 5 }
func (v victims) ExecuteBatch(ctx context.Context, s any, cases []campaign.Case, each func(campaign.Case, campaign.Outcome) error) (time.Duration, error) {
	for _, at := range cases {
		o, err := v.Execute(ctx, s.(sum), at)
		if err == nil {
			err = each(at, o)
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// The case after which the system ends is the finding, whichever meets its end, and shows
// again; cases that meet it, and those that end the system themselves, keep what is theirs.
func TestTheCaseAfterWhichTheSystemEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, x := range map[string]struct {
			m     *mortal
			found []string
			first int64
		}{
			"a call is cut":         {&mortal{bomb: 3, delay: 7, cuts: true, own: -1}, []string{"it ended"}, 3},
			"it shows before one":   {&mortal{bomb: 3, delay: 7, own: -1}, []string{"it ended"}, 3},
			"it is the last":        {&mortal{bomb: 29, delay: 7, own: -1}, []string{"it ended"}, 29},
			"the next one ends too": {&mortal{bomb: 3, delay: 0, cuts: true, own: 4}, []string{"own"}, 4},
			"a call of its own":     {&mortal{bomb: -1, own: 12}, []string{"own"}, 12},
			"in a batch":            {&mortal{bomb: 7, delay: 4, cuts: true, own: -1, batch: true}, []string{"it ended"}, 7},
			"the last of a batch":   {&mortal{bomb: 29, delay: 4, own: -1, batch: true}, []string{"it ended"}, 29},
			"it shows late":         {&mortal{bomb: 3, delay: 1, own: -1, slow: true}, []string{"it ended"}, 3},
			"it shows to the next":  {&mortal{bomb: 3, delay: 0, own: -1, slow: true}, []string{"it ended"}, 3},
			"none":                  {&mortal{bomb: -1, own: -1}, nil, 0},
		} {
			x.m.counter = &counter{rounds: 1, perRound: 30}
			rec, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](x.m), run.Options{Workers: 1, Reruns: 2})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, f := range rec.Findings {
				found = append(found, f.Title)
				if f.Flaky || f.First != x.first || f.Rerun.Same == 0 {
					t.Errorf("%s: %s: flaky %v, first is case %d, want %d, %+v", name, f.Title, f.Flaky, f.First, x.first, f.Rerun)
				}
				if ended := f.Kind == campaign.KindEndedLater; ended && (len(f.Evidence) < 2 || f.Evidence[0].Text.Body != fmt.Sprintf("The system answered case %d and then ended.", x.first) || f.Evidence[1].Text.Body != "boiled dry") {
					t.Errorf("%s: %+v", name, f.Evidence)
				}
			}
			if c := rec.Campaigns[0].Cases; !slices.Equal(found, x.found) || c.Run != 30 || c.Fail != int64(len(x.found)) {
				t.Errorf("%s: found %q, want %q; %+v", name, found, x.found, c)
			}
			if n := x.m.calls.Load(); n > 200 {
				t.Errorf("%s: %d calls", name, n)
			}
		}
	})
}

// anyVictim is a victim for a caller.
type anyVictim struct{ *victim }

func (v anyVictim) Execute(ctx context.Context, _ any, at campaign.Case) (campaign.Outcome, error) {
	return v.victim.Execute(ctx, sum{}, at)
}

// Cases that all end the system are executed again once in all, and not each; those after
// which it ends are searched for a few times, and the case before is blamed from then on.
func TestCasesThatAllEndTheSystem(t *testing.T) {
	for name, x := range map[string]struct {
		m            *mortal
		kind         string
		fails, calls int64
	}{
		"by their call": {&mortal{bomb: -1, own: every}, "crash", 30, 31},
		"later":         {&mortal{bomb: every, own: -1, cuts: true}, campaign.KindEndedLater, 21, 82},
	} {
		life := &campaign.Life{Clean: func(o campaign.Outcome) campaign.Outcome { o.Title = "without secrets"; return o }}
		c := run.NewCaller(anyVictim{&victim{m: x.m, life: life, left: -1}}, life, 0)
		var fails int64
		for i := range int64(30) {
			o, err := c.Execute(t.Context(), nil, campaign.Case{Index: i})
			if err != nil {
				t.Fatal(err)
			}
			if o.Verdict == campaign.VerdictFail {
				fails++
				if o.Kind != x.kind || x.m.bomb == every && (o.Title != "without secrets" || o.Input != fmt.Sprint(i-1)) {
					t.Errorf("%s: case %d: %+v", name, i, o)
				}
			}
		}
		if n := x.m.calls.Load(); fails != x.fails || n != x.calls {
			t.Errorf("%s: %d failures, want %d; %d calls, want %d", name, fails, x.fails, n, x.calls)
		}
	}
}

// leaving is a system that the user interrupts while it is watched.
type leaving struct {
	life   *campaign.Life
	cancel context.CancelFunc
}

func (l leaving) Execute(context.Context, any, campaign.Case) (campaign.Outcome, error) {
	l.life.System = l
	return campaign.Outcome{}, nil
}
func (l leaving) Watch(context.Context, time.Duration) *campaign.Outcome { l.cancel(); return nil }
func (l leaving) Close() error                                           { return nil }

// A case whose system was not watched for long enough has no outcome.
func TestInterruptedWhileWatching(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	life := &campaign.Life{}
	c := run.NewCaller(leaving{life, cancel}, life, 0)
	c.Watch(campaign.KindEndedLater)
	if o, err := c.Execute(ctx, nil, campaign.Case{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: %+v", err, o)
	}
}
