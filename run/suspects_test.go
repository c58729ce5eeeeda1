package run

import (
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/store/inflight"
)

// Cases in flight when Thresh died are looked for in their own campaign and
// round; findings that were run again are no such cases.
func TestSuspects(t *testing.T) {
	var d deaths
	if d.doubtful(1) || len(d.suspects(1, 0, 100)) > 0 {
		t.Error("somebody is suspected before anything happened")
	}
	d.add(deathRecord{1, []inflight.Mark{
		{Kind: inflight.Case, Campaign: 1, Index: 29}, {Kind: inflight.Case, Campaign: 1, Index: 10}, {Kind: inflight.Case, Campaign: 1, Index: 9},
		{Kind: inflight.Case, Campaign: 1, Index: 30}, {Kind: inflight.Case, Campaign: 2, Index: 15}, {Kind: inflight.Start, Campaign: 1, Index: 16},
		{Kind: inflight.Again, Campaign: 2, Index: 17}, {Kind: inflight.Case, Campaign: 1, Index: 20, Count: 3},
	}})
	for k, want := range map[int][]int64{1: {10, 20, 21, 22, 29}, 2: {15}, 3: nil} {
		if got := d.suspects(k, 10, 30); !slices.Equal(got, want) {
			t.Errorf("campaign %d: %v, want %v", k, got, want)
		}
		if got := d.doubtful(k); got != (k == 2) {
			t.Errorf("campaign %d: doubtful %t", k, got)
		}
	}
}
