package store

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/campaign"
)

// ids names findings in order.
func ids(page FindingPage) string {
	var list []string
	for _, f := range page.Findings {
		list = append(list, f.ID)
	}
	return strings.Join(list, " ")
}

func TestFindingsArePagedAndSearched(t *testing.T) {
	s := openStore(t, t.TempDir())
	high, flaky := finding("F-b", campaign.SeverityHigh), finding("F-c", campaign.SeverityLow)
	flaky.Flaky, flaky.Kind, flaky.First = true, "timeout", 7
	other := finding("F-d", campaign.SeverityLow)
	other.Campaign, other.Title = "other", "100% of a_b\\c"
	first := finding("F-z", campaign.SeverityLow) // stands before what follows it in the record
	first.Group, flaky.Group = "one", "one"
	run := writeRun(t, s, manifest("demo"), 3, first, finding("F-a", campaign.SeverityLow), high, flaky, other).RunID
	writeRun(t, s, manifest("demo"), 3, finding("F-x", campaign.SeverityHigh))
	low := campaign.SeverityLow
	for _, c := range []struct {
		q     FindingQuery
		want  string
		total int
	}{
		{FindingQuery{}, "F-b F-z F-c F-a F-d", 5},
		{FindingQuery{Limit: 2}, "F-b F-z", 5},
		{FindingQuery{Limit: 2, Offset: 2}, "F-c F-a", 5},
		{FindingQuery{Limit: 2, ByCause: true}, "F-b F-z F-c", 5},
		{FindingQuery{Limit: 2, Offset: 2, ByCause: true}, "F-a F-d", 5},
		{FindingQuery{Group: "one"}, "F-z F-c", 2},
		{FindingQuery{Offset: 9}, "", 5},
		{FindingQuery{Severity: &low}, "F-z F-c F-a F-d", 4},
		{FindingQuery{Kind: "timeout"}, "F-c", 1},
		{FindingQuery{Flaky: true}, "F-c", 1},
		{FindingQuery{Contract: "fuzzspec", Campaign: "other"}, "F-d", 1},
		{FindingQuery{Text: "CRASH IN f-B"}, "F-b", 1},
		{FindingQuery{Text: "100%"}, "F-d", 1},
		{FindingQuery{Text: "_b\\"}, "F-d", 1},
		{FindingQuery{Text: "%"}, "F-d", 1},
		{FindingQuery{Text: "nothing"}, "", 0},
	} {
		c.q.RunID = run
		page, err := s.Findings(c.q)
		must(t, err)
		if ids(page) != c.want || page.Total != c.total {
			t.Errorf("%+v: %q of %d, want %q of %d", c.q, ids(page), page.Total, c.want, c.total)
		}
	}
	page, err := s.Findings(FindingQuery{RunID: run, Kind: "timeout"})
	must(t, err)
	if d := cmp.Diff(SummaryOf(flaky), page.Findings[0]); d != "" {
		t.Error(d)
	}
}

// What the index keeps of a record in parts is what the record says, also
// after the index was made again.
func TestPartsAreTheRecord(t *testing.T) {
	s := openStore(t, t.TempDir())
	f := finding("F-a", campaign.SeverityHigh)
	f.Evidence = []campaign.Exhibit{campaign.TextExhibit("stderr", strings.Repeat("ÿ\x00", 5000))}
	rec := writeRun(t, s, manifest("demo"), 3, f)
	for range 2 {
		got, err := s.FindingOf(rec.RunID, "F-a")
		must(t, err)
		want, err := s.Record(rec.RunID)
		must(t, err)
		if d := cmp.Diff(want.Findings[0], got); d != "" {
			t.Error(d)
		}
		outline, err := s.Outline("latest")
		must(t, err)
		want.Findings = []campaign.Finding{}
		if d := cmp.Diff(want, outline); d != "" {
			t.Error(d)
		}
		for _, f := range outlines(t, s.Dir()) {
			must(t, os.Remove(f))
		}
		must(t, s.Close())
		s = openStore(t, s.Dir())
	}
	if _, err := s.FindingOf(rec.RunID, "F-none"); err == nil {
		t.Error("a finding that is not there")
	}
}

func TestCompareBrieflyIsCompare(t *testing.T) {
	s := openStore(t, t.TempDir())
	late := finding("F-late", campaign.SeverityLow)
	late.First = 1000
	a := writeRun(t, s, manifest("demo"), 5, finding("F-old", campaign.SeverityLow), finding("F-both", campaign.SeverityHigh), late).RunID
	b := writeRun(t, s, manifest("demo"), 5, finding("F-both", campaign.SeverityHigh), finding("F-new", campaign.SeverityLow)).RunID
	want, err := s.Compare(a, b)
	must(t, err)
	for _, list := range [][]campaign.Finding{want.New, want.Fixed, want.NotRun} {
		for i := range list {
			list[i] = summaryFinding(list[i])
		}
	}
	for i, f := range want.StillFailing {
		want.StillFailing[i] = StillFailing{summaryFinding(f.A), summaryFinding(f.B)}
	}
	got, err := s.CompareBriefly(a, b)
	must(t, err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(got.New) != 1 || len(got.Fixed) != 1 || len(got.NotRun) != 1 || len(got.StillFailing) != 1 {
		t.Errorf("the example does not have one of each: %+v", got)
	}
}

func TestHistoryAndTrends(t *testing.T) {
	s := openStore(t, t.TempDir())
	f := finding("F-a", campaign.SeverityHigh)
	f.First = 2
	first := writeRun(t, s, aged("demo", 1), 5, f).RunID
	second := writeRun(t, s, aged("demo", 2), 5).RunID
	short := writeRun(t, s, aged("demo", 3), 2).RunID
	writeRun(t, s, aged("other", 4), 5, f)
	list, err := s.History(first, f, 10)
	must(t, err)
	got := ""
	for _, x := range list {
		got += fmt.Sprintf("%s %t %t; ", x.RunID, x.Seen, x.Told)
	}
	if want := fmt.Sprintf("%s false false; %s false true; %s true true; ", short, second, first); got != want {
		t.Errorf("history\n%s\nwant\n%s", got, want)
	}
	trends, total, err := s.Trends(1, 2)
	must(t, err)
	if total != 2 || len(trends) != 1 || trends[0].Name != "other" || trends[0].Runs != 1 || trends[0].Points[0].Cases != 5 {
		t.Errorf("trends %+v of %d", trends, total)
	}
	trend, err := s.Trend("fuzzspec", "demo", "", 2)
	must(t, err)
	var runs []string
	for _, p := range trend.Points {
		runs = append(runs, p.RunID)
	}
	if !slices.Equal(runs, []string{second, short}) {
		t.Errorf("the points are of %v, want the two newest runs, the older first", runs)
	}
	if n, err := s.CountRuns(RunQuery{Campaign: "demo", Limit: 1}); err != nil || n != 3 {
		t.Errorf("%d runs of demo, %v", n, err)
	}
}

// A finding whose line moved is the same one, in its history and among what is new, also
// if another one has its id now.
func TestMovedLinesAreNotNew(t *testing.T) {
	s := openStore(t, t.TempDir())
	at := func(id, what, line string) campaign.Finding {
		f := finding(id, campaign.SeverityMedium)
		f.Title, f.Cause = "KeyError in menu.py:main line "+line+": '"+what+"'", []string{"KeyError", "menu.py:main", "menu.py:" + line}
		return f
	}
	old := writeRun(t, s, aged("demo", 1), 5, at("F-1", "sections", "23"), at("F-2", "name", "24")).RunID
	young := writeRun(t, s, aged("demo", 2), 5, at("F-0", "sections", "22"), at("F-1", "name", "23"), at("F-9", "title", "40")).RunID
	got := ""
	page, err := s.Findings(FindingQuery{RunID: young})
	must(t, err)
	for _, x := range page.Findings {
		list, err := s.History(young, x.Finding(), 10)
		must(t, err)
		got += fmt.Sprintf("%s %t %d %t; ", x.ID, x.New, len(list), list[1].RunID == old && list[1].Seen)
	}
	if want := "F-0 false 2 true; F-1 false 2 true; F-9 true 2 false; "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A follower sees what is written, from another handle, record by record; the
// writer's death and a resumption as well.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	s, other := openStore(t, dir), openStore(t, dir)
	w, err := s.Begin(manifest("demo"))
	must(t, err)
	f, err := other.Follow(w.RunID())
	must(t, err)
	defer f.Close()
	poll := func() Live {
		t.Helper()
		l, err := f.Poll()
		must(t, err)
		return l
	}
	if l := poll(); !l.Running || l.Record.RunID != w.RunID() || l.Record.Campaigns[0].Cases.Run != 0 {
		t.Errorf("at the start: %+v", l)
	}
	for i := range int64(20) {
		must(t, w.Append(outcome(i)))
	}
	settled, err := json.Marshal(map[string]any{"settled": finding("F-a", campaign.SeverityHigh)})
	must(t, err)
	must(t, w.Append(Entry{Kind: KindFinding, Data: settled}))
	must(t, w.Append(Entry{Kind: KindProgress, Data: []byte(`{"t":1,"cases":20,"findings":1,"phase":"running","planned":50,"rate":7}`), At: 3 * time.Second}))
	must(t, w.Sync())
	before := poll()
	if k := before.Record.Campaigns[0].Cases; k.Run != 20 || k.Fail != 2 || before.Progress.Planned != 50 || before.Progress.Cases != 20 || len(before.Record.Findings) != 1 || before.Record.Environment.Seconds != 3 {
		t.Errorf("after 20 cases: %+v", before)
	}
	must(t, w.Append(outcome(20)))
	must(t, w.Close())
	if l := poll(); l.Running || l.Record.Campaigns[0].Cases.Run != 21 || l.Record.Stopped != "interrupted" {
		t.Errorf("after the writer's death: %+v", l)
	}
	if before.Record.Campaigns[0].Cases.Run != 20 {
		t.Error("what an earlier call returned has changed")
	}
	w, j, err := s.Resume(w.RunID())
	must(t, err)
	defer j.Close()
	rec := campaign.Record{RunID: w.RunID(), Verdict: "fail", Complete: true, Findings: []campaign.Finding{finding("F-b", campaign.SeverityLow)}}
	data, err := json.Marshal(rec)
	must(t, err)
	must(t, w.Append(Entry{Kind: KindResumed, Data: []byte("{}")}))
	must(t, w.Append(Entry{Kind: KindEnd, Data: data}))
	must(t, w.SaveRecord(rec, "done"))
	must(t, w.Close())
	if l := poll(); l.Running || !l.Record.Complete || l.Record.Findings[0].ID != "F-b" {
		t.Errorf("at the end: %+v", l)
	}
	if _, err := s.Follow("../" + w.RunID()); err == nil {
		t.Error("a name outside the store is followed")
	}
}

// A tail that is torn when it is looked at is read once it is whole.
func TestFollowOverATornTail(t *testing.T) {
	s := openStore(t, t.TempDir())
	run := passingRun(t, s, 500)
	path := s.runPath(run, journalFile)
	whole, err := os.ReadFile(path)
	must(t, err)
	f, err := s.Follow(run)
	must(t, err)
	defer f.Close()
	last := int64(-1)
	for cut := len(whole) / 2; ; cut += len(whole)/20 + 1 {
		cut = min(cut, len(whole))
		must(t, os.WriteFile(path, whole[:cut], 0o666))
		l, err := f.Poll()
		must(t, err)
		if n := l.Record.Campaigns[0].Cases.Run; n < last {
			t.Errorf("%d cases after %d", n, last)
		} else {
			last = n
		}
		if cut == len(whole) {
			break
		}
	}
	if last != 500 {
		t.Errorf("%d cases in the end", last)
	}
}
