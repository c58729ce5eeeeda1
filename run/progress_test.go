package run

import (
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

// A run ends no later than its time allows, however many cases are left.
func TestTimeLeft(t *testing.T) {
	r := runner{job: Job{Writer: &store.Writer{}}, start: time.Now(), deadline: time.Now().Add(time.Minute)}
	r.live.planned.Store(1 << 40)
	var rates rateMeter
	rates.add(time.Now().Add(-time.Second), 0)
	r.live.executed.Store(10)
	if eta := r.snapshot(&rates).ETA; eta <= 0 || eta > time.Minute {
		t.Errorf("the run is said to take another %v", eta)
	}
}

// Findings that are confirmed are not counted as cases, and a campaign begins with none of the cases
// of the one before it.
func TestSnapshotOfPhases(t *testing.T) {
	r := runner{job: Job{Writer: &store.Writer{}}, start: time.Now()}
	r.live.planned.Store(9)
	r.count(&campaign.Outcome{Verdict: campaign.VerdictSkip})
	r.live.settling.Store(2)
	for phase, want := range map[Phase][2]int64{PhaseCases: {1, 9}, PhaseConfirm: {0, 2}, PhaseShrink: {0, 2}, PhaseDone: {1, 9}} {
		r.live.phase.Store(&phase)
		if s := r.snapshot(&rateMeter{}); s.Done != want[0] || s.Planned != want[1] || s.Ran != 1 || s.ToRun != 9 || s.Skipped != 1 {
			t.Errorf("%s: %+v", phase, s)
		}
	}
	r.live.begin()
	if s := r.snapshot(&rateMeter{}); s.Ran != 0 || s.ToRun != 0 || s.Skipped != 0 {
		t.Errorf("a campaign that begins: %+v", s)
	}
}
