package diag

import (
	"errors"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// FirstLine is a text as far as its first line end.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r")
}

// Printable makes control characters harmless for a terminal; lines stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// Name is the name of a file in a message, in quotes where it holds control
// characters: one with a line feed would pass for a message.
func Name(file string) string {
	if strings.ContainsFunc(file, unicode.IsControl) {
		return strconv.Quote(file)
	}
	return file
}

// Reason is an error without the path that the message around it names.
func Reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// quoted is a text in double quotes as [strconv.Quote] writes it.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Unquoted replaces what stands in double quotes by as many blanks, so that a search
// for words of a message does not find those of a user or a target.
func Unquoted(s string) string {
	return quoted.ReplaceAllStringFunc(s, func(q string) string { return strings.Repeat(" ", len(q)) })
}

// OneLine reports whether a name fits in a line of a report or a terminal: it
// holds no line break and no other control character.
func OneLine(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

// Number is a number with its thousands apart: 1,234,567.
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

// Plural is a number of things: "1 case", "2,000 cases".
func Plural[N int | int64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Number(n) + " " + thing
}
