package diag

import (
	"errors"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// FirstLine returns a text up to its first line end.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r")
}

// Printable makes control characters harmless for a terminal and keeps line ends.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// Name returns a file's name for a message. It quotes a name with control characters, because one
// with a line feed could pass for a message.
func Name(file string) string {
	if strings.ContainsFunc(file, unicode.IsControl) {
		return strconv.Quote(file)
	}
	return file
}

// Reason returns an error's text without the path, which the message around it names.
func Reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// quoted matches a text in double quotes as [strconv.Quote] writes it.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Unquoted replaces text in double quotes by as many blanks, so that a search for a message's words
// does not find a user's or a target's.
func Unquoted(s string) string {
	return quoted.ReplaceAllStringFunc(s, func(q string) string { return strings.Repeat(" ", len(q)) })
}

// OneLine reports whether a name fits on one line: it contains no line break and no other control
// character.
func OneLine(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

// Number formats a number with separators between thousands: 1,234,567.
func Number[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Plural formats a number of things: "1 case", "2,000 cases".
func Plural[N int | int64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Number(n) + " " + thing
}

// A returns a noun with its article: "an int", "a User".
func A(noun string) string {
	low := strings.ToLower(noun)
	switch {
	case low == "" || !vowel(low[0]):
		return "a " + noun
	case strings.HasPrefix(low, "eu"), strings.HasPrefix(low, "us"), strings.HasPrefix(noun, "UR"),
		low[0] == 'u' && len(low) > 2 && !vowel(low[1]) && vowel(low[2]): // pronounced "you"
		return "a " + noun
	}
	return "an " + noun
}

func vowel(b byte) bool { return strings.IndexByte("aeiou", b) >= 0 }

// MostKept is how many diagnostics of each level [List.Add] keeps, because a document of five
// million values may be wrong in each.
const MostKept = 1000

// beyond counts what a list does not keep. It belongs to the list's last entry.
type beyond struct{ kept, more [Note + 1]int }

// Add adds the diagnostic that make returns. It keeps the first [MostKept] errors, warnings and
// notes each; the last entry counts the others.
func (l *List) Add(level Level, make func() Diagnostic) {
	n := len(*l)
	if n < MostKept {
		*l = append(*l, make())
		return
	}
	last := &(*l)[n-1]
	if last.beyond == nil {
		b := new(beyond)
		for i := range *l {
			b.kept[(*l)[i].Level]++
		}
		if b.kept[level] < MostKept {
			*l = append(*l, make())
			return
		}
		*l = append(*l, Diagnostic{Level: level, Pos: Pos{File: last.Pos.File}, Code: "input.more", beyond: b})
		last = &(*l)[n]
	} else if last.beyond.kept[level] < MostKept {
		last.beyond.kept[level]++
		*l = append((*l)[:n-1], make(), *last)
		return
	}
	last.beyond.more[level]++
	last.Level = min(last.Level, level) // an error may be among those not kept
	last.Message = last.beyond.String()
}

// String returns "12 more errors, 3 more warnings are not listed". Every diagnostic added calls it,
// so it does little work.
func (b *beyond) String() string {
	var room [96]byte
	text := room[:0]
	for level, n := range b.more {
		if n == 0 {
			continue
		}
		if len(text) > 0 {
			text = append(text, ", "...)
		}
		text = append(append(text, Number(n)...), " more "...)
		text = append(text, Level(level).String()...)
		if n > 1 {
			text = append(text, 's')
		}
	}
	return string(append(text, " are not listed"...))
}
