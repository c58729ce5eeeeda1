package run_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// doubting is a campaign over numbers that looks once more at every fifth, and at those without
// a result: at two after a round, and at all that are left when it is closed. The second looks at 35 and 60 fail.
type doubting struct {
	*counter
	look func(ctx context.Context, n int64) error // before each second look
}

type doubts struct {
	sum
	waiting []int64
	done    int64
	again   bool // the next round is one of second looks
	closing bool
}

const doubtful, doubtRound = 5, 8

func (d doubting) Traits() campaign.Traits { return campaign.Traits{Closes: true} }
func (d doubting) Start(f campaign.Facts) doubts {
	return doubts{sum: d.counter.Start(f)}
}
func (d doubting) Round(s doubts) (campaign.Round, bool) {
	if s.again || s.closing {
		n := min(2, len(s.waiting))
		return campaign.Round{Len: int64(n), At: func(i int64) []byte { return fmt.Appendf(nil, "again %d", s.waiting[i]) }}, n > 0
	}
	return campaign.Round{Len: doubtRound}, s.done < d.rounds*d.perRound
}
func (d doubting) Fold(s doubts, results iter.Seq2[campaign.Case, campaign.Outcome]) doubts {
	round, _ := d.Round(s)
	n := int64(0)
	second := s.again || s.closing
	waiting := s.waiting
	s.waiting = append([]int64(nil), waiting...)
	for at, o := range results {
		s.total = s.total*31 + int64(len(o.Data)) + at.Index
		n++
		switch {
		case second:
			s.waiting = s.waiting[1:]
		default:
			if s.done++; s.done%doubtful == 0 || o.Verdict == campaign.VerdictError {
				s.waiting = append(s.waiting, s.done)
			}
		}
	}
	s.closing = s.closing || n < round.Len
	s.again = !second && len(s.waiting) > 3
	return s
}
func (d doubting) Open(*campaign.Cache) campaign.Session[doubts] {
	return campaign.Separate[doubts](func(_ context.Context, lane campaign.Lane) (campaign.Executor[doubts], error) {
		return &doubter{d, &adder{d.counter, lane}}, nil
	})
}
func (d doubting) Input(ctx context.Context, s doubts, at campaign.Case) []byte {
	if at.Payload != nil {
		return at.Payload
	}
	return d.counter.Input(ctx, s.sum, at)
}

type doubter struct {
	d     doubting
	adder *adder
}

func (x *doubter) Close() error { return nil }
func (x *doubter) Execute(ctx context.Context, s doubts, at campaign.Case) (campaign.Outcome, error) {
	var n int64
	if _, err := fmt.Sscanf(string(at.Payload), "again %d", &n); err != nil {
		return x.adder.Execute(ctx, s.sum, at)
	}
	if x.d.look != nil && !x.adder.lane.Cold {
		if err := x.d.look(ctx, n); err != nil {
			return campaign.Outcome{}, err
		}
	}
	o := campaign.Outcome{Data: fmt.Append(nil, n, s.total)}
	if n == 35 || n == 60 {
		o.Verdict, o.Kind, o.Title, o.Cause, o.Input = campaign.VerdictFail, "late", fmt.Sprint("fails late at ", n), []string{fmt.Sprint(n)}, fmt.Sprint(n)
		o.Data = nil
	}
	return o, ctx.Err()
}

func newDoubting() doubting { return doubting{counter: &counter{rounds: 20, perRound: 8}} }

func (f *fixture) doubt(ctx context.Context, d doubting, opt run.Options) campaign.Record {
	f.t.Helper()
	opt.Reruns = 1
	rec, err := f.runs(ctx, campaign.Erase[doubts](d), opt)
	if err != nil {
		f.t.Fatal(err)
	}
	return rec
}

// verified is the journal of the run, which gives what its record says.
func (f *fixture) verified(d doubting) *store.Journal {
	f.t.Helper()
	j, err := f.store.OpenJournal(f.id)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { j.Close() })
	rec, ok, err := j.Record()
	if err != nil || !ok {
		f.t.Fatal(ok, err)
	}
	if problems, err := run.Verify(j, &rec, []campaign.Any{campaign.Erase[doubts](d)}); err != nil || len(problems) > 0 {
		f.t.Errorf("%v %q", err, problems)
	}
	return j
}

// What closes a campaign that --cases ends, in the middle of a round, at its end, or among second
// looks, is the same for any number of workers and however often the run is interrupted, and a
// longer run is as if it had not been.
func TestClosing(t *testing.T) {
	d := newDoubting()
	whole := newFixture(t).doubt(t.Context(), d, run.Options{Workers: 2, Cases: 90})
	for _, cases := range []int64{1, 37, 40, 43, 45, 65} {
		f := newFixture(t)
		want := f.doubt(t.Context(), d, run.Options{Workers: 1, Cases: cases})
		c := want.Campaigns[0].Cases
		if c.Run != cases+c.Closing || !want.Complete {
			t.Errorf("%d cases: %+v, complete: %t", cases, c, want.Complete)
		}
		j := f.verified(d)
		n := int64(0)
		for e := range run.Outcomes(j, 0) {
			n++
			at, _, err := run.RoundCaseAt(campaign.Erase[doubts](d), 0, j, e.Case.Index)
			if err != nil || at.Round != e.Case.Round || e.Kind == store.KindClosing && at.Payload == nil {
				t.Errorf("%d cases: case %d of round %d is %+v, %v", cases, e.Case.Index, e.Case.Round, at, err)
			}
			kept, o, err := f.store.CaseOf(f.id, "counter", "numbers", e.Case.Index)
			if err != nil || kept.Round != e.Case.Round || o.Verdict != e.Outcome.Verdict {
				t.Errorf("%d cases: case %d is stored as one of round %d, %v", cases, e.Case.Index, kept.Round, err)
			}
		}
		if n != c.Run || cases > doubtRound && c.Closing == 0 {
			t.Errorf("%d cases: %d outcomes of %d, %d close it", cases, n, c.Run, c.Closing)
		}
		if state, err := run.StateOf(campaign.Erase[doubts](d), 0, j); err != nil || len(state.(doubts).waiting) > 0 {
			t.Errorf("%d cases: %+v is left, %v", cases, state, err)
		}

		// Interrupted at every case, and resumed.
		var cancel context.CancelFunc
		g, left := newFixture(t), int64(0)
		cut := d
		cut.look = func(ctx context.Context, n int64) error {
			if left--; left < 0 {
				cancel()
				<-ctx.Done()
			}
			return nil
		}
		var got campaign.Record
		for tries := int64(0); got.Digest == "" || !got.Complete; tries++ {
			if left = 1; tries > 2*cases+9 {
				t.Fatalf("%d cases: never complete", cases)
			}
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			got = g.doubt(ctx, cut, run.Options{Workers: 1, Cases: cases})
			cancel()
		}
		if got.Digest != want.Digest || got.Campaigns[0].Cases != want.Campaigns[0].Cases {
			t.Errorf("%d cases: interrupted, %+v, want %+v", cases, got.Campaigns[0].Cases, c)
		}
		for _, workers := range []int{2, 4} {
			if rec := newFixture(t).doubt(t.Context(), d, run.Options{Workers: workers, Cases: cases}); rec.Digest != want.Digest {
				t.Errorf("%d cases: %d workers give another digest", cases, workers)
			}
		}

		// Taken further, with a stop on the way.
		f.doubt(t.Context(), d, run.Options{Workers: 2, Cases: max(cases, 50)})
		f.verified(d)
		if rec := f.doubt(t.Context(), d, run.Options{Workers: 2, Cases: 90}); rec.Digest != whole.Digest || rec.Campaigns[0].Cases != whole.Campaigns[0].Cases || len(rec.Findings) != len(whole.Findings) {
			t.Errorf("%d cases, then 90: %+v, want %+v", cases, rec.Campaigns[0].Cases, whole.Campaigns[0].Cases)
		}
		f.verified(d)
	}
	if len(whole.Findings) != 2 {
		t.Errorf("%+v", whole.Findings)
	}
}

// A case whose result was missing changes what closes the campaign: what was executed of that
// no longer counts.
func TestClosingAfterAnError(t *testing.T) {
	d := newDoubting()
	down := true
	d.hook = func(_ campaign.Lane, n int64) error {
		if down && n == 37 {
			return context.DeadlineExceeded
		}
		return nil
	}
	f := newFixture(t)
	first := f.doubt(t.Context(), d, run.Options{Workers: 2, Cases: 40})
	down = false
	second := f.doubt(t.Context(), d, run.Options{Workers: 2, Cases: 40})
	if want := newFixture(t).doubt(t.Context(), d, run.Options{Workers: 2, Cases: 40}); second.Digest != want.Digest || first.Digest == want.Digest {
		t.Errorf("%s, then %s, want %s", first.Digest, second.Digest, want.Digest)
	}
	f.verified(d)
	if third := f.doubt(t.Context(), d, run.Options{Workers: 2, Cases: 40}); third.Digest != second.Digest || third.Campaigns[0].Cases != second.Campaigns[0].Cases {
		t.Errorf("%+v, and then %+v", second.Campaigns[0].Cases, third.Campaigns[0].Cases)
	}
	if c := first.Campaigns[0].Cases; c.Closing != second.Campaigns[0].Cases.Closing+1 {
		t.Errorf("at first %+v", c)
	}
	if _, o, err := f.store.CaseOf(f.id, "counter", "numbers", 37); err != nil || o.Verdict != campaign.VerdictPass {
		t.Errorf("case 37 is stored as %v, %v", o.Verdict, err)
	}
	if rec := f.doubt(t.Context(), d, run.Options{Workers: 2, Cases: 20}); rec.Digest != second.Digest {
		t.Errorf("resumed with fewer cases than it has, the run has %+v", rec.Campaigns[0].Cases)
	}
}

// While a campaign is closed, progress says so, and nothing of how much is left.
func TestProgressOfClosing(t *testing.T) {
	d := newDoubting()
	told := make(chan run.Snapshot, 1)
	var seen run.Snapshot
	d.look = func(ctx context.Context, n int64) error {
		if n < 25 || seen.Phase != "" {
			return nil
		}
		for {
			select {
			case seen = <-told:
				if seen.Phase == run.PhaseClose {
					return nil
				}
			case <-time.After(30 * time.Second):
				return nil
			}
		}
	}
	progress := func(s run.Snapshot) {
		select {
		case told <- s:
		default:
		}
	}
	newFixture(t).doubt(t.Context(), d, run.Options{Workers: 1, Cases: 37, Progress: progress})
	if seen.Phase != run.PhaseClose || seen.Planned != 0 || seen.Done < 37 {
		t.Errorf("%+v", seen)
	}
}

// A deadline keeps time for what closes a campaign, and ends that in time.
func TestClosingInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoubting()
		d.rounds = 1 << 40
		d.hook = func(campaign.Lane, int64) error { time.Sleep(2 * time.Millisecond); return nil }
		f := newFixture(t)
		rec := f.doubt(t.Context(), d, run.Options{Workers: 2, Time: time.Second})
		if c := rec.Campaigns[0].Cases; c.Closing == 0 || rec.Stopped != run.StoppedTime || rec.Environment.Seconds > 30 {
			t.Errorf("%+v, stopped: %s, %v s", c, rec.Stopped, rec.Environment.Seconds)
		}
		f.verified(d)

		// A second look that takes too long.
		stuck := int64(0)
		d.look = func(ctx context.Context, n int64) error {
			if n > 200 {
				stuck = n
				<-ctx.Done()
			}
			return nil
		}
		began := time.Now()
		g := newFixture(t)
		rec = g.doubt(t.Context(), d, run.Options{Workers: 1, Time: 2 * time.Second})
		if took := time.Since(began); stuck == 0 || took > 30*time.Second {
			t.Errorf("it took %v, stuck at %d", took, stuck)
		}
		g.verified(d)
	})
}
