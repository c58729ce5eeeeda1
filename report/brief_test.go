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

// A report of a whole run shows all texts that are brief, and cuts very long ones; the
// end of a run shows the first of them. Both say what shows the rest.
func TestBriefTexts(t *testing.T) {
	var list []campaign.Exhibit
	for i := range lastTexts + 2 {
		e := campaign.TextExhibit(fmt.Sprintf("Strongest prompt %d, %s", i, strings.Repeat("of many operators ", 5)+"end"), strings.Repeat("x", lastText+1)+"last")
		e.Brief = true
		list = append(list, e)
	}
	list[0].Text.Body = strings.Repeat("y\n", briefText)
	rec := campaign.Record{RunID: "r1", Campaigns: []campaign.CampaignRecord{{Exhibits: list}}}
	for ran, want := range map[bool]map[string]int{
		true:  {"operators end": lastTexts, "last": 0, "\n  y\n": lastText / 25, "more of them: thresh report r1\n": 1, "what is cut: thresh report r1 --format html -o report.html\n": 1},
		false: {"operators end": lastTexts + 2, "last": lastTexts + 1, "\n  y\n": briefText / 25, "more of them: thresh report r1\n": 0, "what is cut: thresh report r1 --format html -o report.html\n": 1},
	} {
		var b strings.Builder
		if err := writeText(&b, rec, Options{Width: 80, Ran: ran, Report: []string{"thresh", "report", "r1"}}); err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(strings.ReplaceAll(b.String(), "\n", "\n\n"), "operators\n\n  ", "operators ")
		for text, n := range want {
			if strings.Count(got, text) != n {
				t.Errorf("at the end of a run %t: %d times %q, expected %d:\n%s", ran, strings.Count(got, text), text, n, b.String())
			}
		}
	}
}
