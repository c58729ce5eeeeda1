package layout

import (
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// step is the indentation per level.
const step = 2

// mark is the column of a key or of a list item's dash, before and after formatting.
type mark struct {
	old, new int // columns from 1
	dash     bool
}

// indenter finds the marks of every line. It gives up where it is not sure: at anchors and tags
// before block collections, merge keys, explicit keys.
type indenter struct {
	s       *source
	marks   map[int][]mark // by line, from left to right
	covered map[int]bool   // lines within a text or bracket that began on an earlier line
	unsure  bool
}

// indented corrects the indentation of block collections: two columns per level, one blank after a
// dash.
func indented(s *source) string {
	in := &indenter{s: s, marks: make(map[int][]mark), covered: make(map[int]bool)}
	if s.root.Flow() || s.root.Kind != doctree.Map && s.root.Kind != doctree.Seq {
		return s.text(s.lines)
	}
	in.collection(s.root, in.column(s.root))
	if in.unsure {
		return s.text(s.lines)
	}
	lines := in.lines()
	for len(lines) > 1 && lines[0] == "" {
		lines = lines[1:]
	}
	for n := len(lines); n > 1 && lines[n-1] == "" && !in.covered[len(s.lines)]; n-- {
		lines = lines[:n-1]
	}
	return s.text(lines)
}

// column is the column of the keys or dashes of a block collection.
func (in *indenter) column(n *doctree.Node) int {
	if n.Kind == doctree.Map && len(n.Members()) > 0 {
		return n.Members()[0].Key.Pos.Col
	}
	return n.Pos.Col
}

// collection marks a block collection whose elements move to a column.
func (in *indenter) collection(n *doctree.Node, column int) {
	old := in.column(n)
	if n.Kind == doctree.Map {
		for i := range n.Members() {
			m := &n.Members()[i]
			in.mark(m.Key.Pos, mark{old: old, new: column})
			in.unsure = in.unsure || m.Merged() || strings.IndexByte("&*!?", in.s.byteAt(m.Key.Pos)) >= 0
			in.value(&m.Value, column)
		}
		return
	}
	for i := range n.Items() {
		item := &n.Items()[i]
		at := doctree.Pos{Line: item.Pos.Line, Col: old}
		for at.Line >= n.Pos.Line && in.s.byteAt(at) != '-' {
			at.Line--
		}
		if at.Line < n.Pos.Line {
			in.unsure = true
			return
		}
		in.mark(at, mark{old: old, new: column, dash: true})
		in.value(item, column)
	}
}

func (in *indenter) mark(at doctree.Pos, m mark) {
	list := in.marks[at.Line]
	in.unsure = in.unsure || at.Col != m.old || len(list) > 0 && list[len(list)-1].old >= m.old
	in.marks[at.Line] = append(list, m)
}

func (in *indenter) value(n *doctree.Node, column int) {
	c := in.s.byteAt(n.Pos)
	switch {
	case c == '*':
	case c == '&' && n.Kind == doctree.Map && !n.Flow() && len(n.Members()) > 0 && n.Members()[0].Key.Pos.Line > n.Pos.Line:
		in.collection(n, column+step)
	case c == '&' || c == '!':
		plain := n.Kind < doctree.Seq && !n.Block() || n.Flow()
		in.unsure = in.unsure || !plain || !in.oneLine(n)
	case (n.Kind == doctree.Map || n.Kind == doctree.Seq) && !n.Flow():
		in.collection(n, column+step)
	case n.Block():
		first := n.Pos.Line + 1
		for l := first; l <= len(in.s.lines); l++ {
			if text := in.s.line(l); strings.TrimSpace(text) != "" && indentation(text) < in.parent(n.Pos) {
				break
			}
			in.covered[l] = true
		}
	case n.Quoted() || n.Flow():
		end, ok := in.s.scan(n.Pos, true)
		if !ok && in.s.byteAt(n.Pos) != 0 && !in.oneLine(n) {
			in.unsure = true
		}
		for l := n.Pos.Line + 1; ok && l <= end.Line; l++ {
			in.covered[l] = true
		}
	}
}

// oneLine reports whether a value whose end is unknown ends on its line, because the next line has
// a mark or the text ends there. Marks are set in the order of the text, so this can only check
// that brackets are balanced.
func (in *indenter) oneLine(n *doctree.Node) bool {
	text := in.s.line(n.Pos.Line)[n.Pos.Col-1:]
	return strings.Count(text, "[") == strings.Count(text, "]") && strings.Count(text, "{") == strings.Count(text, "}")
}

// parent is the column of the innermost element at or above a line: the content of a block scalar
// is indented more.
func (in *indenter) parent(at doctree.Pos) int {
	for l := at.Line; l > 0; l-- {
		if list := in.marks[l]; len(list) > 0 {
			return list[len(list)-1].old
		}
	}
	return 0
}

// lines returns the lines at their new indentation.
func (in *indenter) lines() []string {
	out := make([]string, len(in.s.lines))
	before := mark{}
	for i, text := range in.s.lines {
		n := i + 1
		list := in.marks[n]
		switch {
		case len(list) > 0:
			out[i] = in.element(n, list)
			before = list[len(list)-1]
		case strings.TrimSpace(text) == "":
			if in.covered[n] && text != "" {
				out[i] = shifted(text, before.new-before.old)
			}
		case !in.covered[n] && strings.HasPrefix(strings.TrimSpace(text), "#"):
			by := in.neighbour(n, indentation(text)+1, before)
			out[i] = strings.TrimRight(shifted(text, by.new-by.old), " \t")
		default:
			out[i] = shifted(text, before.new-before.old)
		}
	}
	return out
}

// neighbour is the mark whose shift a comment follows: the next one below, or else the last one
// above in the comment's column.
func (in *indenter) neighbour(n, column int, before mark) mark {
	next, ok := in.next(n)
	if ok && (next.old == column || before.old == 0) {
		return next
	}
	for l := n - 1; l > 0; l-- {
		for _, m := range in.marks[l] {
			if m.old == column {
				return m
			}
		}
	}
	return before
}

// next is the first mark below a line.
func (in *indenter) next(n int) (mark, bool) {
	for n++; n <= len(in.s.lines); n++ {
		if list := in.marks[n]; len(list) > 0 {
			return list[0], true
		}
	}
	return mark{}, false
}

// element is a line that begins with a key or a dash.
func (in *indenter) element(n int, list []mark) string {
	text := in.s.line(n)
	if strings.TrimLeft(text[:list[0].old-1], " ") != "" {
		return text // if the text before it matters, comparing the trees shows that
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", max(list[0].new-1, 0)))
	for i, m := range list[:len(list)-1] {
		b.WriteString(strings.TrimSpace(text[m.old-1 : list[i+1].old-1]))
		b.WriteByte(' ')
	}
	last := list[len(list)-1]
	rest := text[last.old-1:]
	if more := in.covered[n+1]; last.dash && len(rest) > 1 && !more {
		rest = "- " + strings.TrimLeft(rest[1:], " ")
	}
	b.WriteString(rest)
	return strings.TrimRight(b.String(), " \t")
}

func indentation(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// shifted moves a line to the right, or to the left as far as it has blanks.
func shifted(text string, by int) string {
	if by >= 0 {
		return strings.Repeat(" ", by) + text
	}
	return text[min(-by, indentation(text)):]
}
