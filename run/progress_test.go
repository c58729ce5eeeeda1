package run

import (
	"testing"
	"time"

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
