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
		"nothing was judged: every case was skipped":      {Verdict: "pass", Campaigns: []campaign.CampaignRecord{{Cases: campaign.Counts{Run: 1, Skip: 1}}, {Cases: campaign.Counts{Run: 2, Skip: 2}}}},
		"nothing was judged: no case was run":             {Verdict: "pass", Complete: true},
		"not all held":                                    {Verdict: "fail"},
		"3 findings, 2 causes":                            {Verdict: "fail", Findings: []campaign.Finding{{ID: "F-1", Group: "x"}, {ID: "F-2"}, {ID: "F-3", Group: "x"}}},
		"1 finding":                                       {Verdict: "fail", Findings: make([]campaign.Finding, 1)},
		"no findings, but not everything could be judged": {Verdict: "error", Campaigns: []campaign.CampaignRecord{{Cases: campaign.Counts{Run: 1, Error: 1}}}},
		"nothing was tested: see the warnings":            {Verdict: "error", Complete: true, Campaigns: []campaign.CampaignRecord{{Cases: campaign.Counts{Run: 1, Pass: 1}}}},
	} {
		if got := headline(&rec); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		var b strings.Builder
		word := strings.ToUpper(rec.Verdict)
		if strings.HasPrefix(want, "nothing was judged") { // it has not passed
			word = "SKIP"
			if strings.Contains(write(t, "markdown", rec, Options{}), "✅") || !strings.Contains(write(t, "html", rec, Options{}), "<title>skip: "+want) {
				t.Errorf("%s: a comment or page shows it as a pass", want)
			}
		}
		if err := writeText(&b, rec, Options{Width: 80}); err != nil || !strings.Contains("\n"+b.String(), "\n"+word+"  "+want[:8]) {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
}

// Cases that follow up on what was found are counted apart: check counts the others.
func TestFollowUpsAreCountedApart(t *testing.T) {
	counts := func(list ...campaign.Counts) *campaign.Record {
		rec := &campaign.Record{}
		for _, c := range list {
			rec.Campaigns = append(rec.Campaigns, campaign.CampaignRecord{Cases: c})
		}
		return rec
	}
	for want, rec := range map[string]*campaign.Record{
		"6 cases, 2 of them follow-ups":  counts(campaign.Counts{Planned: 4, Run: 6}),
		"4 cases":                        counts(campaign.Counts{Planned: 4, Run: 4}),
		"7 cases, 1 of them a follow-up": counts(campaign.Counts{Planned: 9, Run: 3}, campaign.Counts{Planned: 3, Run: 4}),
		"5 cases":                        counts(campaign.Counts{Planned: 0, Run: 5}),
	} {
		if got := casesRun(rec); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
