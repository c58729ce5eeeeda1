package flakestorm

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

// timing is how long the agent took, in buckets of 5 %. It is a circumstance of a run, and takes
// the same space for any number of calls.
type timing struct {
	mu      sync.Mutex
	n       int64
	sum     time.Duration
	buckets [512]int64
}

func bucketOf(d time.Duration) int {
	us := max(float64(d)/float64(time.Microsecond), 1)
	return min(int(math.Log(us)/math.Log(1.05)), 511)
}

func (t *timing) add(d time.Duration) {
	t.mu.Lock()
	t.n++
	t.sum += d
	t.buckets[bucketOf(d)]++
	t.mu.Unlock()
}

// text returns the percentiles; "": there were no calls.
func (t *timing) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == 0 {
		return ""
	}
	at := func(p float64) time.Duration {
		want, sum := int64(math.Ceil(p/100*float64(t.n))), int64(0)
		for i, n := range t.buckets {
			if sum += n; sum >= want {
				return time.Duration(math.Pow(1.05, float64(i)+0.5) * float64(time.Microsecond))
			}
		}
		return 0
	}
	round := func(d time.Duration) string { return d.Round(max(d/100, time.Microsecond)).String() }
	return fmt.Sprintf("%s of the agent: mean %s, p50 %s, p95 %s, p99 %s", diag.Plural(t.n, "call"), round(t.sum/time.Duration(t.n)), round(at(50)), round(at(95)), round(at(99)))
}
