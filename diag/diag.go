// Package diag holds the one diagnostic type of Thresh, the rules for showing it to people and the
// exit codes. It is a leaf: it imports only the standard library, and everything may import it.
package diag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Level is the severity of a diagnostic.
type Level uint8

// The levels.
const (
	Error Level = iota
	Warning
	Note // says how an input is read where the input does not say; nothing is wrong
)

func (l Level) String() string { return [...]string{"error", "warning", "note"}[l] }

// Pos is a place in a document. Line and Col are 1-based; Col counts bytes.
// Line 0 means the document as a whole.
type Pos struct {
	File string
	Line int
	Col  int
}

func (p Pos) String() string {
	file := Name(p.File)
	if p.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Col)
}

// Diagnostic is one problem with an input.
type Diagnostic struct {
	Code    string // stable, such as "fuzzspec.missing-field"
	Level   Level
	Pos     Pos
	Path    string // place inside the document: "mutations.cases", "$.entities.User"
	Message string // what is wrong and what was expected
	Hint    string // what to do, or the nearest valid name
	Source  string // the offending line, shown with a caret; may be empty
	Related []Related
	beyond  *beyond // in a list's last entry: what is not listed
}

// Strict turns warnings into errors.
func (l List) Strict() {
	for i := range l {
		if l[i].Level == Warning {
			l[i].Level = Error
		}
	}
}

// Related is another place that a diagnostic refers to.
type Related struct {
	Pos     Pos
	Message string // what is there: "given first here"
}

// Keys splits the path: keys by name, items of lists by index, without the $ with which some
// formats begin.
func (d Diagnostic) Keys() []string {
	var list []string
	path := strings.TrimPrefix(d.Path, "$")
	for path != "" {
		if quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(path, "[")); err == nil && strings.HasPrefix(path, "[") {
			key, _ := strconv.Unquote(quoted) // it is quoted
			list = append(list, key)
			path = strings.TrimPrefix(path[1+len(quoted):], "]")
			continue
		}
		path = strings.TrimLeft(path, ".[")
		end := strings.IndexAny(path, ".[]")
		if end < 0 {
			end = len(path)
		}
		if end > 0 {
			list = append(list, path[:end])
		}
		path = strings.TrimPrefix(path[end:], "]")
	}
	return list
}

// MostShown is how many diagnostics are shown to people; the rest are counted.
const MostShown = 100

// List is a list of diagnostics. It is an error if it contains one of level Error.
type List []Diagnostic

// HasErrors reports whether any diagnostic is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Level == Error })
}

// Err returns the list as an error, or nil if it contains no error.
func (l List) Err() error {
	if l.HasErrors() {
		return l
	}
	return nil
}

// Error implements error, with one line per diagnostic.
func (l List) Error() string {
	lines := make([]string, 0, min(len(l), MostShown+1))
	for i, d := range l {
		if i == MostShown {
			lines = append(lines, l.more())
			break
		}
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// Sort orders the list by file, line and column, and keeps the order of equal ones.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		if (a.beyond == nil) != (b.beyond == nil) { // counts of what is not listed come last
			if a.beyond == nil {
				return -1
			}
			return 1
		}
		if c := strings.Compare(a.Pos.File, b.Pos.File); c != 0 {
			return c
		}
		if c := a.Pos.Line - b.Pos.Line; c != 0 {
			return c
		}
		return a.Pos.Col - b.Pos.Col
	})
}

// String returns the diagnostic on one line: place, level, path, message, hint.
func (d Diagnostic) String() string { return d.text(d.Level.String() + ": ") }

// Text returns the diagnostic without its level.
func (d Diagnostic) Text() string { return d.text("") }

func (d Diagnostic) text(level string) string {
	var b strings.Builder
	if s := d.Pos.String(); s != "" {
		b.WriteString(s)
		b.WriteString(": ")
	}
	b.WriteString(level)
	if d.Path != "" {
		b.WriteString(d.Path)
		b.WriteString(": ")
	}
	b.WriteString(d.Message)
	if d.Hint != "" {
		b.WriteString(" (")
		b.WriteString(d.Hint)
		b.WriteString(")")
	}
	return b.String()
}

// Style is how text is shown.
type Style struct{ Color bool }

// Render returns the list for people: each diagnostic with its source line and a caret, then a
// count.
func (l List) Render(s Style) string {
	var b strings.Builder
	paint := func(code, text string) string {
		if !s.Color {
			return text
		}
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	for i, d := range l {
		if i == MostShown {
			b.WriteString(l.more() + "\n")
			break
		}
		level := paint([...]string{"1;31", "1;33", "36"}[d.Level], d.Level.String())
		if p := d.Pos.String(); p != "" {
			b.WriteString(paint("1", p) + ": ")
		}
		b.WriteString(level + ": ")
		if d.Path != "" {
			b.WriteString(d.Path + ": ")
		}
		b.WriteString(d.Message)
		if d.Code != "" {
			b.WriteString(paint("2", " ["+d.Code+"]"))
		}
		b.WriteByte('\n')
		if d.Source != "" && d.Pos.Line > 0 {
			src, col := clip(d.Source, d.Pos.Col)
			fmt.Fprintf(&b, "  %s\n  %s\n", src, strings.Repeat(" ", col)+paint("1;32", "^"))
		}
		if d.Hint != "" {
			b.WriteString("  " + paint("36", "hint") + ": " + d.Hint + "\n")
		}
		for _, r := range d.Related {
			fmt.Fprintf(&b, "  %s: %s\n", paint("1", r.Pos.String()), r.Message)
		}
	}
	if errs, warns := l.counts(); errs+warns > 1 {
		fmt.Fprintf(&b, "%s\n", Count(errs, warns))
	}
	return b.String()
}

// more says how many diagnostics are not shown.
func (l List) more() string { return fmt.Sprintf("... and %d more", len(l)-MostShown) }

func (l List) counts() (errs, warns int) {
	for i := range l {
		if b := l[i].beyond; b != nil {
			errs, warns = errs+b.more[Error], warns+b.more[Warning]
			continue
		}
		switch l[i].Level {
		case Error:
			errs++
		case Warning:
			warns++
		}
	}
	return errs, warns
}

// Count returns "2 errors, 1 warning".
func Count(errs, warns int) string {
	word := func(n int, w string) string {
		if n == 1 {
			return "1 " + w
		}
		return fmt.Sprintf("%d %ss", n, w)
	}
	switch {
	case warns == 0:
		return word(errs, "error")
	case errs == 0:
		return word(warns, "warning")
	}
	return word(errs, "error") + ", " + word(warns, "warning")
}

// clip prepares a source line for a terminal: control characters become spaces, and a long line is
// cut around the 1-based byte column. It returns the text and the number of cells before the caret.
func clip(line string, col int) (string, int) {
	const width = 100
	const far = 8 * width // bytes beyond which nothing is shown
	if before := col - 1 - far; before > 0 && before < len(line) {
		for before > 0 && !utf8.RuneStart(line[before]) {
			before--
		}
		line, col = "..."+line[before:], col-before+3
	}
	line = line[:Whole(line, max(col, 1)+far)]
	var out []rune
	caret := 0
	for i, r := range line {
		if i < col-1 {
			caret = len(out) + 1
		}
		if r < ' ' || r == 0x7f {
			r = ' '
		}
		out = append(out, r)
	}
	whole := func(n int) int { // the nearest offset up to n that splits no character
		return utf8.RuneCountInString(string(out)[:Whole(string(out), len(string(out[:n])))])
	}
	from := 0
	if caret > width-20 {
		from = whole(min(caret, len(out)) - width/2)
	}
	to := whole(min(len(out), from+width))
	text := string(out[from:to])
	caret -= from
	if from > 0 {
		text, caret = "..."+text, caret+3
	}
	if to < len(out) {
		text += "..."
	}
	return text, caret
}

// JSON is a [Diagnostic] for programs.
type JSON struct {
	Code    string `json:"code"`
	Level   string `json:"level"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// JSON returns the list for programs, never nil.
func (l List) JSON() []JSON {
	out := make([]JSON, len(l))
	for i, d := range l {
		out[i] = JSON{d.Code, d.Level.String(), d.Pos.File, d.Pos.Line, d.Pos.Col, d.Path, d.Message, d.Hint}
	}
	return out
}
