package layout

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// Block returns the body of a block in its authoring form. Formatting the result again does not
// change it. A body that cannot be parsed, or that cannot be formatted without changing its
// meaning, is returned unchanged.
func Block(body string) string {
	if n := strings.Count(body, "\r\n"); n > 0 && n == strings.Count(body, "\n") && n == strings.Count(body, "\r") {
		return strings.ReplaceAll(Block(strings.ReplaceAll(body, "\r\n", "\n")), "\n", "\r\n")
	}
	before, ok := read(body)
	if !ok || strings.ContainsAny(body, "\r\u0085\u2028\u2029") { // mixed line ends
		return body
	}
	text := body
	for _, pass := range []func(*source) string{indented, expressed} {
		s, ok := read(text)
		if !ok {
			return body
		}
		changed := pass(s)
		if changed == text {
			continue
		}
		// A pass that changes the meaning has met something that it does not understand: drop its result.
		if after, ok := read(changed); ok && after.equivalent(before) {
			text = changed
		}
	}
	return text
}

// source is a text with its tree and its lines.
type source struct {
	root  *doctree.Node
	lines []string // without line ends
	final bool     // the last line has a line end
}

func read(text string) (*source, bool) {
	doc, err := doctree.Parse([]byte(text), doctree.Options{MaxNodes: 10_000 + len(text)})
	if err != nil || len(doc.Duplicates) > 0 {
		return nil, false
	}
	s := &source{root: &doc.Root, final: strings.HasSuffix(text, "\n")}
	s.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return s, true
}

// text joins lines to a source text.
func (s *source) text(lines []string) string {
	text := strings.Join(lines, "\n")
	if s.final && len(lines) > 0 {
		text += "\n"
	}
	return text
}

// equivalent reports whether two texts mean the same and have the same comments.
func (s *source) equivalent(o *source) bool {
	a, b := s.root.JSON(), o.root.JSON()
	return a.Equal(&b) && slices.Equal(s.comments(), o.comments())
}

// comments are the texts after every " #": comments, or what looks like one.
func (s *source) comments() []string {
	var list []string
	for _, l := range s.lines {
		if i := strings.Index(" "+l, " #"); i >= 0 {
			list = append(list, strings.TrimSpace(l[i:]))
		}
	}
	return list
}

// line returns a line by its number from 1; "" beyond the last.
func (s *source) line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

// byteAt is the byte at a place; 0 at the end of a line.
func (s *source) byteAt(p doctree.Pos) byte {
	l := s.line(p.Line)
	if p.Col < 1 || p.Col > len(l) {
		return 0
	}
	return l[p.Col-1]
}

// end is the place just after a value; false if it is unknown: for values with an anchor or tag,
// aliases, block scalars and unquoted texts on several lines.
func (s *source) end(n *doctree.Node) (doctree.Pos, bool) {
	c := s.byteAt(n.Pos)
	switch {
	case strings.IndexByte("&*!|>", c) >= 0:
		return n.Pos, false
	case n.Kind == doctree.Seq && !n.Flow():
		if len(n.Items()) == 0 || c != '-' {
			return n.Pos, false
		}
		return s.end(&n.Items()[len(n.Items())-1])
	case c == '[' || c == '{':
		return s.scan(n.Pos, false)
	case c == '"' || c == '\'':
		return s.scan(n.Pos, false)
	}
	if n.Raw() == "" || !strings.HasPrefix(s.line(n.Pos.Line)[n.Pos.Col-1:], n.Raw()) {
		return n.Pos, false
	}
	return doctree.Pos{Line: n.Pos.Line, Col: n.Pos.Col + len(n.Raw())}, true
}

// scan finds the end of a bracket or a quoted text. It gives up on anchors, aliases and tags within
// brackets, and on comments unless comments is set.
func (s *source) scan(p doctree.Pos, comments bool) (doctree.Pos, bool) {
	depth := 0
	var quote, before byte = 0, ' '
	for ; p.Line <= len(s.lines); p.Line, p.Col, before = p.Line+1, 1, ' ' {
		for ; p.Col <= len(s.line(p.Line)); p.Col++ {
			c := s.byteAt(p)
			switch {
			case quote == '"' && c == '\\':
				p.Col++
			case quote == '\'' && c == quote && s.byteAt(doctree.Pos{Line: p.Line, Col: p.Col + 1}) == quote:
				p.Col++
			case quote != 0 && c == quote:
				if quote = 0; depth == 0 {
					return doctree.Pos{Line: p.Line, Col: p.Col + 1}, true
				}
			case quote != 0:
			case (c == '"' || c == '\'') && strings.IndexByte(" [{,:", before) >= 0:
				quote = c
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				if depth--; depth == 0 {
					return doctree.Pos{Line: p.Line, Col: p.Col + 1}, true
				}
			case c == '#' && before == ' ' && comments:
				p.Col = len(s.line(p.Line))
			case strings.IndexByte("#&*!", c) >= 0 && strings.IndexByte(" [{,", before) >= 0:
				return p, false
			}
			before = c
		}
	}
	return p, false
}
