package app

import (
	"testing"

	"github.com/thresh-dev/thresh/campaign"
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

// A score that got worse beyond chance is a regression, also where no finding is new.
func TestRegressionOfAScore(t *testing.T) {
	with := func(score float64, pass int64) campaign.Record {
		return campaign.Record{Complete: true, Campaigns: []campaign.CampaignRecord{{Contract: "flakestorm", Name: "a", Score: &score, Cases: campaign.Counts{Pass: pass, Fail: 100 - pass}}},
			Findings: []campaign.Finding{{ID: "F-1", Contract: "flakestorm", Campaign: "a"}}}
	}
	for gate, want := range map[string][2]bool{FailOnAny: {true, true}, FailOnNew: {false, false}, FailOnRegression: {true, false}} {
		for k, pass := range []int64{40, 89} {
			rec := with(float64(pass)/100, pass)
			since, c, err := new(App).Since(nil, rec, &Baseline{"r0", with(0.9, 90)})
			if err != nil || Fails(gate, rec, c, since) != want[k] || since.Worse != (pass == 40) {
				t.Errorf("%s, %d: %v, %+v, %v", gate, pass, !want[k], since, err)
			}
		}
	}
}
