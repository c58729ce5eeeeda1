package fresnelfir

import (
	"testing"
)

// Pairs of inputs are shown as a matrix, a cell for each that is to be covered.
func TestPairsOfInputs(t *testing.T) {
	c := compileText(t, article(t))
	c.budget = 300
	s, _ := explore(t, c, "")
	e, ok := c.pairs(s)
	if !ok {
		t.Fatal("no matrix")
	}
	tried, cells := 0, 0
	for _, row := range e.Matrix.Cells {
		for _, x := range row {
			cells++
			tried += int(x.Hits)
		}
	}
	want := 0
	for i, x := range c.plan.space.targets {
		if len(x.params) == 2 && s.reached[i] {
			want++
		}
	}
	if len(e.Matrix.Rows) != 3 || len(e.Matrix.Columns) != 2 || cells != 6 || tried != want || want == 0 {
		t.Errorf("%v by %v, %d of %d cells tried, want %d", e.Matrix.Rows, e.Matrix.Columns, tried, cells, want)
	}
	if rows := c.combinations(s, true); len(rows) >= len(c.combinations(s, false)) {
		t.Errorf("%d combinations are listed beside the matrix", len(rows))
	}
}

// Coverage is drawn over epochs, from before the first to after the last.
func TestCoverageOverEpochs(t *testing.T) {
	c := compileText(t, article(t))
	c.budget = 300
	s, _ := explore(t, c, "")
	hit, total := s.progress(c.plan)
	for _, e := range c.Summarize(s).Exhibits {
		if e.Kind != "series" {
			continue
		}
		ps := e.Series.Lines[0].Points
		last := ps[len(ps)-1]
		if e.Series.XLabel != "epochs" || ps[0] != [2]float64{} || s.epoch < 2 || last != [2]float64{float64(s.epoch), 100 * float64(hit) / float64(total)} {
			t.Errorf("over %s, %d epochs: from %v to %v", e.Series.XLabel, s.epoch, ps[0], last)
		}
		return
	}
	t.Error("the coverage is not drawn")
}
