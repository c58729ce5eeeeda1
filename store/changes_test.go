package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

func scored(name string, score float64, parts []campaign.ScorePart, rows, columns []string, hits ...int64) campaign.Record {
	m := &campaign.Matrix{Rows: rows, Columns: columns}
	for r := range rows {
		var cells []campaign.MatrixCell
		for k := range columns {
			n := hits[r*len(columns)+k]
			cell := campaign.MatrixCell{Hits: n, Total: 4}
			if n < 0 { // does not apply
				cell = campaign.MatrixCell{Note: "N/A"}
			}
			cells = append(cells, cell)
		}
		m.Cells = append(m.Cells, cells)
	}
	return campaign.Record{RunID: name, Complete: true, Campaigns: []campaign.CampaignRecord{
		{Contract: "flakestorm", Name: name, Score: &score, Parts: parts, Exhibits: []campaign.Exhibit{campaign.TextExhibit("x", "y"), {Kind: "matrix", Matrix: m}}},
		{Contract: "fuzzspec", Name: "same"},
	}}
}

// Two versions of a program, of documents with other names, are compared by
// their scores and cells.
func TestCompareScoresAndCells(t *testing.T) {
	part := func(name string, score float64) campaign.ScorePart {
		return campaign.ScorePart{Name: name, Score: score, Weight: 0.5}
	}
	a := scored("old.yaml", 0.5, []campaign.ScorePart{part("chaos", 0.5), part("contract", 0.5)},
		[]string{"kind", "gone"}, []string{"calm", "storm"}, 4, 1, 2, -1)
	b := scored("new.yaml", 0.75, []campaign.ScorePart{part("contract", 1), part("replay", 0.5)},
		[]string{"kind", "new"}, []string{"calm", "storm"}, 3, 4, 4, -1)
	found := func(id, name, fingerprint string) campaign.Finding {
		return campaign.Finding{ID: id, Contract: "flakestorm", Campaign: name, Fingerprint: fingerprint}
	}
	a.Campaigns[0].Cases.Run, b.Campaigns[0].Cases.Run = 4, 4
	a.Findings = []campaign.Finding{found("F-1", "old.yaml", "aa"), found("F-2", "old.yaml", "bb")}
	b.Findings = []campaign.Finding{found("F-3", "new.yaml", "bb"), found("F-4", "new.yaml", "cc")}
	c := (*Store)(nil).compare(a, b)
	if len(c.Fixed) != 1 || c.Fixed[0].ID != "F-1" || len(c.StillFailing) != 1 || c.StillFailing[0].B.ID != "F-3" || len(c.New) != 1 || len(c.NotRun) != 0 {
		t.Errorf("findings of a renamed document: %+v", c)
	}
	if len(c.Differences) != 1 || c.Differences[0] != "campaign flakestorm old.yaml of old.yaml is compared with flakestorm new.yaml of new.yaml" {
		t.Errorf("differences %q", c.Differences)
	}
	type score struct {
		part   string
		a, b   float64 // -1: none
		others bool
	}
	var scores []score
	value := func(v *float64) float64 {
		if v == nil {
			return -1
		}
		return *v
	}
	for _, s := range c.Scores {
		if s.Campaign != "new.yaml" {
			t.Errorf("%+v", s)
		}
		scores = append(scores, score{s.Part, value(s.A), value(s.B), s.OtherParts})
	}
	wantScores := []score{{"", 0.5, 0.75, true}, {"chaos", 0.5, -1, false}, {"contract", 0.5, 1, false}, {"replay", -1, 0.5, false}}
	if len(scores) != len(wantScores) {
		t.Fatalf("scores %+v", scores)
	}
	for i := range scores {
		if scores[i] != wantScores[i] {
			t.Errorf("score %+v, want %+v", scores[i], wantScores[i])
		}
	}
	var cells []string
	for _, x := range c.Cells {
		word := "not better"
		if x.Better() {
			word = "better"
		}
		cells = append(cells, x.Row+" in "+x.Column+": "+word)
	}
	want := []string{"kind in calm: not better", "kind in storm: better", "new in calm: better", "gone in calm: not better"}
	if len(cells) != len(want) {
		t.Fatalf("cells %q", cells)
	}
	for i := range cells {
		if cells[i] != want[i] {
			t.Errorf("cell %q, want %q", cells[i], want[i])
		}
	}
	if same := (*Store)(nil).compare(a, a); len(same.Cells) != 0 || same.Scores[0].OtherParts {
		t.Errorf("a run against itself: %+v", same)
	}
}

// Fewer failures are better, and what merely counts is not compared.
func TestFailuresAreNoSuccess(t *testing.T) {
	with := func(hits int64) campaign.Record {
		matrix := func(measures string) campaign.Exhibit {
			return campaign.Exhibit{Kind: "matrix", Matrix: &campaign.Matrix{Rows: []string{"all"}, Columns: []string{measures}, Measures: measures,
				Cells: [][]campaign.MatrixCell{{{Hits: hits, Total: 300}}}}}
		}
		return campaign.Record{Campaigns: []campaign.CampaignRecord{{Contract: "operator", Name: "guard", Exhibits: []campaign.Exhibit{matrix(campaign.OfCounts), matrix(campaign.OfFailures)}}}}
	}
	for _, x := range []struct {
		a, b int64
		want string
	}{{86, 0, "better"}, {0, 86, "worse"}, {86, 85, "no evidence of a change"}} {
		c := (*Store)(nil).CompareRecords(with(x.a), with(x.b))
		if len(c.Cells) != 1 || c.Cells[0].Chance == nil || c.Cells[0].Chance.Verdict != x.want {
			t.Errorf("%d of 300 -> %d of 300: %+v, expected %s", x.a, x.b, c.Cells, x.want)
		}
	}
}

// A score is worse or better beyond chance only if the cases that passed say so, too.
func TestScoresFollowTheirCases(t *testing.T) {
	with := func(score float64, pass int64) campaign.Record {
		return campaign.Record{Campaigns: []campaign.CampaignRecord{{Contract: "flakestorm", Name: "a", Score: &score, Cases: campaign.Counts{Pass: pass, Fail: 100 - pass}}}}
	}
	for _, x := range []struct {
		a, b float64
		x, y int64
		want string
	}{{0.9, 0.4, 90, 40, "worse"}, {0.4, 0.9, 40, 90, "better"}, {0.9, 0.8, 90, 89, "no evidence of a change"}, {0.9, 0.8, 90, 90, "no evidence of a change"},
		{0.4, 0.5, 90, 40, ""}, {0.5, 0.4, 40, 90, ""}} {
		c := (*Store)(nil).CompareRecords(with(x.a, x.x), with(x.b, x.y))
		got := c.Scores[0].Chance
		if x.want == "" && got != nil || x.want != "" && (got == nil || got.Verdict != x.want) || c.Worse() != (x.want == "worse") {
			t.Errorf("%v: %+v, worse %v", x, got, c.Worse())
		}
	}
}

// The only seed has all prompts: what is true of them all is true of it, however many
// operators are compared beside it. Two seeds are tests of their own.
func TestTheOnlyPartSharesTheTestOfAll(t *testing.T) {
	with := func(hits int64, seeds ...campaign.MatrixCell) campaign.Record {
		m := &campaign.Matrix{Rows: []string{"all"}, Columns: []string{"success"}, Measures: campaign.OfFailures, Cells: [][]campaign.MatrixCell{{{Hits: hits, Total: 600}}}}
		for i, c := range seeds {
			m.Rows, m.Cells = append(m.Rows, fmt.Sprintf("seed %d", i)), append(m.Cells, []campaign.MatrixCell{c})
		}
		for i := range 60 {
			m.Rows, m.Cells = append(m.Rows, fmt.Sprintf("op_%d", i)), append(m.Cells, []campaign.MatrixCell{{Hits: int64(i % 2), Total: 10}})
		}
		return campaign.Record{Campaigns: []campaign.CampaignRecord{{Contract: "operator", Name: "guard", Exhibits: []campaign.Exhibit{{Kind: "matrix", Matrix: m}}}}}
	}
	verdicts := func(a, b campaign.Record) (list []string) {
		for _, c := range (*Store)(nil).CompareRecords(a, b).Cells {
			list = append(list, c.Row+" "+c.Chance.Verdict)
		}
		return list
	}
	if got, want := verdicts(with(11, campaign.MatrixCell{Hits: 11, Total: 600}), with(0, campaign.MatrixCell{Total: 600})), []string{"all better", "seed 0 better"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	half := campaign.MatrixCell{Total: 300}
	if got, want := verdicts(with(11, campaign.MatrixCell{Hits: 11, Total: 300}, half), with(0, half, half)), []string{"all better", "seed 0 no evidence of a change"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
