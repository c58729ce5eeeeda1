package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"sort"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// text is a document with its lines. Offsets count bytes; positions of the protocol count UTF-16
// units within lines.
type text struct {
	text  string
	lines []int // offset of each line's start
}

func newText(s string) *text {
	t := &text{text: s, lines: []int{0}}
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '\n')
		if n < 0 {
			return t
		}
		i += n + 1
		t.lines = append(t.lines, i)
	}
}

// line returns the text of a line without its line end.
func (t *text) line(n int) string {
	end := len(t.text)
	if n+1 < len(t.lines) {
		end = t.lines[n+1] - 1
	}
	return strings.TrimSuffix(t.text[t.lines[n]:end], "\r")
}

// offset returns the offset of a position. A position beyond its line or the text is clamped to the
// end.
func (t *text) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(t.text)
	}
	line, units := t.line(p.Line), 0
	for i, r := range line {
		if units >= p.Character {
			return t.lines[p.Line] + i
		}
		units += width(r)
	}
	return t.lines[p.Line] + len(line)
}

func (t *text) position(offset int) position {
	offset = max(0, min(offset, len(t.text)))
	n := sort.SearchInts(t.lines, offset+1) - 1
	units := 0
	for _, r := range t.text[t.lines[n]:offset] {
		units += width(r)
	}
	return position{n, units}
}

func (t *text) span(from, to int) span { return span{t.position(from), t.position(max(from, to))} }

// offsetOf returns the offset of a diagnostic's place, whose columns count bytes.
func (t *text) offsetOf(p diag.Pos) int {
	n := p.Line - 1
	if n < 0 {
		return 0
	}
	if n >= len(t.lines) {
		return len(t.text)
	}
	return t.lines[n] + min(max(p.Col-1, 0), len(t.line(n)))
}

// width returns how many UTF-16 units a character takes.
func width(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// pathOf returns the file that a URI names; "" if it names none.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path)
}

func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
