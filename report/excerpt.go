package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Limits of the exhibits in a finding's block.
const (
	excerptLines = 6
	excerptRows  = 3
	excerptBytes = 4 // lines of the smallest input
)

// excerpt writes the part of a finding's evidence that its block shows: the first text; the first
// text with marks or, without one, the first table with a focus; and the smallest input.
func (s *screen) excerpt(f *campaign.Finding) {
	var first, marked, focused, input *campaign.Exhibit
	keep := func(at **campaign.Exhibit, e *campaign.Exhibit, fits bool) {
		if *at == nil && fits {
			*at = e
		}
	}
	for i := range f.Evidence {
		e := &f.Evidence[i]
		keep(&first, e, e.Text != nil && focused == nil && strings.TrimSpace(e.Text.Body) != "") // the leading text says most
		keep(&marked, e, e.Text != nil && len(e.Text.Marks) > 0)
		keep(&focused, e, e.Table != nil && len(e.Table.Focus) > 0)
		keep(&input, e, e.Bytes != nil && len(e.Bytes.Rows) > 1)
	}
	if input != nil {
		s.smallest(input.Bytes, f.Minimized != nil && !asItWas(f))
	}
	more := 0
	if first != nil {
		more += s.excerptText(first)
	}
	switch {
	case marked != nil && marked != first:
		more += s.excerptText(marked)
	case marked == nil && focused != nil:
		more += s.excerptTable(focused)
	}
	if more > 0 {
		s.note(4, "%s; thresh show %s shows all", plural(more, "more line"), visible(f.ID))
	}
}

// excerptText writes the start of a text or, if it has marks, the part around the first one. It
// returns how many more lines the text has.
func (s *screen) excerptText(e *campaign.Exhibit) (more int) {
	const look = 16 << 10
	body, from := e.Text.Body, 0
	if len(e.Text.Marks) > 0 {
		from = min(max(e.Text.Marks[0].From, 0), len(body))
		from = strings.LastIndexByte(body[:from], '\n') + 1
		for n := strings.Count(strings.TrimRight(body[from:], "\n"), "\n") + 1; n < excerptLines && from > 0; n++ { // lines that lead to the mark
			from = strings.LastIndexByte(body[:from-1], '\n') + 1
		}
	}
	s.line(2, s.paint(dim, clip(visible(e.Title), s.width-3)+":"))
	shown := 0
	for _, l := range visibleLines(head(body[from:], look)) {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if shown == excerptLines {
			break
		}
		s.line(4, clip(l, s.width-4))
		shown++
	}
	return strings.Count(strings.TrimRight(body, "\n"), "\n") + 1 - shown
}

// excerptTable writes the first focused row of a table and the rows before it; if these are few,
// also rows after it. It returns how many more rows the table has.
func (s *screen) excerptTable(e *campaign.Exhibit) (more int) {
	t := e.Table
	at := t.Focus[0]
	from := max(0, min(at+1, len(t.Rows))-excerptRows)
	var rows [][]string
	for _, r := range t.Rows[from:min(len(t.Rows), max(at+1, from+excerptRows))] {
		rows = append(rows, visibleAll(r))
	}
	s.line(2, s.paint(dim, visible(e.Title)+":"))
	s.grid(4, visibleAll(t.Columns), rows, t.Numeric)
	return len(t.Rows) - len(rows)
}

// smallest writes the last of several inputs if it is readable. That is the minimized one, if any
// was. sized says that its size has been written, which is all there is to say of no bytes.
func (s *screen) smallest(b *campaign.Bytes, sized bool) {
	shown := *b
	if n := len(b.Rows); n > 2 { // whether what lies between can be read does not matter
		shown.Rows = []campaign.BytesRow{b.Rows[0], b.Rows[0], b.Rows[n-1]}
	}
	rows := textRows(&shown)
	if rows == nil {
		return
	}
	if rows[len(rows)-1].Empty {
		if !sized {
			s.line(2, s.paint(dim, "Input:")+" no bytes")
		}
		return
	}
	var text strings.Builder
	last := rows[len(rows)-1]
	for _, p := range last.Parts {
		text.WriteString(p.Text.Body)
	}
	lines := visibleLines(strings.TrimSuffix(text.String(), "\n"))
	if len(lines) == 1 && lines[0] != strings.Trim(lines[0], " ") { // blanks at the ends would not be seen
		lines[0] = strconv.Quote(text.String())
	}
	s.line(2, s.paint(dim, visible("Input, "+last.Label+", "+last.Size)+":"))
	for _, l := range lines[:min(len(lines), excerptBytes)] {
		s.line(4, clip(l, s.width-4))
	}
	if n := len(lines) - excerptBytes; n > 0 {
		s.note(4, "%s", plural(n, "more line"))
	}
}

// frameOf returns the source that a finding points to; nil if there is none.
func frameOf(f *campaign.Finding) *campaign.Document {
	i := slices.IndexFunc(f.Evidence, func(e campaign.Exhibit) bool { return e.Document != nil && e.Document.Line > 0 })
	if i < 0 {
		return nil
	}
	return f.Evidence[i].Document
}

// frame writes the source line that matters, and its neighbours.
func (s *screen) frame(f *campaign.Finding) {
	d := frameOf(f)
	if d == nil {
		return
	}
	s.line(2, s.paint(dim, "Source:")+" "+visible(fmt.Sprintf("%s:%d", d.Name, d.Line)))
	for i, l := range strings.Split(strings.TrimSuffix(d.Body, "\n"), "\n") {
		n := i + max(d.First, 1)
		if n < d.Line-1 || n > d.Line+1 {
			continue
		}
		lead, style := "  ", plain
		if n == d.Line {
			lead, style = "> ", bold
		}
		s.line(4, s.paint(style, clip(fmt.Sprintf("%s%4d  %s", lead, n, strings.Join(visibleLines(l), "")), s.width-4)))
	}
}
