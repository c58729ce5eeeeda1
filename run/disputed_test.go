package run_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
)

// quarrel is a counter of whose cases, from 5 on, met came back from two
// workers that do not agree.
type quarrel struct {
	*counter
	met *atomic.Int64
}

func (q quarrel) Disputes() (list []campaign.Dispute, all int64) {
	all = q.met.Load()
	for i := range all {
		at := campaign.Case{Index: 5 + i}
		list = append(list, campaign.Dispute{
			Case: at, Input: q.Input(context.Background(), sum{}, at),
			First: campaign.Outcome{}, Second: campaign.Outcome{Verdict: campaign.VerdictFail, Title: "says the other"},
		})
	}
	return list, all
}

// Cases with two answers are not executed again when a run goes on: what was
// met before the interruption is in its record.
func TestDisputesOutliveAnInterruption(t *testing.T) {
	f := newFixture(t)
	var met atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	c := &counter{rounds: 1, perRound: 200, hook: func(_ campaign.Lane, n int64) error {
		switch n {
		case 5, 6:
			met.Add(1)
		case 150:
			cancel()
		}
		return nil
	}}
	dispute := func(ctx context.Context) campaign.Record {
		t.Helper()
		rec, err := f.runs(ctx, campaign.Erase[sum](quarrel{c, &met}), run.Options{Workers: 1, Reruns: 1})
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	if rec := dispute(ctx); rec.Complete || met.Load() != 2 {
		t.Fatalf("the run is complete: %t; %d disputes", rec.Complete, met.Load())
	}
	met.Store(0)
	c.hook = nil
	for range 2 { // the second time nothing is left to execute
		rec := dispute(t.Context())
		if !rec.Complete || len(rec.Findings) != 1 {
			t.Fatalf("complete: %t, findings: %+v", rec.Complete, rec.Findings)
		}
		got := rec.Findings[0]
		want := [][]string{{"5", "pass", "fail: says the other"}, {"6", "pass", "fail: says the other"}}
		if got.Kind != campaign.KindNondeterminism || got.Cases != 2 || got.First != 5 || got.Rerun.Tried != 1 ||
			got.Samples[0].Blob == "" || !slices.EqualFunc(got.Evidence[0].Table.Rows, want, slices.Equal) {
			t.Errorf("%+v", got)
		}
	}
}
