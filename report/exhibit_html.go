package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Exhibit is an exhibit as a page draws it. Exactly one of the fields after Note is set.
type Exhibit struct {
	Title string
	Open  string // file and line to open in an editor; "": none
	Note  string

	Text     []run
	Table    *tableView
	Matrix   *matrixView
	Diff     []run
	Bytes    *dump
	Texts    []textRow // Bytes readable as text
	Timeline *timelineView
	Series   *seriesView
	Graph    *graphView
	Document []docPart
}

// run is text in one style. Hidden means that the text is the escaped form of something invisible.
type run struct {
	Text   string
	Hidden bool
	Mark   string // "changed", "added", "removed", "focus" or ""
}

// tableView is a table whose rows can link to their cases.
type tableView struct {
	campaign.Table
	Links []string // per row; "": none
}

type matrixView struct {
	Columns []string
	Rows    []matrixRow
}

type matrixRow struct {
	Name  string
	Cells []matrixCell
}

type matrixCell struct {
	There          bool
	Class          string // "h0" to "h10" by rate
	Rate, Counts   string
	Interval       string
	Low, High, Dot string // of the interval, from 0 to 100
	Note           string
	Link           string // to the case that shows it; "": none
}

// evidenceBudget is how many bytes of text a page shows in full; later texts are cut to textSpare
// bytes each. So the page stays small enough for a browser however many findings there are.
const (
	evidenceBudget = 6 << 20
	textSpare      = 2 << 10
)

// drawer draws the exhibits of one page within its budget.
type drawer struct {
	left   int
	folder string                   // to which names of source files are relative; "": unknown
	link   func(index int64) string // to a case of the current campaign; nil: no links
	card   bool                     // exhibits are cut to what matters
	lines  int                      // largest number of lines of a document; 0: lineCap
}

func (d *drawer) limit() int { return min(textCap, max(d.left, textSpare)) }

func (d *drawer) exhibit(e *campaign.Exhibit) Exhibit {
	v := Exhibit{Title: e.Title}
	switch {
	case e.Text != nil:
		var body string
		t, before := nearMark(e.Text, d.limit())
		body, v.Note = cutText(t, d.limit())
		d.left -= len(body)
		v.Text, v.Note = runsOf(body, t.Marks), strings.TrimSuffix(before+v.Note, "; ")
		if body == "" {
			v.Note = "empty"
		}
	case e.Table != nil:
		t := *e.Table
		most := rowCap
		if d.card {
			most = cardRows
		}
		t.Rows, v.Note = firstOf(t.Rows, most, "row")
		if t.Numeric == nil {
			t.Numeric = numbers(&t)
		}
		v.Table = &tableView{withoutEmpty(t), d.rowLinks(&t)}
	case e.Matrix != nil:
		v.Matrix, v.Note = d.matrix(e.Matrix)
	case e.Diff != nil:
		v.Diff, v.Note = diffRuns(e.Diff, d.limit())
	case e.Bytes != nil:
		b := dumpOf(e.Bytes)
		v.Bytes, v.Texts = &b, textRows(e.Bytes)
		if b.Cut > 0 {
			v.Note = "cut: " + size(b.Cut) + " more"
		}
	case e.Timeline != nil:
		v.Timeline = timelineOf(e.Title, e.Timeline)
		v.Note = v.Timeline.Note
	case e.Series != nil:
		v.Series = seriesOf(e.Title, e.Series, 640, 280, false)
		v.Note = v.Series.Note
	case e.Graph != nil:
		v.Graph = graphOf(e.Title, e.Graph)
		v.Note = v.Graph.Note
	case e.Document != nil:
		doc := e.Document
		if d.card {
			doc = nearLine(doc)
		}
		v.Document, v.Note = d.document(doc)
		v.Open = d.editor(e.Document)
	default:
		v.Note = "nothing to show of kind " + strconv.Quote(e.Kind)
	}
	return v
}

// withoutEmpty returns a table without the columns that are empty in every row. It keeps the first
// column.
func withoutEmpty(t campaign.Table) campaign.Table {
	out := campaign.Table{Focus: t.Focus, Cases: t.Cases, Rows: make([][]string, len(t.Rows))}
	for i, c := range t.Columns {
		if len(t.Rows) > 0 && i > 0 && !slices.ContainsFunc(t.Rows, func(r []string) bool { return i < len(r) && r[i] != "" }) {
			continue
		}
		out.Columns, out.Numeric = append(out.Columns, c), append(out.Numeric, i < len(t.Numeric) && t.Numeric[i])
		for k, r := range t.Rows {
			if i < len(r) {
				out.Rows[k] = append(out.Rows[k], r[i])
			}
		}
	}
	return out
}

// rowLinks returns the links of a table's rows.
func (d *drawer) rowLinks(t *campaign.Table) []string {
	if d.link == nil || len(t.Cases) == 0 {
		return nil
	}
	out := make([]string, len(t.Rows))
	for i := range min(len(out), len(t.Cases)) {
		if c := t.Cases[i]; c != nil {
			out[i] = d.link(*c)
		}
	}
	return out
}

// headingAt returns a column's heading, for narrow screens that stack the cells of a row.
func headingAt(columns []string, i int) string {
	if i < len(columns) {
		return brief(columns[i])
	}
	return ""
}

// linkAt returns a row's link; "" if it has none.
func linkAt(links []string, row int) string {
	if row < len(links) {
		return links[row]
	}
	return ""
}

// numbers returns which columns of a table contain only whole numbers.
func numbers(t *campaign.Table) []bool {
	out := make([]bool, len(t.Columns))
	for i := range out {
		n := 0
		for _, r := range t.Rows {
			if i >= len(r) || r[i] == "" {
				continue
			}
			if _, err := strconv.ParseInt(r[i], 10, 64); err != nil {
				n = 0
				break
			}
			n++
		}
		out[i] = n > 0
	}
	return out
}

func (d *drawer) exhibits(es []campaign.Exhibit) []Exhibit {
	out := make([]Exhibit, len(es))
	for i := range es {
		out[i] = d.exhibit(&es[i])
	}
	return out
}

// runsOf splits text at its marks and at invisible characters.
func runsOf(text string, marks []campaign.Mark) []run {
	var out []run
	add := func(s, mark string) {
		for _, p := range pieces(s, true) {
			out = append(out, run{p.Text, p.Hidden, mark})
		}
	}
	at := 0
	for _, m := range marksIn(marks, len(text)) {
		add(text[at:m.From], "")
		add(text[m.From:m.To], markClass(m.Kind))
		at = m.To
	}
	add(text[at:], "")
	return out
}

// markClass returns a class that the style sheet knows.
func markClass(kind string) string {
	switch kind {
	case "added", "removed", "focus":
		return kind
	}
	return "changed"
}

func diffRuns(d *campaign.Diff, limit int) ([]run, string) {
	var out []run
	all, shown := 0, 0
	for _, s := range d.Segments {
		all += len(s.Text)
		if shown >= limit {
			continue
		}
		text, gone, rest := elided(s)
		mark := map[string]string{"insert": "added", "delete": "removed"}[s.Op]
		text = head(text, limit-shown)
		shown += len(text)
		for _, p := range pieces(text, true) {
			out = append(out, run{p.Text, p.Hidden, mark})
		}
		if gone > 0 {
			out = append(out, run{Text: fmt.Sprintf("[%s the same]", size(int64(gone))), Hidden: true})
			shown += gone + len(rest)
			for _, p := range pieces(rest, true) {
				out = append(out, run{p.Text, p.Hidden, mark})
			}
		}
	}
	if shown < all {
		return out, fmt.Sprintf("cut: the first %s of %s", size(int64(shown)), size(int64(all)))
	}
	return out, ""
}

func (d *drawer) matrix(m *campaign.Matrix) (*matrixView, string) {
	names, note := firstOf(m.Rows, heatCap, "row")
	columns, more := firstOf(m.Columns, heatCap, "column")
	out := &matrixView{Columns: columns}
	for i, name := range names {
		row := matrixRow{Name: name}
		for j := range columns {
			c, ok := cellAt(m, i, j)
			if !ok {
				row.Cells = append(row.Cells, matrixCell{Note: c.Note})
				continue
			}
			r := min(max(cellRate(c), 0), 1)
			at := func(f float64) string { return px(2 + 96*min(max(finite(f), 0), 1)) }
			link := ""
			if c.Case != nil && d.link != nil {
				link = d.link(*c.Case)
			}
			row.Cells = append(row.Cells, matrixCell{
				There: true, Link: link, Class: fmt.Sprintf("h%.0f", r*10),
				Rate: percent(cellRate(c)), Counts: count(c.Hits) + " of " + count(c.Total), Interval: interval(c),
				Low: at(c.Low), High: at(c.High), Dot: at(r), Note: c.Note,
			})
		}
		out.Rows = append(out.Rows, row)
	}
	return out, strings.Trim(note+"; "+more, "; ")
}
