package system

import (
	"os"
	"runtime"
	"slices"
	"testing"

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
