package report

import (
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
)

// A dump shows byte strings aligned with the first one, sixteen columns a line: one line where all
// have the same bytes, one line each where they differ, and long equal stretches folded. The
// terminal and the page draw it.

type dump struct {
	Labels []string // of the rows, in order
	Blocks []dumpBlock
	Cut    int64 // bytes of the longest row that are not shown
	Same   bool  // some line stands for all rows
}

// dumpBlock is either visible lines or folded ones.
type dumpBlock struct {
	Folded   bool
	From, To int64 // offsets, To excluded
	Lines    []dumpLine
}

type dumpLine struct {
	Offset int64
	Row    int // index into Labels, or -1: all rows are equal here
	Cells  [16]dumpCell
}

type dumpCell struct {
	There   bool
	Byte    byte
	Changed bool
}

const (
	dumpBytes = 4 << 10 // bytes shown of each row
	foldFrom  = 5       // at least this many equal lines are folded
)

func dumpOf(b *campaign.Bytes) dump {
	var d dump
	laid := layBytes(b.Rows)
	var lines []int64 // offsets of lines that some row reaches
	for i, r := range b.Rows {
		d.Labels = append(d.Labels, r.Label)
		shown := int64(len(laid[i]))
		d.Cut = max(d.Cut, int64(len(r.Data))-shown, r.Size-max(r.Start, 0)-shown)
		for _, c := range laid[i] {
			lines = append(lines, c.at&^15)
		}
	}
	slices.Sort(lines)
	var equal []dumpLine
	flush := func() {
		d.fold(equal)
		equal = nil
	}
	last := int64(-16)
	for _, at := range slices.Compact(lines) {
		if at != last+16 {
			flush()
		}
		last = at
		some := dumpLines(laid, at)
		if len(some) == 1 && some[0].Row < 0 {
			equal, d.Same = append(equal, some[0]), true
			continue
		}
		flush()
		d.show(some)
	}
	flush()
	return d
}

// show appends visible lines.
func (d *dump) show(lines []dumpLine) {
	if n := len(d.Blocks); n == 0 || d.Blocks[n-1].Folded {
		d.Blocks = append(d.Blocks, dumpBlock{From: lines[0].Offset})
	}
	b := &d.Blocks[len(d.Blocks)-1]
	b.Lines = append(b.Lines, lines...)
	b.To = lines[len(lines)-1].Offset + 16
}

// fold appends equal lines: all if they are few, else one at each end for orientation and the rest
// folded.
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

// laidByte is a byte of a row with its column.
type laidByte struct {
	at, offset int64
	value      byte
	changed    bool
}

// dumpLines returns the line at a column for each row that reaches it, or a single line if all rows
// are equal there.
func dumpLines(laid [][]laidByte, at int64) []dumpLine {
	var lines []dumpLine
	same := len(laid) > 1
	for i, row := range laid {
		from, _ := slices.BinarySearchFunc(row, at, func(c laidByte, at int64) int { return cmp.Compare(c.at, at) })
		l := dumpLine{Row: i}
		for _, c := range row[from:] {
			if c.at >= at+16 {
				break
			}
			if l.Cells == ([16]dumpCell{}) {
				l.Offset = max(c.offset-(c.at-at), 0)
			}
			l.Cells[c.at-at] = dumpCell{There: true, Byte: c.value, Changed: c.changed}
			same = same && !c.changed
		}
		if l.Cells != ([16]dumpCell{}) {
			lines = append(lines, l)
		}
		same = same && len(lines) == i+1 && l.Cells == lines[0].Cells
	}
	if same {
		lines[0].Row = -1
		return lines[:1]
	}
	return lines
}

// layBytes gives every visible byte a column. Bytes that correspond to the same byte of the first
// row share its column; inserted bytes get columns of their own. Rows that start elsewhere than the
// first one are laid by offset.
func layBytes(rows []campaign.BytesRow) [][]laidByte {
	out, places := make([][]laidByte, len(rows)), make([][]column, len(rows))
	if len(rows) == 0 {
		return nil
	}
	base := rows[0].Data[:min(len(rows[0].Data), dumpBytes)]
	room := make([]int64, len(base)+1) // columns for bytes inserted before each byte of the base
	for i, r := range rows {
		data := r.Data[:min(len(r.Data), dumpBytes)]
		for k, v := range data {
			at := max(r.Start, 0) + int64(k)
			out[i] = append(out[i], laidByte{at: at, offset: at, value: v})
		}
		if i > 0 && r.Start == rows[0].Start {
			places[i] = align(base, data)
			for _, p := range places[i] {
				room[p.at] = max(room[p.at], p.nth)
			}
			continue
		}
		for _, m := range r.Marks {
			for k := max(m.From, 0); k < min(m.To, len(data)); k++ {
				out[i][k].changed = true
			}
		}
	}
	next := max(rows[0].Start, 0)
	columns := make([]int64, len(room))
	for p, n := range room {
		next += n
		columns[p] = next
		next++
	}
	for k := range out[0] {
		out[0][k].at = columns[k]
	}
	for i := range rows {
		for k, p := range places[i] {
			c := &out[i][k]
			if c.at, c.changed = columns[p.at], p.nth > 0 || base[p.at] != c.value; p.nth > 0 {
				c.at += p.nth - 1 - room[p.at]
			}
		}
	}
	return out
}

// column is where a byte goes: below byte at of the base or, if nth is not 0, as the nth byte
// inserted before it.
type column struct {
	at  int
	nth int64
}

// alignArea is how many pairs of bytes are compared at most to align two rows; larger rows are laid
// by offset.
const alignArea = 1 << 20

// align places the bytes of a row with the fewest insertions, deletions and replacements.
func align(base, row []byte) []column {
	front, n, m := 0, len(base), len(row)
	for front < min(n, m) && base[front] == row[front] {
		front++
	}
	for n > front && m > front && base[n-1] == row[m-1] {
		n, m = n-1, m-1
	}
	out := make([]column, len(row))
	for k := range row {
		out[k].at = min(k, len(base)) // the common prefix, and everything if there is too much to compare
		if k >= m {
			out[k].at = k - m + n
		}
	}
	rows, width := n-front+1, m-front+1
	cost := make([]uint16, min(rows*width, alignArea))
	if rows*width > alignArea {
		rows, width = 0, 0
	}
	for i := range rows {
		for j := range width {
			c := &cost[i*width+j]
			switch {
			case i == 0 || j == 0:
				*c = uint16(i + j)
			case base[front+i-1] == row[front+j-1]:
				*c = cost[(i-1)*width+j-1]
			default:
				*c = 1 + min(cost[(i-1)*width+j-1], cost[(i-1)*width+j], cost[i*width+j-1])
			}
		}
	}
	for i, j := rows-1, width-1; j > 0; {
		here := cost[i*width+j]
		switch {
		case i > 0 && base[front+i-1] == row[front+j-1] && here == cost[(i-1)*width+j-1]:
			i, j = i-1, j-1
			out[front+j].at = front + i
		case i > 0 && here == cost[(i-1)*width+j]+1: // deletions before replacements, so that a cut-off end stays at the end
			i--
		case i > 0 && here == cost[(i-1)*width+j-1]+1:
			i, j = i-1, j-1
			out[front+j].at = front + i
		default:
			j--
			out[front+j] = column{front + i, 1}
		}
	}
	for k := range out {
		if p := &out[k]; p.at >= len(base) {
			p.at, p.nth = len(base), 1
		}
		if p := &out[k]; k > 0 && p.nth > 0 && out[k-1].nth > 0 && out[k-1].at == p.at {
			p.nth = out[k-1].nth + 1
		}
	}
	return out
}

// printable returns a byte as the text column of a dump shows it.
func printable(b byte) byte {
	if b < ' ' || b > '~' {
		return '.'
	}
	return b
}
