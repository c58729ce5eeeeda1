package store

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestCompare(t *testing.T) {
	s := openStore(t, t.TempDir())
	still := finding("F-still", campaign.SeverityMedium)
	goneCampaign := finding("F-elsewhere", campaign.SeverityLow)
	goneCampaign.Campaign = "dropped"
	ma := aged("demo", 1)
	ma.Identities = append(ma.Identities, campaign.Identity{Contract: "fuzzspec", Name: "dropped", Digest: "d2"})
	a := writeRun(t, s, ma, 10, finding("F-fixed", campaign.SeverityHigh), still, goneCampaign).RunID

	mb := aged("demo", 2)
	mb.Identities[0].Digest = "changed"
	still.Cases = 40
	b := writeRun(t, s, mb, 10, finding("F-new2", campaign.SeverityLow), finding("F-new1", campaign.SeverityHigh), still).RunID

	c, err := s.Compare(a, "latest")
	must(t, err)
	if c.A != a || c.B != b || c.StillFailing[0].A.Cases != 3 || c.StillFailing[0].B.Cases != 40 {
		t.Errorf("comparison %+v", c)
	}
	got, err := json.MarshalIndent(c, "", "  ")
	must(t, err)
	const golden = "testdata/compare.json"
	if *update {
		must(t, os.WriteFile(golden, append(got, '\n'), 0o666))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if string(got)+"\n" != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	if c, err = s.Compare(b, b); err != nil || !c.SameDigest || len(c.New)+len(c.Fixed)+len(c.NotRun)+len(c.Differences) != 0 || len(c.StillFailing) != 3 {
		t.Errorf("a run against itself: %+v, %v", c, err)
	}
	if _, err := s.Compare(a, "nope"); err == nil {
		t.Error("comparing with a run that is not there: no error")
	}
}

// What a run that was cut short did not find is not fixed.
func TestCompareWithAnIncompleteRun(t *testing.T) {
	f := finding("F-1", campaign.SeverityHigh)
	a := campaign.Record{RunID: "a", Complete: true, Findings: []campaign.Finding{f},
		Campaigns: []campaign.CampaignRecord{{Contract: "fuzzspec", Name: "demo", Cases: campaign.Counts{Run: 9}}}}
	b := a
	b.RunID, b.Findings = "b", nil
	if c := compare(a, b); len(c.Fixed) != 1 || len(c.NotRun) != 0 {
		t.Errorf("complete: fixed %d, not run %d", len(c.Fixed), len(c.NotRun))
	}
	b.Complete, b.Stopped = false, "time"
	c := compare(a, b)
	if len(c.Fixed) != 0 || len(c.NotRun) != 1 || len(c.Differences) != 1 || c.Differences[0] != "run b did not complete (time)" {
		t.Errorf("incomplete: %+v", c)
	}
}

// Neither is what a run of fewer cases, or with cases that could not be run,
// did not come to.
func TestCompareWithCasesThatWereNotRun(t *testing.T) {
	f := finding("F-1", campaign.SeverityHigh)
	f.First = 7
	a := campaign.Record{RunID: "a", Complete: true, Findings: []campaign.Finding{f},
		Campaigns: []campaign.CampaignRecord{{Contract: "fuzzspec", Name: "demo", Cases: campaign.Counts{Run: 9}}}}
	for _, x := range []struct {
		cases campaign.Counts
		fixed int
	}{
		{campaign.Counts{Run: 9, Pass: 9}, 1},
		{campaign.Counts{Run: 8, Pass: 8}, 1},
		{campaign.Counts{Run: 7, Pass: 7}, 0},
		{campaign.Counts{Run: 9, Pass: 8, Error: 1}, 0},
	} {
		b := campaign.Record{RunID: "b", Complete: true, Campaigns: []campaign.CampaignRecord{{Contract: "fuzzspec", Name: "demo", Cases: x.cases}}}
		if c := compare(a, b); len(c.Fixed) != x.fixed || len(c.NotRun) != 1-x.fixed {
			t.Errorf("%+v: fixed %d, not run %d", x.cases, len(c.Fixed), len(c.NotRun))
		}
	}
}

// A finding is the same one when lines were added above the place that its
// cause ends in, also if another one has its id now.
// A finding is not fixed by a fault that did not fire, which leaves its cells without a rate.
func TestCompareWithCellsThatWereNotExercised(t *testing.T) {
	with := func(cells ...campaign.MatrixCell) campaign.Record {
		m := &campaign.Matrix{Rows: []string{"one", "two"}, Columns: []string{"a"}}
		for _, c := range cells {
			m.Cells = append(m.Cells, []campaign.MatrixCell{c})
		}
		return campaign.Record{Complete: true, Campaigns: []campaign.CampaignRecord{{Contract: "x", Name: "c", Cases: campaign.Counts{Run: 2},
			Exhibits: []campaign.Exhibit{{Title: "Cells", Matrix: m}}}}}
	}
	failing, held, idle := campaign.MatrixCell{Total: 1, Finding: "F-1"}, campaign.MatrixCell{Hits: 1, Total: 1}, campaign.MatrixCell{Note: "not exercised"}
	for _, x := range []struct {
		before, after []campaign.MatrixCell
		fixed         int
	}{
		{[]campaign.MatrixCell{failing, held}, []campaign.MatrixCell{held, idle}, 1},
		{[]campaign.MatrixCell{failing, held}, []campaign.MatrixCell{idle, held}, 0},
		{[]campaign.MatrixCell{failing, failing}, []campaign.MatrixCell{idle, idle}, 0},
		{[]campaign.MatrixCell{failing, failing}, []campaign.MatrixCell{idle, held}, 1},
		{[]campaign.MatrixCell{failing, failing}, []campaign.MatrixCell{held, idle}, 1},
	} {
		a := with(x.before...)
		a.Findings = []campaign.Finding{{ID: "F-1", Contract: "x", Campaign: "c"}}
		if c := compare(a, with(x.after...)); len(c.Fixed) != x.fixed || len(c.NotRun) != 1-x.fixed {
			t.Errorf("%+v, then %+v: fixed %d, not run %d", x.before, x.after, len(c.Fixed), len(c.NotRun))
		}
	}
}

func TestCompareAfterAnEdit(t *testing.T) {
	at := func(id, what, line string) campaign.Finding {
		f := finding(id, campaign.SeverityMedium)
		f.Title, f.Cause = "KeyError in menu.py:main line "+line+": '"+what+"'", []string{"KeyError", "menu.py:main", "menu.py:" + line}
		return f
	}
	ids := func(a, b []campaign.Finding) (fresh, still, gone []string) {
		rec := func(fs []campaign.Finding) campaign.Record {
			c := campaign.CampaignRecord{Contract: fs[0].Contract, Name: fs[0].Campaign, Cases: campaign.Counts{Run: 10}}
			return campaign.Record{Complete: true, Campaigns: []campaign.CampaignRecord{c}, Findings: fs}
		}
		c := CompareRecords(rec(a), rec(b))
		for _, f := range c.New {
			fresh = append(fresh, f.ID)
		}
		for _, f := range c.StillFailing {
			still = append(still, f.A.ID+" is "+f.B.ID)
		}
		for _, f := range c.Fixed {
			gone = append(gone, f.ID)
		}
		return fresh, still, gone
	}
	before := []campaign.Finding{at("F-1", "sections", "23"), at("F-2", "name", "24"), at("F-3", "price", "30")}
	after := []campaign.Finding{at("F-0", "sections", "22"), at("F-1", "name", "23"), at("F-9", "title", "40")}
	fresh, still, gone := ids(before, after)
	if !slices.Equal(fresh, []string{"F-9"}) || !slices.Equal(still, []string{"F-1 is F-0", "F-2 is F-1"}) || !slices.Equal(gone, []string{"F-3"}) {
		t.Errorf("new %v, still failing %v, fixed %v", fresh, still, gone)
	}
	other := at("F-1", "0x7f", "23") // the message differs from run to run
	fresh, still, gone = ids(before, []campaign.Finding{other, before[1], before[2]})
	if len(fresh)+len(gone) != 0 || len(still) != 3 {
		t.Errorf("of the same lines: new %v, still failing %v, fixed %v", fresh, still, gone)
	}
}
