package spectest

import (
	"bytes"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// part is one case of a list, as a text that can be parsed alone.
type part struct{ start, end, block int32 }

// split divides lists of cases into their items, so that a long list need not be kept in memory to
// run its cases one by one. That preserves the meaning as long as every part can be parsed: only
// aliases, quotes and brackets extend past the beginning of an item, and a part with only one end
// of such a construct cannot be parsed. A block with such a part is put together again, see join.
// Lists with anchors stay whole, because an anchor may be in one of them.
func (d *document) split() {
	switch d.format {
	case "yaml":
		d.parts = d.items(0, len(d.text), 0)
		return
	case "json":
		d.parts = d.elements()
		return
	}
	var parts []part
	several := false
	for i, b := range d.found.all() {
		var list []part
		if b.closed {
			list = d.items(b.start, b.end, i)
		}
		if len(list) == 0 {
			list = []part{{int32(b.start), int32(b.end), int32(i)}}
		}
		several = several || len(list) > 1
		if parts = append(parts, list...); i%portionUnits == 0 {
			d.release()
		}
	}
	if several {
		d.parts = parts
	}
}

// items returns the parts of a list of mappings whose first keys follow their dashes on the same
// line, all dashes in one column; nil for any other text.
func (d *document) items(start, end, block int) []part {
	if mayAnchor(d.text[start:end]) {
		return nil
	}
	var list []part
	in := -1 // column of the dashes
	released := start
	for at := start; at < end; at = lineEnd(d.text, at) {
		if at-released > pieceSize {
			d.release()
			released = at
		}
		l := line(d.text, at)
		text := bytes.TrimLeft(l, " ")
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		switch depth := len(l) - len(text); {
		case in < 0 && !isItem(text), depth < in, depth == in && !isItem(text):
			return nil
		case in < 0:
			in = depth
			list = append(list, part{start: int32(start), block: int32(block)})
		case depth == in:
			list[len(list)-1].end = int32(at)
			list = append(list, part{start: int32(at), block: int32(block)})
		}
	}
	if len(list) < 2 {
		return nil
	}
	list[len(list)-1].end = int32(end)
	return list
}

// elements returns the parts of a JSON file that holds a list of objects; nil for any other
// content.
func (d *document) elements() []part {
	var list []part
	depth, quoted, escaped := 0, false, false
	last := byte(0) // the last character outside elements that is not blank
	for from, piece := range pieces(d.text, d.release) {
		for i := range piece {
			at, c := from+i, piece[i]
			switch {
			case escaped:
				escaped = false
			case quoted:
				escaped, quoted = c == '\\', c != '"'
			case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			case depth == 0 && last == 0 && c == '[', depth == 1 && c == ',' && last == '}':
				depth, last = 1, c
			case depth == 1 && c == '{' && (last == '[' || last == ','):
				list = append(list, part{start: int32(at)})
				depth = 2
			case depth == 1 && c == ']' && last == '}':
				depth, last = 0, c
				list[len(list)-1].end = int32(at)
			case depth < 2:
				return nil
			case c == '"':
				quoted = true
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				if depth--; depth == 1 {
					last = '}'
				}
			}
		}
	}
	if last != ']' || len(list) < 2 {
		return nil
	}
	for i := range list[1:] {
		list[i].end = list[i+1].start
	}
	return list
}

// mayAnchor reports whether a text contains what could be an anchor.
func mayAnchor(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '&')
		if i < 0 || i+1 == len(text) {
			return false
		}
		if c := text[i+1]; c != '&' && c != ' ' && c != '\n' && (i == 0 || text[i-1] != '&') {
			return true
		}
		text = text[i+1:]
	}
}

// isItem reports whether a line without its indentation is a dash and the beginning of an item.
func isItem(text []byte) bool {
	return len(text) > 2 && text[0] == '-' && text[1] == ' ' && text[2] != ' ' && text[2] != '#' && text[2] != '\t'
}

// units is the number of texts of cases: blocks of a Markdown document, items of their lists, or a
// data file.
func (d *document) units() int {
	switch {
	case d.parts != nil:
		return len(d.parts)
	case d.format != "md":
		return 1
	}
	return len(d.found)
}

// isPart reports whether a unit is one of several parts of a block.
func (d *document) isPart(i int) bool {
	return i > 0 && i <= len(d.parts)-1 && d.parts[i-1].block == d.parts[i].block ||
		i+1 < len(d.parts) && d.parts[i+1].block == d.parts[i].block
}

// join puts the parts of some blocks together again.
func (d *document) join(blocks map[int32]bool) {
	var parts []part
	for _, p := range d.parts {
		if n := len(parts); n > 0 && parts[n-1].block == p.block && blocks[p.block] {
			parts[n-1].end = p.end
			continue
		}
		parts = append(parts, p)
	}
	d.parts = parts
	for i := range parts {
		if d.isPart(i) {
			return
		}
	}
	d.parts = nil
}

// markDependent records that a block has a part that cannot be parsed alone.
func (c *Campaign) markDependent(block int32) {
	if c.torn == nil {
		c.torn = make(map[int32]bool)
	}
	c.torn[block] = true
}

// blockOf is the block that contains a unit.
func (d *document) blockOf(unit int32) int32 {
	if d.parts != nil {
		return d.parts[unit].block
	}
	return unit
}

// size is the length of a unit's text.
func (d *document) size(i int) int {
	switch {
	case i >= d.units():
		return 0
	case d.parts != nil:
		return int(d.parts[i].end - d.parts[i].start)
	case d.format != "md":
		return len(d.text)
	}
	return int(d.found[i].end - d.found[i].open)
}

// unit returns the entries of a unit.
func (d *document) unit(i int) []entry {
	if d.parts == nil {
		return d.block(i)
	}
	p := d.parts[i]
	if !d.isPart(i) {
		return d.block(int(p.block))
	}
	from := d.lineOf(int(p.start))
	to := max(d.lineOf(int(p.end))-1, from)
	if i == len(d.parts)-1 || d.parts[i+1].block != p.block {
		_, to = d.linesOf(int(p.block))
	}
	return d.read(int(p.start), int(p.end), from, to)
}

// block returns the entries of a block of a Markdown document, or of a data file.
func (d *document) block(i int) []entry {
	from, to := d.linesOf(i)
	if d.format != "md" {
		return d.read(0, len(d.text), from, to)
	}
	b := d.found.blockAt(i)
	if !b.closed {
		p := d.problem(doctree.Pos{Line: from, Col: 1}, "unclosed-block", "", "the block is never closed", "close it with a fence of the same characters, at least as long")
		return []entry{{from: from, to: to, fault: &p}}
	}
	return d.read(b.start, b.end, from, to)
}

// linesOf returns the first and the last line of a block, or of a data file.
func (d *document) linesOf(i int) (from, to int) {
	if d.format != "md" {
		return 1, max(d.lines.count, 1)
	}
	b := d.found.blockAt(i)
	from = d.lineOf(b.open)
	to = from
	if b.end > b.start {
		to = d.lineOf(b.end - 1)
	}
	if b.closed {
		to++
	}
	return from, to
}
