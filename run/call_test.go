package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
)

// tries counts how often each case was executed.
type tries struct {
	sync.Mutex
	n map[int64]int
}

func (t *tries) add(n int64) int {
	t.Lock()
	defer t.Unlock()
	if t.n == nil {
		t.n = make(map[int64]int)
	}
	t.n[n]++
	return t.n[n]
}

func TestACallThatFailsOnceIsMadeAgain(t *testing.T) {
	var seen tries
	c := &counter{rounds: 1, perRound: 30, hook: func(_ campaign.Lane, n int64) error {
		switch k := seen.add(n); {
		case n == 7 && k == 1:
			return campaign.Transient("the service was busy")
		case n == 9:
			return errors.New("broken for good")
		}
		return nil
	}}
	rec := newFixture(t).must(t.Context(), c, run.Options{Workers: 2})
	if got := rec.Campaigns[0].Cases; got.Pass != 29 || got.Error != 1 || !rec.Complete || rec.Verdict != "error" {
		t.Errorf("%+v %s", got, rec.Verdict)
	}
	if seen.n[7] != 2 || seen.n[9] != 1 {
		t.Errorf("case 7 was executed %d times, case 9 %d times", seen.n[7], seen.n[9])
	}
	if notes := strings.Join(rec.Environment.Notes, "\n"); !strings.Contains(notes, "1 case was executed again because a call failed: the service was busy") {
		t.Errorf("notes: %s", notes)
	}
	if w := strings.Join(rec.Warnings, "\n"); !strings.Contains(w, "numbers: 1 case without a result: broken for good") {
		t.Errorf("warnings: %s", w)
	}
}

// A service that is down costs the pauses a few times, not once a case.
func TestAServiceThatIsDownIsNotWaitedForEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen tries
		c := &counter{rounds: 1, perRound: 40, hook: func(_ campaign.Lane, n int64) error {
			seen.add(n)
			return campaign.Transient("refused")
		}}
		begun := time.Now()
		rec := newFixture(t).must(t.Context(), c, run.Options{Workers: 1})
		if rec.Campaigns[0].Cases.Error != 40 || !rec.Complete {
			t.Errorf("%+v", rec.Campaigns[0].Cases)
		}
		for n := range int64(40) {
			want := 1
			if n < 4 {
				want = 4
			}
			if seen.n[n] != want {
				t.Errorf("case %d was executed %d times, want %d", n, seen.n[n], want)
			}
		}
		if took := time.Since(begun); took != 4*2100*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		if w := strings.Join(rec.Warnings, "\n"); !strings.Contains(w, "40 cases without a result: refused") {
			t.Errorf("warnings: %s", w)
		}
	})
}

// batcher is a counter whose executors take several cases at once.
type batcher struct{ *counter }

func (b batcher) Open(*campaign.Cache) campaign.Session[sum] {
	return campaign.Separate[sum](b.executor)
}
func (b batcher) executor(_ context.Context, lane campaign.Lane) (campaign.Executor[sum], error) {
	return batching{&adder{b.counter, lane}}, nil
}

type batching struct{ *adder }

func (batching) Batch() (time.Duration, int64) { return time.Second, 16 }

func (b batching) ExecuteBatch(ctx context.Context, s any, cases []campaign.Case, each func(campaign.Case, campaign.Outcome) error) (time.Duration, error) {
	for _, c := range cases {
		o, err := b.Execute(ctx, s.(sum), c)
		if err != nil {
			return 0, fmt.Errorf("in a batch: %w", err)
		}
		if err := each(c, o); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// One case of a batch that has no result takes no other with it.
func TestAnErrorInABatchIsThatOfItsCase(t *testing.T) {
	hook := func(_ campaign.Lane, n int64) error {
		if n%50 == 20 {
			return fmt.Errorf("no answer to %d", n)
		}
		return nil
	}
	single := newFixture(t).must(t.Context(), &counter{rounds: 2, perRound: 100, hook: hook}, run.Options{Workers: 2})
	rec, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](batcher{&counter{rounds: 2, perRound: 100, hook: hook}}), run.Options{Workers: 2})
	if err != nil || !rec.Complete || rec.Campaigns[0].Cases.Error != 4 || rec.Campaigns[0].Cases.Pass != 196 {
		t.Fatalf("%v: %+v", err, rec.Campaigns)
	}
	if rec.Digest != single.Digest {
		t.Error("a batch has other outcomes than single cases")
	}
	stop := func(_ campaign.Lane, n int64) error { return campaign.Fatal("gone") }
	if _, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](batcher{&counter{rounds: 1, perRound: 10, hook: stop}}), run.Options{Workers: 1}); err == nil {
		t.Error("a fatal error in a batch ends nothing")
	}
}

func TestMaxErrorsEndsARunInCaseOrder(t *testing.T) {
	hook := func(_ campaign.Lane, n int64) error {
		if n%10 == 0 {
			return errors.New("no answer")
		}
		return nil
	}
	for text, want := range map[string]int64{"0": 1, "2": 21, "2%": 201, "10%": 1000, "0.1%": 11} {
		limit, err := run.ParseErrorLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		var digests [2]string
		for i, workers := range []int{1, 16} {
			c := &counter{rounds: 2, perRound: 500, hook: hook}
			rec := newFixture(t).must(t.Context(), c, run.Options{Workers: workers, MaxErrors: limit})
			digests[i] = rec.Digest
			stopped := run.StoppedErrors
			if want == 1000 {
				stopped = ""
			}
			if got := rec.Campaigns[0].Cases.Run; got != want || rec.Stopped != stopped || rec.Verdict != "error" {
				t.Errorf("%s, %d workers: %d cases, want %d; stopped %q", text, workers, got, want, rec.Stopped)
			}
		}
		if digests[0] != digests[1] {
			t.Errorf("%s: the number of workers changes the digest", text)
		}
	}
	for _, text := range []string{"", "-1", "%", "0%", "101%", "NaN%", "five", "1.5"} {
		if l, err := run.ParseErrorLimit(text); err == nil {
			t.Errorf("%q is taken for %+v", text, l)
		}
	}
}

// breaking is a batcher that finishes no batch, and would have each take next to no time.
type breaking struct {
	batching
	sizes *[]int
}

func (breaking) Batch() (time.Duration, int64) { return 1, 16 }

func (b breaking) ExecuteBatch(_ context.Context, _ any, cases []campaign.Case, _ func(campaign.Case, campaign.Outcome) error) (time.Duration, error) {
	*b.sizes = append(*b.sizes, len(cases))
	return 0, errors.New("this batch ended early")
}

type breaker struct {
	*counter
	sizes *[]int
}

func (b breaker) Open(*campaign.Cache) campaign.Session[sum] {
	return campaign.Separate[sum](func(_ context.Context, lane campaign.Lane) (campaign.Executor[sum], error) {
		return breaking{batching{&adder{b.counter, lane}}, b.sizes}, nil
	})
}

// How long the cases of a batch take one by one counts, so that no larger batches follow.
func TestABatchThatEndsEarlyIsSlow(t *testing.T) {
	var sizes []int
	rec, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](breaker{&counter{rounds: 1, perRound: 12}, &sizes}), run.Options{Workers: 1})
	if err != nil || rec.Campaigns[0].Cases.Pass != 12 {
		t.Fatalf("%v: %+v", err, rec.Campaigns)
	}
	if len(sizes) != 12 {
		t.Errorf("batches of %d cases", sizes)
	}
}
