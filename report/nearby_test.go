package report

import (
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// A card of many is small whatever its evidence, and shows what matters of it.
func TestCardsShowWhatMatters(t *testing.T) {
	body := strings.Repeat("one line\n", 8000) + "the mark\n" + strings.Repeat("é", 8000)
	at := strings.Index(body, "mark")
	text := campaign.TextExhibit("Output", body)
	text.Text.Marks = []campaign.Mark{{From: at, To: at + 4, Kind: "focus"}}
	long := campaign.TextExhibit("Line", strings.Repeat("é", 20000)+"mark")
	long.Text.Marks = []campaign.Mark{{From: 40000, To: 40004, Kind: "focus"}}
	var lines []string
	var rows [][]string
	for i := range 300 {
		lines, rows = append(lines, "line "+strconv.Itoa(i+1)), append(rows, []string{strconv.Itoa(i)})
	}
	doc := campaign.Exhibit{Kind: "document", Title: "Spec", Document: &campaign.Document{
		Name: "a", First: 11, Body: strings.Join(lines, "\n"), Blocks: []campaign.Block{{From: 200, To: 200, Note: "here"}, {From: 290, To: 290, Note: "there"}},
	}}
	f := campaign.Finding{Evidence: []campaign.Exhibit{text, long, doc, campaign.TableExhibit("Steps", []string{"n"}, rows)}}
	v := DrawFinding(&f, true, Options{Card: true})
	all, marked, shown := 0, 0, map[int]string{}
	for _, e := range append(v.Key, v.Exhibits...) {
		for _, r := range e.Text {
			if all += len(r.Text); r.Mark != "" && r.Text == "mark" {
				marked++
			}
		}
		if e.Text != nil && !strings.HasPrefix(e.Note, "cut: without the first ") {
			t.Errorf("%s: %q", e.Title, e.Note)
		}
		if e.Table != nil && (len(e.Table.Rows) != cardRows || e.Note == "") {
			t.Errorf("%d rows, %q", len(e.Table.Rows), e.Note)
		}
		for _, p := range e.Document {
			for _, l := range p.Lines {
				shown[l.Number] = strings.Join(l.Notes, "")
			}
		}
	}
	if all > 2*cardBudget || marked != 2 {
		t.Errorf("%d bytes of text, %d marks", all, marked)
	}
	if shown[210] != "here" || shown[300] != "" {
		t.Errorf("lines %v", shown)
	}
	if whole := DrawFinding(&f, true, Options{}); len(whole.Exhibits)+len(whole.Key) != 4 {
		t.Errorf("%d exhibits", len(whole.Exhibits))
	}
}
