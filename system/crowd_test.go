package system

import (
	"context"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/sut"
)

// A program that several actors call at the same time runs on more threads than there are
// processors, unless the user says on how many.
func TestCrowdsRunOnMoreThreads(t *testing.T) {
	if runtime.NumCPU() >= crowdThreads {
		t.Skip("there are enough processors")
	}
	t.Setenv("TOKIO_WORKER_THREADS", "3")
	t.Setenv("GOMAXPROCS", "")
	os.Unsetenv("GOMAXPROCS")
	for _, crowd := range []bool{false, true} {
		s := Site{Plan: &sut.Plan{Command: []string{"x"}}, Worker: sut.Worker{Crowd: crowd}}
		want := []string(nil)
		if crowd {
			want = []string{"GOMAXPROCS=16"}
		}
		if got := s.Spec().Env; !slices.Equal(got, want) {
			t.Errorf("crowd %v: the program gets %v, want %v", crowd, got, want)
		}
	}
}

// Workers share what they use by the plan's digest, and of a plan without one by all that it
// says; what is run again cold has programs of its own.
func TestWhatWorkersShare(t *testing.T) {
	s := New(nil)
	join := func(p sut.Plan, w sut.Worker) *shared {
		sh, err := s.join(&p, w)
		if err != nil {
			t.Fatal(err)
		}
		return sh
	}
	program := []string{"program"}
	for name, same := range map[string][2]bool{
		"equal digests":                  {join(sut.Plan{Digest: "d", Name: "a"}, sut.Worker{}) == join(sut.Plan{Digest: "d", Name: "b"}, sut.Worker{}), true},
		"others":                         {join(sut.Plan{Digest: "d"}, sut.Worker{}) == join(sut.Plan{Digest: "e"}, sut.Worker{}), false},
		"plans without a digest":         {join(sut.Plan{Name: "a"}, sut.Worker{}) == join(sut.Plan{Name: "b"}, sut.Worker{}), false},
		"equal ones":                     {join(sut.Plan{Name: "a"}, sut.Worker{}) == join(sut.Plan{Name: "a"}, sut.Worker{Index: 1}), true},
		"a program, cold":                {join(sut.Plan{Digest: "p", Command: program}, sut.Worker{}) == join(sut.Plan{Digest: "p", Command: program}, sut.Worker{Cold: true}), false},
		"what runs elsewhere, also cold": {join(sut.Plan{Digest: "u", URL: "http://h"}, sut.Worker{}) == join(sut.Plan{Digest: "u", URL: "http://h"}, sut.Worker{Cold: true}), true},
	} {
		if same[0] != same[1] {
			t.Errorf("%s: shared %t", name, same[0])
		}
	}
}

// A call is tried again as often as the user asks for, at longer intervals or when the system
// says, and without being asked for only where it says that it wants to be called soon.
func TestWhenACallIsTriedAgain(t *testing.T) {
	const never = -1
	for _, x := range []struct {
		o                sut.Observation
		attempt, retries int
		want             time.Duration
	}{
		{sut.Observation{Status: 429}, 1, 0, never},
		{sut.Observation{Status: 429, Wait: 10 * time.Second}, 5, 0, 10 * time.Second},
		{sut.Observation{Status: 429, Wait: 10 * time.Second}, 6, 0, never},
		{sut.Observation{Status: 429, Wait: 10 * time.Second}, 6, 6, 10 * time.Second},
		{sut.Observation{Status: 429, Wait: 11 * time.Second}, 1, 0, never},
		{sut.Observation{Status: 429, Wait: time.Hour}, 1, 1, time.Minute},
		{sut.Observation{Status: 503, Wait: time.Second}, 1, 0, never},
		{sut.Observation{Status: 503, Wait: time.Second}, 1, 1, time.Second},
		{sut.Observation{Status: 503}, 1, 1, 250 * time.Millisecond},
		{sut.Observation{Status: 503}, 2, 2, 500 * time.Millisecond},
		{sut.Observation{Status: 503}, 8, 9, 32 * time.Second},
		{sut.Observation{Status: 503}, 9, 9, time.Minute},
		{sut.Observation{Status: 500}, 1, 9, never},
		{sut.Observation{End: sut.Answered, Status: 200}, 1, 9, never},
		{sut.Observation{End: sut.Unreachable}, 1, 1, 250 * time.Millisecond},
		{sut.Observation{End: sut.Unreachable}, 2, 1, never},
	} {
		got, again := retryDelay(&x.o, x.attempt, x.retries)
		if !again {
			got = never
		}
		if got != x.want {
			t.Errorf("%s, status %d, wait %s, attempt %d of 1+%d: %s, want %s", x.o.End, x.o.Status, x.o.Wait, x.attempt, x.retries, got, x.want)
		}
	}
}

// A rate spreads calls evenly from the first on: what was not called before is not made up for.
func TestPaceOfCalls(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	p := newPace(sut.Rate{Count: 4, Per: time.Hour})
	p.after = time.Now().Add(-2 * time.Hour)
	before := time.Now()
	if err := p.wait(t.Context()); err != nil {
		t.Error(err)
	}
	took := time.Since(before)
	for range 2 {
		if p.wait(over) == nil {
			t.Error("a call did not wait for its turn")
		}
	}
	if next := p.after.Sub(before); next < 45*time.Minute || next > 45*time.Minute+took {
		t.Errorf("the fourth call may begin after %s", next)
	}
	unpaced := newPace(sut.Rate{})
	if err := unpaced.wait(over); err != nil {
		t.Errorf("without a rate: %v", err)
	}
}
