package doctree

import (
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// direct reads the most common forms without the parser's tokens and nodes: mappings and
// lists in blocks and in brackets, scalars on one line, comments. It never refuses a
// text: if it is unsure of anything, it gives up, and the parser reads the text from the
// beginning.
type direct struct {
	b    *builder
	text string

	pos   int // of the next character to read
	line  int // its line, from 0
	start int // offset of that line
	eof   bool

	// Members and items of incomplete mappings and lists.
	members jsontree.Stack[Member]
	items   jsontree.Stack[Node]

	err error // why the text is refused
}

// longestKey bounds a key on the line of its value, in bytes. The parser's bound is a
// little higher, in characters.
const longestKey = 1000

// direct returns the root of the text, if direct can read it.
func (b *builder) direct() (root Node, ok bool, err error) {
	l := b.lines
	if l.feeds != nil || strings.Contains(l.text, "\t") || strings.Contains(l.text, "\r") || strings.Contains(l.text, "\ufeff") {
		return root, false, nil
	}
	d := direct{b: b, text: l.text, members: b.r.members, items: b.r.items}
	if strings.HasPrefix(d.text, "---\n") {
		d.pos = len("---")
		d.feed()
	}
	if d.marked() {
		return root, false, nil
	}
	d.toContent()
	switch {
	case d.eof:
	case d.text[d.pos] == '[' || d.text[d.pos] == '{':
		root, ok = d.flow(0)
		ok = ok && d.lineOver()
	default:
		root, ok = d.block(0)
	}
	if d.err != nil {
		return Node{}, false, d.err
	}
	if !ok || !d.eof {
		b.nodes, b.duplicates = 0, nil
		return Node{}, false, nil
	}
	b.r.members, b.r.items = d.members, d.items // reuse their memory
	return root, true, nil
}

// marked reports whether a line that is still to be read begins with the mark of a
// document or of a directive.
func (d *direct) marked() bool {
	for at := d.pos; at < len(d.text); {
		switch l := d.text[at:]; l[0] {
		case '%':
			return true
		case '-', '.':
			if strings.HasPrefix(l, "---") || strings.HasPrefix(l, "...") {
				return true
			}
		}
		i := strings.IndexByte(d.text[at:], '\n')
		if i < 0 {
			return false
		}
		at += i + 1
	}
	return false
}

// col returns the column of the next character, from 0.
func (d *direct) col() int { return d.pos - d.start }

// place begins a node at the next character.
func (d *direct) place(k Kind, depth int) (n Node, ok bool) {
	n.Kind, n.Pos = k, Pos{Line: d.line + 1 + d.b.o.LineOffset, Col: d.col() + 1}
	d.err = d.b.count(1, n.Pos)
	return n, d.err == nil && depth <= d.b.o.MaxDepth
}

// toContent moves from the beginning of a line to the first character outside blanks and
// comments.
func (d *direct) toContent() {
	for d.pos < len(d.text) {
		switch d.text[d.pos] {
		case ' ':
			d.pos++
		case '\n':
			d.feed()
		case '#':
			d.pos = d.lineEnd()
		default:
			return
		}
	}
	d.eof = true
}

func (d *direct) feed() {
	d.pos++
	d.line++
	d.start = d.pos
}

// lineEnd returns the offset of the end of the line.
func (d *direct) lineEnd() int {
	if i := strings.IndexByte(d.text[d.pos:], '\n'); i >= 0 {
		return d.pos + i
	}
	return len(d.text)
}

func (d *direct) blankAt(at int) bool {
	return at >= len(d.text) || d.text[at] == ' ' || d.text[at] == '\n'
}

func (d *direct) spaces() {
	for d.pos < len(d.text) && d.text[d.pos] == ' ' {
		d.pos++
	}
}

// lineOver reports whether the rest of the line is only blanks and a comment, and if so
// moves to the next content.
func (d *direct) lineOver() bool {
	at := d.pos
	d.spaces()
	switch {
	case d.pos == len(d.text):
	case d.text[d.pos] == '\n':
	case d.text[d.pos] == '#' && d.pos > at:
	default:
		return false
	}
	d.toContent()
	return true
}

func (d *direct) dash() bool { return d.text[d.pos] == '-' && d.blankAt(d.pos+1) }

// block reads a list or mapping whose lines begin at the current column.
func (d *direct) block(depth int) (n Node, ok bool) {
	switch {
	case d.dash():
		return d.list(depth)
	case d.keyEnd() > 0:
		return d.mapping(depth)
	}
	return n, false
}

func (d *direct) list(depth int) (Node, bool) {
	col, base := d.col(), d.items.Len()
	n, ok := d.place(Seq, depth)
	for ok && !d.eof && d.col() == col && d.dash() {
		d.pos++
		var item Node
		switch {
		case d.lineOver():
			if ok = !d.eof && d.col() > col; ok {
				item, ok = d.block(depth + 1)
			}
		case d.dash():
			ok = false
		case d.keyEnd() > 0:
			item, ok = d.mapping(depth + 1)
		default:
			item, ok = d.inline(col, depth+1)
		}
		d.items.Push(item, d.pos, len(d.text))
	}
	n = n.WithItems(d.items.Take(base))
	return n, ok && (d.eof || d.col() <= col)
}

func (d *direct) mapping(depth int) (Node, bool) {
	col, base := d.col(), d.members.Len()
	n, ok := d.place(Map, depth)
	for ok && !d.eof && d.col() == col {
		var m Member
		if m, ok = d.member(col, depth); ok {
			d.members.Push(m, d.pos, len(d.text))
		}
	}
	own := d.members.Take(base)
	return n, ok && d.b.members(&n, nil, own) == nil && (d.eof || d.col() < col)
}

// member reads a key of a mapping at a column, and its value.
func (d *direct) member(col, depth int) (m Member, ok bool) {
	end := d.keyEnd()
	if d.dash() || end <= 0 {
		return m, false
	}
	if m.Key, ok = d.scalar(end, depth+1); !ok {
		return m, false
	}
	d.pos = end + 1 // after the colon
	switch {
	case !d.lineOver():
		if ok = !d.dash(); ok {
			m.Value, ok = d.inline(col, depth+1)
		}
	case d.eof, d.col() < col:
		return m, false // a missing value
	case d.col() > col:
		m.Value, ok = d.block(depth + 1)
	case d.dash(): // a list at the same column as the key
		m.Value, ok = d.list(depth + 1)
	default:
		return m, false
	}
	return m, ok
}

// inline reads a value that begins on the line of its key or dash and that no deeper
// line continues.
func (d *direct) inline(col, depth int) (n Node, ok bool) {
	switch d.text[d.pos] {
	case '[', '{':
		n, ok = d.flow(depth)
	case '"', '\'':
		n, ok = d.scalar(d.quoteEnd(), depth)
	default:
		end := d.lineEnd()
		if i := strings.Index(d.text[d.pos:end], " #"); i >= 0 {
			end = d.pos + i
		}
		for end > d.pos && d.text[end-1] == ' ' {
			end--
		}
		if word := d.text[d.pos:end]; !strings.Contains(word, ": ") && !strings.HasSuffix(word, ":") {
			n, ok = d.scalar(end, depth)
		}
	}
	return n, ok && d.lineOver() && (d.eof || d.col() <= col)
}

// keyEnd returns the offset of the colon after a key; 0 if there is no key.
func (d *direct) keyEnd() int {
	if c := d.text[d.pos]; c == '"' || c == '\'' {
		end := d.quoteEnd()
		if end > 0 && end < len(d.text) && d.text[end] == ':' && d.blankAt(end+1) && end-d.pos <= longestKey {
			return end
		}
		return 0
	} else if c == '[' || c == '{' {
		return 0
	}
	end := min(d.lineEnd(), d.pos+longestKey)
	for i := d.pos; i < end; i++ {
		switch d.text[i] {
		case ':':
			if d.blankAt(i + 1) {
				return i
			}
		case '#':
			if i > d.pos && d.text[i-1] == ' ' {
				return 0
			}
		}
	}
	return 0
}

// quoteEnd returns the offset after a quoted scalar; 0 if it does not end on its line.
func (d *direct) quoteEnd() int {
	q := d.text[d.pos]
	for i := d.pos + 1; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '\n':
			return 0
		case c == '\\' && q == '"':
			i++
		case c == q && q == '\'' && i+1 < len(d.text) && d.text[i+1] == q:
			i++
		case c == q:
			return i + 1
		}
	}
	return 0
}

// scalar reads the scalar that ends at an offset, and moves there.
func (d *direct) scalar(end, depth int) (n Node, ok bool) {
	if end <= d.pos {
		return n, false
	}
	if n, ok = d.place(String, depth); !ok {
		return n, false
	}
	word := d.text[d.pos:end]
	d.pos = end
	switch word[0] {
	case '\'':
		n.Style = Quoted
		meant := strings.ReplaceAll(word[1:len(word)-1], "''", "'")
		return n.As(meant, meant), true
	case '"':
		n.Style = Quoted
		meant, ok := unescaped(word[1 : len(word)-1])
		return n.As(meant, meant), ok
	case '-':
		if len(word) == 1 {
			return n, false
		}
	case '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '%', '@', '`':
		return n, false
	}
	if word[len(word)-1] == ' ' {
		return n, false // between a key and its colon
	}
	return n, d.b.value(&n, word, resolve(word)) == nil
}

// unescaped decodes the escapes that are common in double quotes.
func unescaped(s string) (string, bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		switch s[i] {
		case '\\', '"', '/':
			out = append(out, s[i])
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		default:
			return "", false
		}
	}
	return string(out), true
}
