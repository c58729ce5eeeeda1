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
