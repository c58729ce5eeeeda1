package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/golden"
)

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
	golden.Check(t, "testdata/compare.json", string(got)+"\n")

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
	if c := (*Store)(nil).compare(a, b); len(c.Fixed) != 1 || len(c.NotRun) != 0 {
		t.Errorf("complete: fixed %d, not run %d", len(c.Fixed), len(c.NotRun))
	}
	b.Complete, b.Stopped = false, "time"
	c := (*Store)(nil).compare(a, b)
	if len(c.Fixed) != 0 || len(c.NotRun) != 1 || len(c.Differences) != 1 || c.Differences[0] != "run b did not complete (time)" {
		t.Errorf("incomplete: %+v", c)
	}
	a.Complete = false
	for stopped, want := range map[string]string{"time": "neither run completed (time)", "interrupted": "neither run completed (a: interrupted; b: time)"} {
		a.Stopped = stopped
		if c := (*Store)(nil).compare(a, b); len(c.Differences) != 1 || c.Differences[0] != want {
			t.Errorf("both incomplete: %q", c.Differences)
		}
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
		if c := (*Store)(nil).compare(a, b); len(c.Fixed) != x.fixed || len(c.NotRun) != 1-x.fixed {
			t.Errorf("%+v: fixed %d, not run %d", x.cases, len(c.Fixed), len(c.NotRun))
		}
	}
}

// A finding is the same one when lines were added above the place that its
// cause ends in, also if another one has its id now.
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
		c := (*Store)(nil).CompareRecords(rec(a), rec(b))
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

// letters are facts of which "-" says that nothing occurred.
type letters struct{}

func (letters) Exercised(data []byte) bool { return !strings.HasPrefix(string(data), "-") }

// A finding is fixed only if its case was executed again and tested something: the case of
// its name, or that of its number if both runs were asked the same and earlier rounds went alike.
func TestWhatWasNotExercisedIsNotFixed(t *testing.T) {
	s := openStore(t, t.TempDir())
	s.Contract = func(string) any { return letters{} }
	names := make(map[string][]string)
	s.CaseNames = func(runID string, _ *campaign.CampaignRecord) func(campaign.Case) string {
		if list := names[runID]; list != nil {
			return func(c campaign.Case) string { return list[c.Index] }
		}
		return nil
	}
	minutes := 0
	// Facts of a round are separated by blanks. ! is a case that fails, ? one that has no verdict.
	record := func(text, settings, facts, called string) campaign.Record {
		minutes++
		m := asked(s, t, minutes, "demo.json", text, settings)
		w, err := s.Begin(m)
		must(t, err)
		rec := campaign.Record{RunID: w.RunID(), Complete: true, Campaigns: []campaign.CampaignRecord{{
			Contract: "fuzzspec", Name: "starter", Source: "demo.json", Identity: m.Identities[0].Digest, Cases: campaign.Counts{Run: int64(len(facts) - strings.Count(facts, " "))}}}}
		index := int64(0)
		for round, all := range strings.Fields(facts) {
			for _, x := range all {
				e := Entry{Kind: KindOutcome, Case: campaign.Case{Round: round, Index: index}, Outcome: campaign.Outcome{Data: []byte(string(x))}}
				switch index++; x {
				case '!':
					e.Outcome.Verdict = campaign.VerdictFail
				case '?':
					e.Outcome.Verdict = campaign.VerdictError
				}
				must(t, w.Append(e))
			}
		}
		if called != "" {
			names[w.RunID()] = strings.Split(called, "")
		}
		end, err := json.Marshal(rec)
		must(t, err)
		must(t, w.Append(Entry{Kind: KindEnd, Data: end}))
		must(t, w.Close())
		return rec
	}
	one := `{"seed":1}`
	for _, x := range []struct {
		name              string
		facts, called     string // of the run with the finding
		text, settings    string
		after, calledThen string
		fixed             int
		report            bool // the run with the finding is a report
	}{
		{name: "its case held", facts: "a!c", after: "abc", fixed: 1},
		{name: "its fault did not fire", facts: "a!c", after: "a-c"},
		{name: "it had not fired before, either", facts: "a-c", after: "a-c", fixed: 1},
		{name: "its case has no verdict", facts: "a!c", after: "a?c"},
		{name: "another case has none", facts: "a!c", after: "ab?", fixed: 1},
		{name: "fewer cases", facts: "a!c", settings: `{"seed":1,"cases":2}`, after: "ab", fixed: 1},
		{name: "too few", facts: "a!c", settings: `{"seed":1,"cases":1}`, after: "a"},
		{name: "another seed", facts: "a!c", settings: `{"seed":2}`, after: "abc"},
		{name: "another text", facts: "a!c", text: "two", after: "abc"},
		{name: "another text with the case", facts: "a!c", called: "xyz", text: "two", after: "abcd", calledThen: "zxyy", fixed: 1},
		{name: "and it did not fire there", facts: "a!c", called: "xyz", text: "two", after: "ab-d", calledThen: "zxyy"},
		{name: "without the case", facts: "a!c", called: "xyz", text: "two", after: "abc", calledThen: "xzu"},
		{name: "without the second of its name", facts: "a!c", called: "xxz", text: "two", after: "abc", calledThen: "xzu"},
		{name: "after the same round", facts: "a !c", after: "a bc", fixed: 1},
		{name: "after another round", facts: "a !c", after: "b bc"},
		{name: "a round alone decides", facts: "a!c d", after: "b?b d"},
		{name: "named in another round", facts: "a !c", called: "xyz", after: "b bc", calledThen: "xyz", fixed: 1},
		{name: "since a report", facts: "a!c", after: "abc", fixed: 1, report: true},
		{name: "since a report, not fired", facts: "a!c", after: "a-c", report: true},
		{name: "since a report, in a later round", facts: "a !c", after: "b bc", report: true},
	} {
		t.Run(x.name, func(t *testing.T) {
			a := record("one", one, x.facts, x.called)
			at := strings.IndexAny(strings.ReplaceAll(x.facts, " ", ""), "!-")
			a.Findings = []campaign.Finding{{ID: "F-1", Contract: "fuzzspec", Campaign: "starter", First: int64(at),
				Samples: []campaign.Sample{{Case: campaign.Case{Round: strings.Count(x.facts[:strings.IndexAny(x.facts, "!-")], " ")}}}}}
			b := record(cmp.Or(x.text, "one"), cmp.Or(x.settings, one), x.after, x.calledThen)
			said, err := s.History(a.RunID, a.Findings[0], 1)
			must(t, err)
			if asked := said[0].RunID == b.RunID; asked && said[0].Told != (x.fixed == 1) && !x.report || asked != (x.text+x.settings == "") {
				t.Errorf("history %+v", said)
			}
			if x.report {
				a.RunID = "base.json"
			}
			if c := s.CompareRecords(a, b); len(c.Fixed) != x.fixed || len(c.NotRun) != 1-x.fixed {
				t.Errorf("fixed %d, not run %d", len(c.Fixed), len(c.NotRun))
			}
		})
	}
}
