package score

import "testing"

// What a matrix counts, and what it is worth.
func TestMatrixCounts(t *testing.T) {
	m, ok := OfMatrix([]Cell{{Critical, true}, {High, false}, {Medium, true}, {Medium, true}})
	want := Matrix{Cells: 4, CellsPassed: 3, Weight: 7, Won: 5, Score: 71.43}
	if !ok || m != want || !m.Passed() || m.Fraction() != 5.0/7 {
		t.Errorf("%+v %t, want %+v", m, ok, want)
	}
	if m, _ := OfMatrix([]Cell{{Critical, false}, {High, true}}); m.Passed() || !m.CriticalFailed || m.CellsPassed != 1 {
		t.Errorf("a critical cell failed: %+v", m)
	}
}
