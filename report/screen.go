package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/seq"
)

// screen collects lines for a terminal. Untrusted text must go through [visible] or [visibleLines]
// first.
type screen struct {
	strings.Builder
	color bool
	width int
	brief int  // bytes shown of a text in brief exhibits; 0: exhibits are complete
	cut   bool // something was cut
}

func newScreen(opt Options) *screen {
	s := &screen{color: opt.Color, width: opt.Width}
	if s.width <= 0 {
		s.width = 100
	}
	s.width = max(s.width, 60)
	return s
}

// The styles are escape sequences that turn them on.
const (
	plain   = ""
	bold    = "1"
	dim     = "2"
	red     = "1;31"
	green   = "1;32"
	yellow  = "1;33"
	blue    = "34"
	cyan    = "36"
	pointed = "1;7"
)

func (s *screen) paint(style, text string) string {
	if !s.color || style == plain || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// line writes one line without trailing blanks.
func (s *screen) line(indent int, text string) {
	text = strings.TrimRight(text, " ")
	if text != "" {
		s.WriteString(strings.Repeat(" ", indent))
		s.WriteString(text)
	}
	s.WriteByte('\n')
}

// wrapped writes text in as many lines as needed. Lines after the first are indented by hang more.
func (s *screen) wrapped(indent, hang int, style, text string) {
	for i, l := range wrap(text, s.width-indent-hang) {
		in := indent
		if i > 0 {
			in += hang
		}
		s.line(in, s.paint(style, l))
	}
}

func (s *screen) heading(text string) { s.line(0, s.paint(bold, text)) }

func severityStyle(v campaign.Severity) string {
	switch v {
	case campaign.SeverityCritical, campaign.SeverityHigh:
		return red
	case campaign.SeverityMedium:
		return yellow
	case campaign.SeverityLow:
		return cyan
	}
	return bold
}

// grid writes rows of cells under headings. It wraps the cells of the widest columns until the grid
// fits the screen's width. Numeric columns are aligned right.
func (s *screen) grid(indent int, columns []string, rows [][]string, numeric []bool) {
	columns, rows, numeric = dropEmptyColumns(columns, rows, numeric)
	n := len(columns)
	for _, r := range rows {
		n = max(n, len(r))
	}
	if n == 0 {
		return
	}
	widths, words := make([]int, n), make([]int, n)
	lines := append([][]string{columns}, rows...)
	for _, r := range lines {
		for i, c := range r {
			widths[i] = max(widths[i], textWidth(c))
			for word := range strings.FieldsSeq(c) {
				words[i] = max(words[i], textWidth(word))
			}
		}
	}
	fitColumns(widths, words, s.width-indent-2*(n-1))
	for i, r := range lines {
		style := plain
		if i == 0 {
			if strings.Join(columns, "") == "" {
				continue
			}
			style = bold
		}
		s.gridRow(indent, style, r, widths, numeric)
	}
}

// narrow is the width, in columns, below which wrapping gains little: "33 of 33".
const narrow = 12

// fitColumns narrows the widest columns until their sum is at most room. It keeps the longest words
// whole, and narrow columns as they are, unless that leaves too little room.
func fitColumns(widths, words []int, room int) {
	for i := range widths {
		widths[i] = min(widths[i], max(room, 4))
		if widths[i] <= narrow {
			words[i] = widths[i]
		}
	}
	for _, least := range [][]int{words, make([]int, len(widths))} {
		for sum(widths) > room {
			widest := -1
			for i, w := range widths {
				if w > max(least[i], 4) && (widest < 0 || w > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
		}
	}
}

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}

// dropEmptyColumns removes columns that are empty in every row.
func dropEmptyColumns(columns []string, rows [][]string, numeric []bool) ([]string, [][]string, []bool) {
	var keep []int
	for i := range columns {
		if len(rows) == 0 || slices.ContainsFunc(rows, func(r []string) bool { return i < len(r) && r[i] != "" }) {
			keep = append(keep, i)
		}
	}
	if len(keep) == len(columns) {
		return columns, rows, numeric
	}
	pick := func(r []string) []string {
		var out []string
		for _, i := range keep {
			if i < len(r) {
				out = append(out, r[i])
			}
		}
		return out
	}
	shown := seq.Map(rows, pick)
	var right []bool
	for _, i := range keep {
		right = append(right, i < len(numeric) && numeric[i])
	}
	return pick(columns), shown, right
}

func (s *screen) gridRow(indent int, style string, row []string, widths []int, numeric []bool) {
	cells := make([][]string, len(widths))
	height := 1
	for i := range widths {
		if i < len(row) {
			cells[i] = wrap(row[i], widths[i])
		}
		height = max(height, len(cells[i]))
	}
	for h := range height {
		var b strings.Builder
		for i, w := range widths {
			if i > 0 {
				b.WriteString("  ")
			}
			text := ""
			if h < len(cells[i]) {
				text = cells[i][h]
			}
			pad := strings.Repeat(" ", max(0, w-textWidth(text)))
			if i < len(numeric) && numeric[i] {
				b.WriteString(pad + s.paint(style, text))
			} else {
				b.WriteString(s.paint(style, text) + pad)
			}
		}
		s.line(indent, b.String())
	}
}

// insideWord matches a character after which a word may be broken; numbers are not broken.
var insideWord = regexp.MustCompile(`[=(_.:-][^\d ]`)

// Wrap breaks text into lines of at most width columns, as reports do.
func Wrap(text string, width int) []string { return wrap(text, width) }

// wrap breaks text into lines of at most width columns: at blanks, else after a folder of a path,
// else after a punctuation character in a word.
func wrap(text string, width int) []string {
	width = max(width, 4)
	var out []string
	for {
		cut := len(cutToWidth(text, width))
		if cut == len(text) {
			break
		}
		if cut == 0 {
			_, cut = utf8.DecodeRuneInString(text)
		}
		sp, dir, signs := strings.LastIndexByte(text[:cut], ' '), strings.LastIndexByte(text[:cut], '/')+1, insideWord.FindAllStringIndex(text[:cut], -1)
		switch {
		case text[cut] == ' ':
		case sp > cut/3:
			cut = sp
		case dir > cut/3 && long(text):
			cut = dir
		case len(signs) > 0 && signs[len(signs)-1][0] >= cut/3:
			cut = signs[len(signs)-1][0] + 1
		}
		out = append(out, strings.TrimRight(text[:cut], " "))
		text = strings.TrimLeft(text[cut:], " ")
	}
	if text != "" || len(out) == 0 {
		out = append(out, text)
	}
	return out
}

// clip cuts text to width columns, with an ellipsis.
func clip(text string, width int) string {
	if textWidth(text) <= width {
		return text
	}
	return cutToWidth(text, max(width-1, 0)) + "…"
}

// cutToWidth returns the longest prefix of text with at most width columns.
func cutToWidth(text string, width int) string {
	w := 0
	for i, r := range text {
		if w += runeWidth(r); w > width {
			return text[:i]
		}
	}
	return text
}

func textWidth(s string) int {
	w := 0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w
}

// runeWidth returns how many columns a terminal gives a visible rune.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115f, // Hangul leading consonants
		r >= 0x2e80 && r <= 0x303e, // CJK radicals and punctuation
		r >= 0x3041 && r <= 0xa4cf, // kana to Yi
		r >= 0xa960 && r <= 0xa97f,
		r >= 0xac00 && r <= 0xd7a3, // Hangul
		r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, // CJK forms
		r >= 0xff01 && r <= 0xff60, // fullwidth forms
		r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1f64f, // pictographs
		r >= 0x1f680 && r <= 0x1f6ff,
		r >= 0x1f900 && r <= 0x1faff,
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// field writes a label and its value, with the value's further lines indented below. Without a
// label it continues the previous field.
func (s *screen) field(indent int, label, value string) {
	const column = 13
	if label != "" {
		label += ":"
	}
	lead := s.paint(dim, label) + strings.Repeat(" ", column-len(label))
	for _, l := range wrap(value, s.width-indent-column) {
		s.line(indent, lead+l)
		lead = strings.Repeat(" ", column)
	}
}

// note writes a remark of the report itself, distinguishable from a target's output.
func (s *screen) note(indent int, format string, args ...any) {
	s.wrapped(indent, 1, dim, "["+fmt.Sprintf(format, args...)+"]")
}
