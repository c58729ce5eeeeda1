package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// short is a campaign that may be executed ahead of its turn.
type short struct {
	*counter
	name string
}

func (s short) Traits() campaign.Traits {
	return campaign.Traits{Planned: s.counter.Traits().Planned, Early: true}
}
func (s short) Identity() campaign.Identity {
	return campaign.Identity{Contract: "counter", Name: s.name, Digest: s.name}
}
func (s short) Start(campaign.Facts) sum { return sum{total: 7} }

// shorts are campaigns of one round of two cases.
func shorts(n int, hook func(k int, lane campaign.Lane, i int64) error) (list []campaign.Any) {
	for k := range n {
		c := &counter{rounds: 1, perRound: 2}
		c.hook = func(lane campaign.Lane, i int64) error { return hook(k, lane, i) }
		if k%5 == 3 {
			c.fail = func(i int64) string { return []string{"", "sum"}[i] }
		}
		list = append(list, campaign.Erase[sum](short{c, fmt.Sprint("c", k)}))
	}
	return list
}

// all runs campaigns as one run.
func (f *fixture) all(ctx context.Context, list []campaign.Any, opt run.Options) (campaign.Record, error) {
	f.t.Helper()
	job := run.Job{Campaigns: list, Sources: make([]string, len(list)), Store: f.store}
	m := store.Manifest{}
	for _, c := range list {
		m.Identities = append(m.Identities, c.Identity())
	}
	var err error
	if f.id == "" {
		job.Writer, err = f.store.Begin(m)
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
		f.t.Error(cerr)
	}
	return rec, err
}

// Cases of short campaigns run side by side, and the run is the same as with one
// worker.
func TestAhead(t *testing.T) {
	const n = 40
	quiet := func(int, campaign.Lane, int64) error { return nil }
	want, err := newFixture(t).all(t.Context(), shorts(n, quiet), run.Options{Workers: 1, Reruns: 1})
	if err != nil {
		t.Fatal(err)
	}
	both := make(chan int)
	meets := func(k int, lane campaign.Lane, i int64) error { // the first case waits for one of another campaign
		switch {
		case lane.Cold:
		case k == 0 && i == 0:
			select {
			case both <- k:
			case <-time.After(20 * time.Second):
				return errors.New("nobody else came")
			}
		case k == 2 && i == 0:
			select {
			case <-both:
			case <-time.After(20 * time.Second):
			}
		}
		return nil
	}
	for name, c := range map[string]struct {
		hook func(k int, lane campaign.Lane, i int64) error
		opt  run.Options
		note string
	}{
		"side by side":         {hook: meets, opt: run.Options{Workers: 4, Reruns: 1}},
		"two workers":          {hook: quiet, opt: run.Options{Workers: 2, Reruns: 1}},
		"more than are needed": {hook: quiet, opt: run.Options{Workers: 200, Reruns: 1}},
		"one starts again": {hook: func(k int, lane campaign.Lane, i int64) error {
			if k == 7 && !lane.Cold {
				return &campaign.RedoError{Reason: "the shortcut was wrong"}
			}
			return nil
		}, opt: run.Options{Workers: 3, Reruns: 1}, note: "c7: run again without accelerator: the shortcut was wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newFixture(t).all(t.Context(), shorts(n, c.hook), c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if got.Digest != want.Digest || len(got.Findings) != len(want.Findings) || got.Verdict != want.Verdict || !slices.EqualFunc(got.Campaigns, want.Campaigns, func(a, b campaign.CampaignRecord) bool { return a.Name == b.Name && a.Cases == b.Cases }) {
				t.Errorf("%+v\nwant %+v", got, want)
			}
			if c.note != "" && !slices.Contains(got.Environment.Notes, c.note) {
				t.Errorf("notes %q lack %q", got.Environment.Notes, c.note)
			}
		})
	}
}

// A run that ends before the turn of campaigns whose cases were executed keeps their
// outcomes: who resumes it does not execute them again.
func TestAheadOfTheEnd(t *testing.T) {
	for name, end := range map[string]func(cancel func()) error{
		"interrupted": func(cancel func()) error { cancel(); return context.Canceled },
		"environment": func(func()) error { return campaign.Fatal("the disk is gone") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			var mu sync.Mutex
			ran := make(map[string]int)
			count := func(k int, lane campaign.Lane, i int64) {
				mu.Lock()
				defer mu.Unlock()
				if !lane.Cold {
					ran[fmt.Sprintf("%d/%d", k, i)]++
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			others := make(chan struct{})
			ahead := sync.OnceFunc(func() { close(others) })
			rec, err := f.all(ctx, shorts(6, func(k int, lane campaign.Lane, i int64) error {
				if k == 0 && i == 0 {
					select {
					case <-others:
					case <-time.After(20 * time.Second):
						t.Error("no other campaign was executed")
					}
					return end(cancel)
				}
				if count(k, lane, i); k == 5 {
					ahead()
				}
				return nil
			}), run.Options{Workers: 2, Reruns: 1})
			if rec.Complete || name == "environment" && (err == nil || !strings.Contains(err.Error(), "the disk is gone")) {
				t.Fatalf("%v, complete %t", err, rec.Complete)
			}
			rec, err = f.all(t.Context(), shorts(6, func(k int, lane campaign.Lane, i int64) error {
				count(k, lane, i)
				return nil
			}), run.Options{Workers: 2, Reruns: 1})
			if err != nil || !rec.Complete {
				t.Fatalf("%v, complete %t", err, rec.Complete)
			}
			twice := 0
			for _, n := range ran {
				if n > 1 {
					twice++
				}
			}
			if len(ran) != 12 || twice > 2 { // one or two were under way
				t.Errorf("cases ran %v", ran)
			}
		})
	}
}

// stuck is a short campaign whose target cannot be closed.
type stuck struct{ short }

type stuckSession struct{ campaign.Session[sum] }

func (s stuck) Open(c *campaign.Cache) campaign.Session[sum] {
	return stuckSession{s.short.Open(c)}
}
func (stuckSession) Close() error { return errors.New("it does not end") }

// What ends a campaign, and a target that cannot be closed, neither hide what was found nor keep
// other campaigns from running.
func TestErrorsOfACampaignHideNothing(t *testing.T) {
	for _, workers := range []int{1, 3} {
		broken := &counter{rounds: 1, perRound: 2, fail: func(i int64) string { return []string{"first", ""}[i] }, hook: func(_ campaign.Lane, i int64) error {
			if i == 1 {
				return campaign.Fatal("the program is gone")
			}
			return nil
		}}
		fails := func(why string) *counter {
			return &counter{rounds: 1, perRound: 2, fail: func(i int64) string { return []string{"", why}[i] }}
		}
		list := []campaign.Any{
			campaign.Erase[sum](short{broken, "broken"}), campaign.Erase[sum](stuck{short{fails("second"), "stuck"}}), campaign.Erase[sum](short{fails("third"), "sound"}),
		}
		rec, err := newFixture(t).all(t.Context(), list, run.Options{Workers: workers, Reruns: 1})
		want := "counter broken: the program is gone\ncounter stuck: closing the target: it does not end"
		if err == nil || err.Error() != want || rec.Verdict != "fail" || rec.Stopped != run.StoppedFatal || len(rec.Warnings) != 3 {
			t.Errorf("%d workers: %v, %s, %s, %q", workers, err, rec.Verdict, rec.Stopped, rec.Warnings)
		}
		var got []string
		for _, f := range rec.Findings {
			got = append(got, fmt.Sprint(f.Campaign, " ", f.Rerun.Same, " ", f.Unconfirmed))
		}
		if got := strings.Join(got, "; "); workers == 1 && got != "broken 0 it could not be run again: the program is gone; stuck 1 ; sound 1 " || !strings.HasSuffix(got, "stuck 1 ; sound 1 ") {
			t.Errorf("%d workers: findings %q", workers, got)
		}
	}
}

// A run whose target could not be closed does not pass when it is resumed with no case left.
func TestResumedAfterATargetThatIsNotClosed(t *testing.T) {
	for _, workers := range []int{1, 3} {
		f, opt := newFixture(t), run.Options{Workers: workers, Cases: 2}
		sound := campaign.Erase[sum](short{&counter{rounds: 1, perRound: 4}, "sound"})
		open := []campaign.Any{campaign.Erase[sum](stuck{short{&counter{rounds: 1, perRound: 4}, "stuck"}}), sound}
		closed := []campaign.Any{campaign.Erase[sum](short{&counter{rounds: 1, perRound: 4}, "stuck"}), sound}
		for _, x := range []struct {
			list  []campaign.Any
			cases int64
			want  string
		}{
			{open, 2, "counter stuck: closing the target: it does not end"},
			{closed, 2, "counter stuck: closing the target: it does not end (before the run was resumed, which had no case left; start a new run)"},
			{closed, 2, "counter stuck: closing the target: it does not end (before the run was resumed, which had no case left; start a new run)"},
			{closed, 4, ""},
			{closed, 4, ""},
		} {
			opt.Cases = x.cases
			rec, err := f.all(t.Context(), x.list, opt)
			if x.want == "" && (err != nil || rec.Verdict != "pass") || x.want != "" && (err == nil || err.Error() != x.want || rec.Verdict != "error") {
				t.Errorf("%d workers, %d cases: %v, %s", workers, x.cases, err, rec.Verdict)
			}
		}
	}
}
