package run_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// witness is a quarrel whose lanes run cases again under watch.
type witness struct {
	quarrel
	openErr, closeErr, err error // of cold lanes
	again                  *[]string
}

type watched struct {
	campaign.Executor[sum]
	w    witness
	cold bool
}

func (w witness) Open(*campaign.Cache) campaign.Session[sum] {
	return campaign.Separate[sum](w.executor)
}
func (w witness) executor(ctx context.Context, lane campaign.Lane) (campaign.Executor[sum], error) {
	x, err := w.counter.executor(ctx, lane)
	if lane.Cold {
		err = w.openErr
	}
	return watched{x, w, lane.Cold}, err
}

func (x watched) Execute(ctx context.Context, s sum, at campaign.Case) (campaign.Outcome, error) {
	if x.cold {
		if *x.w.again = append(*x.w.again, fmt.Sprintf("%d %s", at.Index, at.Payload)); x.w.err != nil {
			return campaign.Outcome{}, x.w.err
		}
	}
	return x.Executor.Execute(ctx, s, at)
}

func (x watched) Close() error {
	if x.cold {
		return x.w.closeErr
	}
	return x.Executor.Close()
}

// A case with two answers is run again once, with what was sent for it; what is
// known of it is not tried a second time. What prevents that is said.
func TestDisputeIsConfirmed(t *testing.T) {
	broken := errors.New("it is broken")
	for name, x := range map[string]struct {
		change func(*witness)
		after  func(blobs string) error // once half of the run is stored
		want   string
	}{
		"it can be":              {},
		"its input is gone":      {after: emptied, want: "reading the input of case 5"},
		"the target is gone":     {change: func(w *witness) { w.openErr = broken }, want: "starting the target to confirm findings: it is broken"},
		"the target breaks":      {change: func(w *witness) { w.err = campaign.Fatal("it is broken") }, want: "running case 5 again: it is broken"},
		"the target cannot stop": {change: func(w *witness) { w.closeErr = broken }, want: "closing the target: it is broken"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			blobs := filepath.Join(f.store.Dir(), "blobs")
			var met atomic.Int64
			var again []string
			ctx, cancel := context.WithCancel(t.Context())
			c := &counter{rounds: 1, perRound: 100, hook: func(lane campaign.Lane, n int64) error {
				switch {
				case lane.Cold:
				case n == 5:
					met.Store(7)
				case n == 50:
					cancel()
				}
				return nil
			}}
			w := witness{quarrel: quarrel{c, &met}, again: &again}
			if x.change != nil {
				x.change(&w)
			}
			opt := run.Options{Workers: 1, Reruns: 2, Reproduce: []string{"thresh", "replay"}}
			_, err := f.runs(ctx, campaign.Erase[sum](w), opt)
			cancel()
			if len(again) > 0 {
				t.Errorf("run again when the run was interrupted: %q", again)
			}
			met.Store(0)
			c.hook = nil
			if err == nil && x.after != nil {
				err = x.after(blobs)
			}
			var rec campaign.Record
			if err == nil {
				rec, err = f.runs(t.Context(), campaign.Erase[sum](w), opt)
			}
			if x.want != "" {
				if err == nil || !strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want %q", err, x.want)
				}
				return
			}
			if err != nil || len(rec.Findings) != 1 {
				t.Fatalf("%v %+v", err, rec.Findings)
			}
			input := "5 " + string(c.Input(t.Context(), sum{}, campaign.Case{Index: 5}))
			if !slices.Equal(again, []string{input, input, input}) { // once to have an answer, and two to compare
				t.Errorf("run again: %q", again)
			}
			got := rec.Findings[0]
			table := got.Evidence[0].Table
			if got.Cases != 7 || len(got.Samples) != 5 || !got.Flaky || got.Severity != campaign.SeverityMedium || got.Rerun != (campaign.Rerun{Tried: 2}) ||
				!slices.Equal(got.Reproduce, []string{"thresh", "replay", got.ID}) || len(table.Rows) != 7 || !slices.Equal(table.Numeric, []bool{true, false, false}) {
				t.Errorf("%+v", got)
			}
			again = nil
			rec, err = f.runs(t.Context(), campaign.Erase[sum](w), opt)
			if err != nil || len(rec.Findings) != 1 || rec.Findings[0].Cases != 7 || len(again) > 0 {
				t.Errorf("%v; run again though it is settled: %q", err, again)
			}
		})
	}
}

// emptied removes all files of a folder.
func emptied(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			err = os.Remove(path)
		}
		return err
	})
}
