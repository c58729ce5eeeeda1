package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/seq"
)

// findingBody writes a finding's evidence and its smallest reproducer.
func (s *screen) findingBody(f *campaign.Finding, opt Options) {
	for i := range f.Evidence {
		s.exhibit(&f.Evidence[i])
	}
	data, full, why := reproducer(f, opt)
	if len(data) == 0 {
		return
	}
	data = data[:min(len(data), minimalCap)]
	s.exhibit(&campaign.Exhibit{
		Title: "Smallest reproducer, " + size(full),
		Bytes: &campaign.Bytes{Rows: []campaign.BytesRow{{Label: "minimized", Data: data, Size: full}}},
	})
	if why != "" {
		s.note(2, "%s", visible(why))
	}
}

// exhibit writes one exhibit under its title.
func (s *screen) exhibit(e *campaign.Exhibit) {
	s.line(0, "")
	s.wrapped(0, 2, bold, visible(e.Title))
	switch {
	case e.Text != nil:
		s.text(e.Text)
	case e.Table != nil:
		s.table(e.Table)
	case e.Matrix != nil:
		s.matrix(e.Matrix)
	case e.Diff != nil:
		s.diff(e.Diff)
	case e.Bytes != nil:
		s.bytes(e.Bytes)
	case e.Timeline != nil:
		s.timeline(e.Timeline)
	case e.Series != nil:
		s.series(e.Series)
	case e.Graph != nil:
		s.graph(e.Graph)
	case e.Document != nil:
		s.document(e.Document)
	default:
		s.note(2, "nothing to show of kind %q", e.Kind)
	}
}

// remark writes a note, if there is one.
func (s *screen) remark(note string) {
	if note != "" {
		s.cut = true
		s.note(2, "%s", note)
	}
}

// text writes lines unchanged, wrapped at the edge of the screen. A ">" precedes each line with a
// mark.
func (s *screen) text(t *campaign.Text) {
	limit := textCap
	if s.brief > 0 {
		limit = briefly(t.Body, s.brief)
	}
	body, note := cutText(t, limit)
	if body == "" && note == "" {
		note = "empty"
	}
	marks := marksIn(t.Marks, len(body))
	at := 0
	for _, raw := range strings.SplitAfter(body, "\n") {
		if raw == "" {
			break
		}
		end := at + len(raw)
		lead, style := "  ", plain
		for _, m := range marks {
			if m.From < end && m.To > at {
				lead, style = "> ", bold
			}
		}
		for _, l := range wrapHard(strings.Join(visibleLines(strings.TrimSuffix(raw, "\n")), ""), s.width-2) {
			s.line(0, s.paint(style, lead+l))
			lead = strings.Repeat(" ", len(lead))
		}
		at = end
	}
	s.remark(note)
}

// wrapHard breaks a line after width columns, even inside words, because blanks matter in a
// target's output.
func wrapHard(line string, width int) []string {
	var out []string
	for {
		t := cutToWidth(line, width)
		if t == "" || len(t) == len(line) {
			return append(out, line)
		}
		out, line = append(out, t), line[len(t):]
	}
}

func (s *screen) table(t *campaign.Table) {
	rows, note := firstOf(t.Rows, rowCap, "row")
	shown := make([][]string, len(rows))
	for i, r := range rows {
		shown[i] = visibleAll(r)
		if len(shown[i]) > 0 && slices.Contains(t.Focus, i) {
			shown[i][0] = "> " + shown[i][0]
		}
	}
	s.grid(2, visibleAll(t.Columns), shown, t.Numeric)
	s.remark(note)
}

func visibleAll(words []string) []string {
	return seq.Map(words, brief)
}

func (s *screen) matrix(m *campaign.Matrix) {
	most := matrixCap
	if s.brief > 0 {
		most = briefRows
	}
	names, note := firstOf(m.Rows, most, "row")
	columns, more := firstOf(m.Columns, matrixCap, "column")
	rows := make([][]string, len(names))
	var notes []string
	for i, name := range names {
		rows[i] = []string{visible(name)}
		for j := range columns {
			c, ok := cellAt(m, i, j)
			if !ok {
				rows[i] = append(rows[i], cmp.Or(visible(c.Note), "–"))
				continue
			}
			text := cellText(c)
			if c.Note != "" {
				notes = append(notes, fmt.Sprintf("(%d) %s", len(notes)+1, visible(c.Note)))
				text += fmt.Sprintf(" (%d)", len(notes))
			}
			rows[i] = append(rows[i], text)
		}
	}
	s.grid(2, append([]string{""}, visibleAll(columns)...), rows, nil)
	for _, n := range notes {
		s.wrapped(2, 4, dim, n)
	}
	s.remark(note)
	s.remark(more)
}

func cellAt(m *campaign.Matrix, i, j int) (campaign.MatrixCell, bool) {
	if i >= len(m.Cells) || j >= len(m.Cells[i]) {
		return campaign.MatrixCell{}, false
	}
	return m.Cells[i][j], m.Cells[i][j].Total > 0
}

func cellText(c campaign.MatrixCell) string {
	return strings.TrimSpace(fmt.Sprintf("%s (%s/%s) %s", percent(cellRate(c)), count(c.Hits), count(c.Total), interval(c)))
}

func cellRate(c campaign.MatrixCell) float64 { return float64(c.Hits) / float64(c.Total) }

// interval returns the interval of a cell; "" if the rate is not an estimate.
func interval(c campaign.MatrixCell) string {
	if c.Low == c.High {
		return ""
	}
	return "[" + percent(c.Low) + ", " + percent(c.High) + "]"
}

// diff writes inserted text as {+text+} and deleted text as [-text-], the usual form of word diffs
// without colour.
func (s *screen) diff(d *campaign.Diff) {
	var b strings.Builder
	for _, seg := range d.Segments {
		text, gone, rest := elided(seg)
		switch seg.Op {
		case "insert":
			b.WriteString("{+" + text + "+}")
		case "delete":
			b.WriteString("[-" + text + "-]")
		default:
			b.WriteString(text)
			if gone > 0 {
				fmt.Fprintf(&b, " […%s the same…] ", size(int64(gone)))
			}
			b.WriteString(rest)
		}
	}
	s.text(&campaign.Text{Body: b.String()})
}

func (s *screen) bytes(b *campaign.Bytes) {
	d := dumpOf(b)
	if d.Cut > 0 {
		defer s.note(2, "cut: %s more", size(d.Cut))
	}
	if rows := textRows(b); rows != nil {
		for _, r := range rows {
			s.line(2, s.paint(dim, visible(r.Label)+", "+r.Size+":"))
			if r.Empty {
				s.note(2, "no bytes")
			}
			for _, p := range r.Parts {
				if p.Gone > 0 {
					s.note(2, "%s the same", plural(p.Gone, "line"))
				} else {
					s.text(&p.Text)
				}
			}
		}
		return
	}
	label := 0
	for _, l := range d.Labels {
		label = max(label, min(textWidth(visible(l)), 12))
	}
	if len(d.Labels) > 1 {
		label = max(label, len("all"))
	}
	for _, r := range b.Rows {
		if len(r.Data) == 0 {
			s.line(2, visible(r.Label)+": no bytes")
		}
	}
	for _, block := range d.Blocks {
		if block.Folded {
			s.line(2, s.paint(dim, fmt.Sprintf("%08x … %08x  the same in all: %s", block.From, block.To-1, plural(len(block.Lines), "line"))))
			continue
		}
		for _, l := range block.Lines {
			name := "all"
			if l.Row >= 0 {
				name = clip(visible(d.Labels[l.Row]), label)
			}
			s.dumpLine(l, name+strings.Repeat(" ", max(0, label-textWidth(name))))
		}
	}
}

// dumpLine puts a star before each changed byte.
func (s *screen) dumpLine(l dumpLine, name string) {
	var hex, text strings.Builder
	for _, c := range l.Cells {
		switch {
		case !c.There:
			hex.WriteString("   ")
			text.WriteByte(' ')
		case c.Changed:
			hex.WriteString(s.paint(pointed, fmt.Sprintf("*%02x", c.Byte)))
			text.WriteString(s.paint(pointed, string(printable(c.Byte))))
		default:
			fmt.Fprintf(&hex, " %02x", c.Byte)
			text.WriteByte(printable(c.Byte))
		}
	}
	s.line(2, s.paint(dim, fmt.Sprintf("%08x", l.Offset))+"  "+name+" "+hex.String()+"  |"+text.String()+"|")
}

func (s *screen) document(d *campaign.Document) {
	lines, note := firstOf(strings.Split(strings.TrimSuffix(d.Body, "\n"), "\n"), lineCap, "line")
	first := max(d.First, 1)
	digits := len(fmt.Sprint(len(lines) + first - 1))
	for i, raw := range lines {
		b := blockAt(d, i+1)
		gutter, style := "     ", plain
		if b != nil {
			gutter, style = fmt.Sprintf("%-5s", "|"), verdictStyle(b.Verdict)
			if i+1 == b.From {
				gutter = fmt.Sprintf("%-5s", strings.ToUpper(b.Verdict.String()))
			}
		}
		lead := s.paint(style, gutter) + s.paint(dim, fmt.Sprintf(" %*d  ", digits, i+first))
		for _, l := range wrapHard(strings.Join(visibleLines(raw), ""), s.width-2-8-digits) {
			s.line(2, lead+l)
			lead = strings.Repeat(" ", 8+digits)
		}
		if b != nil && i+1 == b.To && b.Note != "" {
			s.wrapped(8+digits+2, 2, style, "^ "+visible(b.Note))
		}
	}
	s.remark(note)
}

// blockAt returns the innermost block that contains a line; nil: none.
func blockAt(d *campaign.Document, line int) *campaign.Block {
	var at *campaign.Block
	for i := range d.Blocks {
		if b := &d.Blocks[i]; b.From <= line && line <= b.To && (at == nil || b.To-b.From < at.To-at.From) {
			at = b
		}
	}
	return at
}

func verdictStyle(v campaign.Verdict) string {
	switch v {
	case campaign.VerdictPass:
		return green
	case campaign.VerdictFail:
		return red
	case campaign.VerdictSkip:
		return dim
	}
	return yellow
}

// bars are eighths of a line's height.
var bars = []rune("▁▂▃▄▅▆▇█")

// series writes each line as a row of bars between its first and last x, with its lowest, highest
// and last value.
func (s *screen) series(v *campaign.Series) {
	lines, note := firstOf(v.Lines, seriesCap, "line")
	for _, l := range lines {
		ps := downsample(l.Points)
		s.line(2, visible(l.Name))
		if len(ps) == 0 {
			s.note(4, "no points")
			continue
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, p := range ps {
			lo, hi = min(lo, p[1]), max(hi, p[1])
		}
		s.line(4, s.paint(blue, barRow(ps, lo, hi, min(60, s.width-4))))
		s.line(4, s.paint(dim, fmt.Sprintf("%s %s to %s; %s from %s to %s, last %s", visible(v.XLabel), number(ps[0][0]), number(ps[len(ps)-1][0]),
			visible(v.YLabel), number(lo), number(hi), number(ps[len(ps)-1][1]))))
	}
	s.remark(note)
}

// barRow samples a line at width positions. Each shows the last point at or before it.
func barRow(ps [][2]float64, lo, hi float64, width int) string {
	out := make([]rune, width)
	k := 0
	from, span := ps[0][0], ps[len(ps)-1][0]-ps[0][0]
	for i := range out {
		x := from + span*float64(i)/float64(max(width-1, 1))
		for k+1 < len(ps) && ps[k+1][0] <= x+span*1e-9 {
			k++
		}
		level := 0
		if hi > lo {
			level = int(math.Round((ps[k][1] - lo) / (hi - lo) * float64(len(bars)-1)))
		}
		out[i] = bars[level]
	}
	return string(out)
}

func (s *screen) timeline(t *campaign.Timeline) {
	spans, note := firstOf(t.Spans, spanCap, "span")
	rows := make([][]string, len(spans))
	for i, p := range spans {
		when := number(p.Start)
		if p.End != p.Start {
			when += " – " + number(p.End)
		}
		rows[i] = []string{when, visible(p.Lane), visible(p.Kind), visible(p.Label), visible(p.Note)}
	}
	s.grid(2, []string{visible(t.Unit), "lane", "kind", "what", "note"}, rows, []bool{true})
	s.remark(note)
}

// graph writes each node with the edges that leave it.
func (s *screen) graph(g *campaign.Graph) {
	nodes, note := firstOf(g.Nodes, rowCap, "node")
	label := make(map[string]string, len(g.Nodes))
	for _, n := range g.Nodes {
		label[n.ID] = visible(n.Label)
	}
	for _, n := range nodes {
		s.wrapped(2, 2, bold, visible(n.Label)+"  "+hits(n.Hits))
		for _, e := range g.Edges {
			if e.From != n.ID {
				continue
			}
			to, ok := label[e.To]
			if !ok {
				to = visible(e.To)
			}
			text := "-> " + to
			if e.Label != "" {
				text = "-- " + visible(e.Label) + " " + text
			}
			s.wrapped(4, 3, plain, text+"  "+hits(e.Hits))
		}
	}
	s.remark(note)
}

func hits(n int64) string {
	if n == 0 {
		return "never"
	}
	return count(n) + "×"
}
