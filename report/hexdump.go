package report

import (
	"slices"

	"github.com/thresh-dev/thresh/campaign"
)

// A dump is byte strings laid over each other by offset, sixteen bytes a line:
// one line where all have the same bytes, one each where they differ, and long
// stretches of the same bytes folded. The terminal and the page draw it.

type dump struct {
	Labels []string // of the rows, in order
	Blocks []dumpBlock
	Cut    int64 // bytes of the longest row that are not shown
}

// dumpBlock is lines that are shown, or lines that are folded away.
type dumpBlock struct {
	Folded   bool
	From, To int64 // offsets, To excluded
	Lines    []dumpLine
}

type dumpLine struct {
	Offset int64
	Row    int // index into Labels, or -1: all rows are the same here
	Cells  [16]dumpCell
}

type dumpCell struct {
	There   bool
	Byte    byte
	Changed bool
}

const (
	dumpBytes = 4 << 10 // of each row are shown
	foldFrom  = 5       // equal lines in a row are folded
)

func dumpOf(b *campaign.Bytes) dump {
	rows := marked(b.Rows)
	var d dump
	var offsets []int64 // of the lines that any row reaches
	for i := range rows {
		r := &rows[i]
		r.Start = max(r.Start, 0)
		d.Labels = append(d.Labels, r.Label)
		shown := int64(min(len(r.Data), dumpBytes))
		d.Cut = max(d.Cut, int64(len(r.Data))-shown, r.Size-r.Start-shown)
		for at := r.Start &^ 15; shown > 0 && at < r.Start+shown; at += 16 {
			offsets = append(offsets, at)
		}
	}
	slices.Sort(offsets)
	var equal []dumpLine
	flush := func() {
		d.fold(equal)
		equal = nil
	}
	for _, at := range slices.Compact(offsets) {
		lines := dumpLines(rows, at)
		if len(lines) == 1 && lines[0].Row < 0 && !lines[0].changed() {
			if n := len(equal); n > 0 && equal[n-1].Offset+16 != at {
				flush()
			}
			equal = append(equal, lines[0])
			continue
		}
		flush()
		d.show(lines)
	}
	flush()
	return d
}

// show appends lines to the block that is being shown.
func (d *dump) show(lines []dumpLine) {
	if n := len(d.Blocks); n == 0 || d.Blocks[n-1].Folded {
		d.Blocks = append(d.Blocks, dumpBlock{From: lines[0].Offset})
	}
	b := &d.Blocks[len(d.Blocks)-1]
	b.Lines = append(b.Lines, lines...)
	b.To = lines[len(lines)-1].Offset + 16
}

// fold appends equal lines: all of them if they are few, else one at each end
// for a bearing and the rest folded.
func (d *dump) fold(lines []dumpLine) {
	n := len(lines)
	if n == 0 {
		return
	}
	if n < foldFrom {
		d.show(lines)
		return
	}
	d.show(lines[:1])
	d.Blocks = append(d.Blocks, dumpBlock{
		Folded: true, From: lines[1].Offset, To: lines[n-1].Offset, Lines: lines[1 : n-1],
	})
	d.show(lines[n-1:])
}

func dumpLines(rows []campaign.BytesRow, at int64) []dumpLine {
	var lines []dumpLine
	same := true
	for i, r := range rows {
		l, reached := dumpLineOf(r, i, at)
		if reached {
			lines = append(lines, l)
		}
		same = same && reached && l.Cells == lines[0].Cells
	}
	if same && len(rows) > 1 {
		lines[0].Row = -1
		return lines[:1]
	}
	return lines
}

func dumpLineOf(r campaign.BytesRow, row int, at int64) (l dumpLine, reached bool) {
	l.Offset, l.Row = at, row
	for i := range l.Cells {
		k := at + int64(i) - r.Start
		if k < 0 || k >= int64(min(len(r.Data), dumpBytes)) {
			continue
		}
		reached = true
		l.Cells[i] = dumpCell{There: true, Byte: r.Data[k]}
	}
	for _, m := range r.Marks {
		from, to := r.Start+int64(m.From), r.Start+int64(m.To)
		for k := max(from, at); k < min(to, at+16); k++ {
			l.Cells[k-at].Changed = l.Cells[k-at].There
		}
	}
	return l, reached
}

func (l dumpLine) changed() bool {
	for _, c := range l.Cells {
		if c.Changed {
			return true
		}
	}
	return false
}

// marked is the rows with marks on what differs from the first, found by
// offset where the contract marked nothing in any of them.
func marked(rows []campaign.BytesRow) []campaign.BytesRow {
	out := slices.Clone(rows)
	for _, r := range rows {
		if len(r.Marks) > 0 {
			return out
		}
	}
	for i := 1; i < len(out); i++ {
		out[i].Marks = differing(out[0], out[i])
	}
	return out
}

func differing(base, r campaign.BytesRow) []campaign.Mark {
	var marks []campaign.Mark
	for k, b := range r.Data {
		at := r.Start + int64(k) - base.Start
		if at >= 0 && at < int64(len(base.Data)) && base.Data[at] == b {
			continue
		}
		if n := len(marks); n > 0 && marks[n-1].To == k {
			marks[n-1].To++
		} else {
			marks = append(marks, campaign.Mark{From: k, To: k + 1, Kind: "changed"})
		}
	}
	return marks
}

// printable is a byte as the text column of a dump shows it.
func printable(b byte) byte {
	if b < ' ' || b > '~' {
		return '.'
	}
	return b
}
