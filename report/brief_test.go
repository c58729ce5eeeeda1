package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// The text report of a whole run shows the first rows of a brief matrix, in the
// columns of the terminal, and says that there are more; what is not brief is left out.
func TestBriefMatrix(t *testing.T) {
	m := campaign.Matrix{Columns: []string{"success"}}
	for i := range briefRows + 2 {
		m.Rows = append(m.Rows, fmt.Sprintf("op_with_a_long_name_%d + op_with_another_long_name", i))
		m.Cells = append(m.Cells, []campaign.MatrixCell{{Hits: 1, Total: 4, Low: 0.046, High: 0.699}})
	}
	e := campaign.Exhibit{Kind: "matrix", Title: "Attack success rate", Brief: true, Matrix: &m}
	long := e
	long.Title, long.Brief = "Others", false
	var b strings.Builder
	rec := campaign.Record{Verdict: "fail", Campaigns: []campaign.CampaignRecord{{Exhibits: []campaign.Exhibit{e, long}}}}
	if err := writeText(&b, rec, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.Count(got, "25% (1/4) [4.6%, 69.9%]") != briefRows || !strings.Contains(got, "cut: the first 12 of 14 rows") || strings.Contains(got, "Others") {
		t.Error(got)
	}
	for line := range strings.Lines(got) {
		if textWidth(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("wider than the terminal: %s", line)
		}
	}
}
