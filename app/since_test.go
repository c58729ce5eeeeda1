package app

import (
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

// What an interrupted run found is not grouped: nothing of an earlier run is fixed.
func TestSinceOfAnInterruptedRun(t *testing.T) {
	rec := campaign.Record{Campaigns: []campaign.CampaignRecord{{Cases: campaign.Counts{Run: 3, Fail: 1}}}}
	base := &Baseline{"r0", campaign.Record{RunID: "r0", Complete: true}}
	since, c, err := new(App).Since(nil, rec, base)
	if err != nil || c != nil || since.Run != "" || since.Why != "its failing cases are not grouped yet" {
		t.Errorf("%+v, %v, %v", since, c, err)
	}
}

// A score that got worse beyond chance is a regression, also where no finding is new. One that chance explains has not changed.
func TestRegressionOfAScore(t *testing.T) {
	with := func(score float64, pass int64) campaign.Record {
		return campaign.Record{Complete: true, Campaigns: []campaign.CampaignRecord{{Contract: "flakestorm", Name: "a", Score: &score, Cases: campaign.Counts{Pass: pass, Fail: 100 - pass}}},
			Findings: []campaign.Finding{{ID: "F-1", Contract: "flakestorm", Campaign: "a"}}}
	}
	for gate, want := range map[string][2]bool{FailOnAny: {true, true}, FailOnNew: {false, false}, FailOnRegression: {true, false}} {
		for k, pass := range []int64{40, 89} {
			rec := with(float64(pass)/100, pass)
			since, c, err := new(App).Since(nil, rec, &Baseline{"r0", with(0.9, 90)})
			if err != nil || Fails(gate, rec, c, since) != want[k] || since.Worse != (pass == 40) || len(since.Changed) != 1-k || (since.Scores[0].Chance == "") != (k == 0) {
				t.Errorf("%s, %d: %v, %+v, %v", gate, pass, !want[k], since, err)
			}
		}
	}
}

// Which failures fail a run, by what is known of them.
func TestFailures(t *testing.T) {
	finding := func(id string) campaign.Finding { return campaign.Finding{ID: id, Contract: "c", Campaign: id[:1]} }
	rec := campaign.Record{Findings: []campaign.Finding{finding("a1"), finding("b1")}}
	accepted := &report.Since{Known: map[string]report.Known{"a1": {Owner: "o"}, "b1": {Owner: "o"}}}
	half := &report.Since{Known: map[string]report.Known{"a1": {Owner: "o"}}}
	worse := []store.CellChange{{Chance: &store.Chance{Verdict: "worse"}}}
	tested := []store.Tested{{Contract: "c", Campaign: "a"}}
	for name, x := range map[string]struct {
		rec   campaign.Record
		c     *Comparison
		since *report.Since
		want  [3]bool // any, new, regression
	}{
		"nothing to compare with":             {rec, nil, nil, [3]bool{true, true, true}},
		"all are accepted":                    {rec, nil, accepted, [3]bool{true, false, false}},
		"one is not":                          {rec, nil, half, [3]bool{true, true, true}},
		"none is new":                         {rec, &Comparison{}, nil, [3]bool{true, false, false}},
		"one is new":                          {rec, &Comparison{New: rec.Findings[:1]}, nil, [3]bool{true, true, true}},
		"one is new, where cells are tested":  {rec, &Comparison{New: rec.Findings[:1], Tested: tested}, nil, [3]bool{true, true, false}},
		"another is":                          {rec, &Comparison{New: rec.Findings[1:], Tested: tested}, nil, [3]bool{true, true, true}},
		"a cell got worse":                    {rec, &Comparison{Cells: worse}, nil, [3]bool{true, false, true}},
		"failures without findings":           {campaign.Record{}, &Comparison{}, nil, [3]bool{true, true, false}},
		"the same, with nothing to compare":   {campaign.Record{}, nil, nil, [3]bool{true, true, true}},
		"the same, and a cell that got worse": {campaign.Record{}, &Comparison{Cells: worse}, nil, [3]bool{true, true, true}},
	} {
		for i, gate := range []string{FailOnAny, FailOnNew, FailOnRegression} {
			if got := Fails(gate, x.rec, x.c, x.since); got != x.want[i] {
				t.Errorf("%s: %s: %t", name, gate, got)
			}
		}
		if !Fails("", x.rec, x.c, x.since) {
			t.Errorf("%s: a run without a gate passes", name)
		}
	}
}
