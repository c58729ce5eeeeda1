// Package diag holds the one diagnostic type of Thresh, the rules for showing
// it to people and the exit codes. It is a leaf: it imports the standard
// library alone, and everything may import it.
package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Level says how much a diagnostic weighs.
type Level uint8

// The levels.
const (
	Error Level = iota
	Warning
)

func (l Level) String() string {
	if l == Warning {
		return "warning"
	}
	return "error"
}

// Pos is a place in a document. Line and Col are 1-based; Col counts bytes.
// Line 0 means the document as a whole.
type Pos struct {
	File string
	Line int
	Col  int
}

func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Diagnostic is one thing that is wrong, or doubtful, with an input.
type Diagnostic struct {
	Code    string // stable, such as "fuzzspec.missing-field"
	Level   Level
	Pos     Pos
	Path    string // place inside the document: "mutations.cases", "$.entities.User"
	Message string // what is wrong and what was expected
	Hint    string // what to do, or the nearest valid name
	Source  string // the offending line, shown with a caret; may be empty
}

// List is diagnostics; it is an error when it holds one of level Error.
type List []Diagnostic

// HasErrors reports whether any diagnostic is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Level == Error })
}

// Err returns the list as an error, or nil if it holds no error.
func (l List) Err() error {
	if l.HasErrors() {
		return l
	}
	return nil
}

// Error implements error: one line a diagnostic.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Sort orders the list by file, line and column, keeping the given order where
// these are equal.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		if c := strings.Compare(a.Pos.File, b.Pos.File); c != 0 {
			return c
		}
		if c := a.Pos.Line - b.Pos.Line; c != 0 {
			return c
		}
		return a.Pos.Col - b.Pos.Col
	})
}

// String is the diagnostic on one line: place, level, path, message, hint.
func (d Diagnostic) String() string { return d.text(d.Level.String() + ": ") }

// Text is the diagnostic without its level.
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

// Style says how text is shown.
type Style struct{ Color bool }

// Render is the list as people read it: each diagnostic with its source line
// and a caret, then a count.
func (l List) Render(s Style) string {
	var b strings.Builder
	paint := func(code, text string) string {
		if !s.Color {
			return text
		}
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	errs, warns := 0, 0
	for _, d := range l {
		level := paint("1;31", "error")
		if d.Level == Warning {
			level = paint("1;33", "warning")
			warns++
		} else {
			errs++
		}
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
	}
	if errs+warns > 1 {
		fmt.Fprintf(&b, "%s\n", Count(errs, warns))
	}
	return b.String()
}

// Count is "2 errors, 1 warning".
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

// clip makes a source line fit for a terminal: control characters become
// spaces, and a long line is cut around the 1-based byte column. It returns
// the text and the number of cells before the caret.
func clip(line string, col int) (string, int) {
	const width = 100
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
	from := 0
	if caret > width-20 {
		from = caret - width/2
	}
	to := min(len(out), from+width)
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
