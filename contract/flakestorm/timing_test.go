package flakestorm

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Times of agents are right to a few percent, however many calls they come from.
func TestTimesOfCalls(t *testing.T) {
	var x timing
	if got := x.text(); got != "" {
		t.Errorf("without calls: %q", got)
	}
	x.add(0) // less than can be told, and more
	x.add(1000 * time.Hour)
	if got := x.text(); !strings.HasPrefix(got, "2 calls of the agent: mean 500h0m0s, p50 1µs, p95 19h8m") {
		t.Error(got)
	}
	x = timing{}
	for i := range 100 {
		x.add(time.Duration(i+1) * time.Millisecond)
	}
	var n int
	var mean, p50, p95, p99 float64
	if _, err := fmt.Sscanf(x.text(), "%d calls of the agent: mean %fms, p50 %fms, p95 %fms, p99 %fms", &n, &mean, &p50, &p95, &p99); err != nil {
		t.Fatal(err, x.text())
	}
	near := func(got, want float64) bool { return got > want*0.95 && got < want*1.05 }
	if n != 100 || mean != 50.5 || !near(p50, 50) || !near(p95, 95) || !near(p99, 99) {
		t.Error(x.text())
	}
}
