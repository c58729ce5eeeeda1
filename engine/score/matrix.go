package score

import "strconv"

// Severity is how serious an invariant is.
type Severity string

// The severities.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
)

// Weight returns the weight of a cell with a severity: 3, 2, 1 and, for low and any
// other text, 1.
func (s Severity) Weight() int {
	switch s {
	case Critical:
		return 3
	case High:
		return 2
	}
	return 1
}

// Cell is one invariant in one scenario. Cells that do not apply are omitted.
type Cell struct {
	Severity Severity
	Passed   bool
}

// Matrix is the score of a contract.
type Matrix struct {
	Cells, CellsPassed int
	Weight, Won        int     // sums of the weights of all cells and of those that passed
	Score              float64 // 0 to 100, with two decimals
	CriticalFailed     bool    // a critical cell failed, which fails the whole, whatever the score
}

// OfMatrix adds up cells. ok is false if there are none: nothing was tested, which
// is neither a pass nor a score.
func OfMatrix(cells []Cell) (m Matrix, ok bool) {
	for _, c := range cells {
		w := c.Severity.Weight()
		m.Cells++
		m.Weight += w
		if c.Passed {
			m.CellsPassed++
			m.Won += w
		} else if c.Severity == Critical {
			m.CriticalFailed = true
		}
	}
	if m.Cells == 0 {
		return m, false
	}
	m.Score = Round(float64(m.Won)/float64(m.Weight)*100, 2)
	return m, true
}

// Passed reports whether no critical cell failed; a contract has no threshold.
func (m Matrix) Passed() bool { return m.Cells > 0 && !m.CriticalFailed }

// Fraction returns the score from 0 to 1, not rounded.
func (m Matrix) Fraction() float64 {
	if m.Weight == 0 {
		return 0
	}
	return float64(m.Won) / float64(m.Weight)
}

// Round rounds to a number of decimals like Python's round: by the exact value, ties
// to even.
func Round(f float64, decimals int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', decimals, 64), 64)
	if err != nil {
		return f // only an overflow fails, which stays
	}
	return r
}
