package doctree

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// lines converts the parser's positions to those of diagnostics. The parser
// ends lines where YAML 1.1 does, also at a lone carriage return and at U+0085,
// U+2028 and U+2029, and counts columns in characters; diagnostics use line
// feeds and bytes.
type lines struct {
	text   string
	offset int   // of line numbers
	starts []int // of the parser's lines
	feeds  []int // of the lines between line feeds; nil: the same as starts
	ascii  bool
	// The last position asked for: positions are asked for in the order of the
	// text, and the text may be a single line.
	lastLine, lastCol, lastAt int
}

func newLines(text string, offset int) *lines {
	l := &lines{text: text, offset: offset, ascii: true}
	l.starts = make([]int, 1, 2+strings.Count(text, "\n"))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			l.starts = append(l.starts, i+1)
			if l.feeds != nil {
				l.feeds = append(l.feeds, i+1)
			}
		case c == '\r':
			if !strings.HasPrefix(text[i+1:], "\n") {
				l.other(i + 1)
			}
		case c >= utf8.RuneSelf:
			l.ascii = false
			for _, b := range [...]string{"\u0085", "\u2028", "\u2029"} {
				if strings.HasPrefix(text[i:], b) {
					l.other(i + len(b))
				}
			}
		}
	}
	return l
}

// other adds a line start that only the parser sees.
func (l *lines) other(start int) {
	if l.feeds == nil {
		l.feeds = slices.Clone(l.starts)
	}
	l.starts = append(l.starts, start)
}

// pos converts the parser's line and column, both 1-based.
func (l *lines) pos(line, col int) Pos {
	if line < 1 || line > len(l.starts) {
		return l.at(len(l.text))
	}
	if l.ascii {
		return l.at(min(l.starts[line-1]+col-1, len(l.text)))
	}
	if line != l.lastLine || col < l.lastCol {
		l.lastLine, l.lastCol, l.lastAt = line, 1, l.starts[line-1]
	}
	for ; l.lastCol < col && l.lastAt < len(l.text); l.lastCol++ {
		_, size := utf8.DecodeRuneInString(l.text[l.lastAt:])
		l.lastAt += size
	}
	return l.at(l.lastAt)
}

// begins returns where the lines of diagnostics begin.
func (l *lines) begins() []int {
	if l.feeds == nil {
		return l.starts
	}
	return l.feeds
}

// at returns the position of a byte offset.
func (l *lines) at(offset int) Pos {
	starts := l.begins()
	i, found := slices.BinarySearch(starts, offset)
	if !found {
		i--
	}
	return Pos{Line: i + 1 + l.offset, Col: offset - starts[i] + 1}
}

// own returns a scalar as a part of the text itself, to save memory, if the
// text has it unchanged at that position.
func (l *lines) own(scalar string, at Pos) string {
	from := min(l.begins()[at.Line-l.offset-1]+at.Col-1, len(l.text))
	if c := l.text[from:]; strings.HasPrefix(c, `"`) || strings.HasPrefix(c, "'") {
		from++
	}
	if strings.HasPrefix(l.text[from:], scalar) {
		return l.text[from : from+len(scalar)]
	}
	return scalar
}

// line returns the text of a line of diagnostics.
func (l *lines) line(n int) string {
	starts := l.begins()
	n -= l.offset
	if n < 1 || n > len(starts) {
		return ""
	}
	end := len(l.text)
	if n < len(starts) {
		end = starts[n] - 1
	}
	return strings.TrimSuffix(l.text[starts[n-1]:end], "\r")
}
