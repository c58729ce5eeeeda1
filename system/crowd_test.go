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
