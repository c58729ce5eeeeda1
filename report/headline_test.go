package report

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// What a run is said to have come to: that all held only if something was judged.
func TestHeadline(t *testing.T) {
	for want, rec := range map[string]campaign.Record{
		"all held": {Verdict: "pass", Campaigns: []campaign.CampaignRecord{{Cases: campaign.Counts{Run: 3, Pass: 1, Skip: 2}}}},
		"nothing was judged: each case was skipped": {Verdict: "pass", Campaigns: []campaign.CampaignRecord{{Cases: campaign.Counts{Run: 1, Skip: 1}}, {Cases: campaign.Counts{Run: 2, Skip: 2}}}},
		"not all held":         {Verdict: "fail"},
		"3 findings, 2 causes": {Verdict: "fail", Findings: []campaign.Finding{{ID: "F-1", Group: "x"}, {ID: "F-2"}, {ID: "F-3", Group: "x"}}},
		"1 finding":            {Verdict: "fail", Findings: make([]campaign.Finding, 1)},
		"no finding, but not all could be judged":     {Verdict: "error", Campaigns: []campaign.CampaignRecord{{Cases: campaign.Counts{Run: 1, Error: 1}}}},
		"nothing was shown to hold: see the warnings": {Verdict: "error", Complete: true, Campaigns: []campaign.CampaignRecord{{Cases: campaign.Counts{Run: 1, Pass: 1}}}},
	} {
		if got := headline(&rec); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		var b strings.Builder
		word := strings.ToUpper(rec.Verdict)
		if strings.HasSuffix(want, "skipped") { // it has not passed
			word = "SKIP"
		}
		if err := writeText(&b, rec, Options{Width: 80}); err != nil || !strings.Contains("\n"+b.String(), "\n"+word+"  "+want[:8]) {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
}
