package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Limits of what a run's page shows. A card shows the part of its exhibits around what matters; the
// finding's own page shows all.
const (
	runBudget  = 40 << 10 // bytes of text in a run's own exhibits, such as its document
	runLines   = 500      // of a document of the run
	cardBudget = 8 << 10  // bytes of text on a card
	cardRows   = 40       // of a table
	cardLines  = 40       // of a document
)

// nearMark returns the part of a long text that leads to its first mark, which the cut would
// otherwise hide, and a remark on what is missing before it.
func nearMark(t *campaign.Text, limit int) (*campaign.Text, string) {
	if len(t.Marks) == 0 || t.Marks[0].To <= limit || t.Marks[0].From >= len(t.Body) {
		return t, ""
	}
	from := len(head(t.Body, max(0, t.Marks[0].From-limit/4)))
	if line := from + strings.IndexByte(t.Body[from:], '\n') + 1; line <= t.Marks[0].From {
		from = line
	}
	part := &campaign.Text{Body: t.Body[from:], Truncated: t.Truncated}
	for _, m := range t.Marks {
		part.Marks = append(part.Marks, campaign.Mark{From: m.From - from, To: m.To - from, Kind: m.Kind})
	}
	return part, fmt.Sprintf("cut: without the first %s; ", size(int64(from)))
}

// nearLine returns the part of a long document around the line that it is about.
func nearLine(doc *campaign.Document) *campaign.Document {
	lines := strings.Split(strings.TrimSuffix(doc.Body, "\n"), "\n")
	at, first := doc.Line-max(doc.First, 1)+1, max(doc.First, 1)
	if doc.Line == 0 && len(doc.Blocks) > 0 {
		at = doc.Blocks[0].From
	}
	if len(lines) <= cardLines || at < 1 || at > len(lines) {
		return doc
	}
	from := max(0, min(at-1-cardLines/2, len(lines)-cardLines))
	part := *doc
	part.First, part.Body = first+from, strings.Join(lines[from:from+cardLines], "\n")
	part.Blocks = slices.DeleteFunc(slices.Clone(doc.Blocks), func(b campaign.Block) bool { return b.To <= from || b.From > from+cardLines })
	for i := range part.Blocks {
		b := &part.Blocks[i]
		b.From, b.To = max(1, b.From-from), min(b.To-from, cardLines)
	}
	return &part
}
