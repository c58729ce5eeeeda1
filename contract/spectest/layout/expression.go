package layout

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// width is the maximum length of a list on one line.
const width = 60

// expressed formats every expression of evaluate. An expression with a comment, an anchor, an alias
// or a tag stays as it is.
func expressed(s *source) string {
	var list []*doctree.Node
	cases := []doctree.Node{*s.root}
	if s.root.Kind == doctree.Seq {
		cases = s.root.Items()
	}
	for i := range cases {
		if tree := cases[i].Get("assert"); tree != nil {
			list = expressions(s, tree, list)
		}
	}
	lines := slices.Clone(s.lines)
	for _, n := range slices.Backward(list) {
		to, ok := s.end(n)
		if !ok || !s.isPlainExpression(n, to) {
			continue
		}
		from := n.Pos
		head, tail := lines[from.Line-1][:from.Col-1], lines[to.Line-1][to.Col-1:]
		out := layOut(n, 1, from.Col-1)
		out[0] = head + out[0]
		out[len(out)-1] += tail
		lines = slices.Replace(lines, from.Line-1, to.Line, out...)
	}
	return s.text(lines)
}

// expressions finds the items of evaluate lists in block form; nothing within brackets is
// formatted.
func expressions(s *source, n *doctree.Node, list []*doctree.Node) []*doctree.Node {
	if n.Flow() || s.byteAt(n.Pos) == '*' {
		return list
	}
	for i := range n.Items() {
		list = expressions(s, &n.Items()[i], list)
	}
	for i := range n.Members() {
		v := &n.Members()[i].Value
		if n.Members()[i].Key.Text != "evaluate" || v.Kind != doctree.Seq {
			list = expressions(s, v, list)
			continue
		}
		for j := range v.Items() {
			if item := &v.Items()[j]; !v.Flow() && item.Kind == doctree.Seq && len(item.Items()) > 0 {
				list = append(list, item)
			}
		}
	}
	return list
}

// isPlainExpression reports whether an expression contains only lists and scalars: formatting would
// lose anything else.
func (s *source) isPlainExpression(n *doctree.Node, to doctree.Pos) bool {
	if strings.IndexByte("&*!|>", s.byteAt(n.Pos)) >= 0 || n.Block() {
		return false
	}
	for l := n.Pos.Line; !n.Flow() && n.Kind == doctree.Seq && l <= to.Line; l++ {
		text := s.line(l)
		if strings.Contains(" "+text, " #") || strings.TrimSpace(text) == "" {
			return false
		}
	}
	switch n.Kind {
	case doctree.Seq:
		return !slices.ContainsFunc(n.Items(), func(item doctree.Node) bool { return !s.isPlainExpression(&item, to) })
	case doctree.Null, doctree.Bool, doctree.Int, doctree.Float, doctree.String:
		return true
	}
	return false
}

// layOut breaks an expression into lines; the first has no indentation. If a list nested in n lists
// does not fit, its elements are indented n columns more than those of the enclosing list: the
// format's own tool writes it this way.
func layOut(n *doctree.Node, level, column int) []string {
	flat := flow(n)
	if n.Kind != doctree.Seq || len(n.Items()) == 0 || utf8.RuneCountInString(flat) <= width {
		return []string{flat}
	}
	column += level
	var lines []string
	for i := range n.Items() {
		part := layOut(&n.Items()[i], level+1, column)
		if i == 0 {
			part[0] = "[" + part[0]
		} else {
			part[0] = strings.Repeat(" ", column) + part[0]
			lines[len(lines)-1] += ","
		}
		lines = append(lines, part...)
	}
	lines[len(lines)-1] += "]"
	return lines
}

// flow is an expression on one line.
func flow(n *doctree.Node) string {
	switch n.Kind {
	case doctree.Seq:
		parts := make([]string, len(n.Items()))
		for i := range n.Items() {
			parts[i] = flow(&n.Items()[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case doctree.String:
		return jsontree.Style{}.Format(&jsontree.Node{Kind: jsontree.String, Text: n.Text})
	}
	if n.Raw() == "" {
		return "null"
	}
	return n.Raw()
}
