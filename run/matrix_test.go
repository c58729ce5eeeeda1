package run_test

import (
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
)

// charted is a counter with a matrix whose cells name cases.
type charted struct{ *counter }

func (c charted) Summarize(sum) campaign.Summary {
	at := func(i int64) *int64 { return &i }
	return campaign.Summary{Exhibits: []campaign.Exhibit{{Kind: "matrix", Title: "Cases", Matrix: &campaign.Matrix{
		Rows: []string{"all"}, Columns: []string{"first", "later", "passes", "none"},
		Cells: [][]campaign.MatrixCell{{{Total: 1, Case: at(3)}, {Total: 1, Case: at(13)}, {Hits: 1, Total: 1, Case: at(4)}, {Total: 1}}},
	}}}}
}

// A cell of a matrix has the finding of its case, also if the finding begins with another.
func TestCellsNameFindings(t *testing.T) {
	c := charted{&counter{rounds: 1, perRound: 40, fail: everyTenth}}
	rec, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](c), run.Options{Workers: 2, Reruns: 1})
	if err != nil {
		t.Fatal(err)
	}
	first := ""
	for _, f := range rec.Findings {
		if f.First == 3 {
			first = f.ID
		}
	}
	cells := rec.Campaigns[0].Exhibits[0].Matrix.Cells[0]
	for i, want := range []string{first, first, "", ""} {
		if cells[i].Finding != want || first == "" {
			t.Errorf("cell %d has finding %q, want %q", i, cells[i].Finding, want)
		}
	}
}
