package bytemut

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/thresh-dev/thresh/diag"
)

// Entry is one token of a dictionary.
type Entry struct {
	Name  string // may be empty
	Level int    // how special the token is; 0 unless given
	Value []byte
}

// Tokens returns the values of the entries up to a level.
func Tokens(entries []Entry, level int) [][]byte {
	var out [][]byte
	for _, e := range entries {
		if e.Level <= level {
			out = append(out, e.Value)
		}
	}
	return out
}

// ParseDictionary reads a dictionary in the syntax of AFL: one token per line, in
// double quotes, optionally with a name, or a name and a level, before it:
//
//	# comment
//	"GET "
//	header_end="\x0d\x0a"
//	magic@2="\x7fELF"
//
// The escapes are \\, \" and \xNN. file names the dictionary in diagnostics,
// which report everything that is wrong.
func ParseDictionary(file string, data []byte) ([]Entry, diag.List) {
	var entries []Entry
	var list diag.List
	for n, line := range bytes.Split(data, []byte("\n")) {
		p := dictionaryLine{text: bytes.TrimRight(line, " \t\r")}
		p.skipSpace()
		if p.at == len(p.text) || p.text[p.at] == '#' {
			continue
		}
		e, bad := p.entry()
		if bad != nil {
			bad.Pos = diag.Pos{File: file, Line: n + 1, Col: p.at + 1}
			bad.Source = string(p.text)
			list = append(list, *bad)
			continue
		}
		entries = append(entries, e)
	}
	return entries, list
}

// dictionaryLine is a line being read; at is the current position, and that of
// the first mistake.
type dictionaryLine struct {
	text []byte
	at   int
}

func (p *dictionaryLine) skipSpace() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

func refuse(code, hint, format string, args ...any) *diag.Diagnostic {
	return &diag.Diagnostic{Code: "dictionary." + code, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func (p *dictionaryLine) entry() (Entry, *diag.Diagnostic) {
	var e Entry
	start := p.at
	for p.at < len(p.text) && isNameByte(p.text[p.at]) {
		p.at++
	}
	e.Name = string(p.text[start:p.at])
	if p.at < len(p.text) && p.text[p.at] == '@' {
		p.at++
		digits := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		level, err := strconv.ParseInt(string(p.text[digits:p.at]), 10, 32)
		if err != nil {
			p.at = digits
			return e, refuse("level", "", "level after @ is not a number")
		}
		e.Level = int(level)
	}
	p.skipSpace()
	if p.at > start { // an equals sign must follow a name or level
		if p.at == len(p.text) || p.text[p.at] != '=' {
			return e, refuse("equals", `write name="value"`, "expected = after the name")
		}
		p.at++
		p.skipSpace()
	}
	if p.at == len(p.text) || p.text[p.at] != '"' {
		return e, refuse("quote", `write name="value" or "value"`, "expected a value in double quotes")
	}
	return e, p.value(&e)
}

// value reads from the opening quote to the end of the line.
func (p *dictionaryLine) value(e *Entry) *diag.Diagnostic {
	opening := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case '"':
			if len(e.Value) == 0 {
				p.at = opening
				return refuse("empty", "", "value is empty")
			}
			p.at++
			p.skipSpace()
			if p.at < len(p.text) && p.text[p.at] != '#' {
				return refuse("trailing", `write \" for a quote inside the value`, "unexpected text after the value")
			}
			return nil
		case '\\':
			b, n := unescape(p.text[p.at+1:])
			if n == 0 {
				return refuse("escape", `write \\, \" or \xNN with two hexadecimal digits; a line feed is \x0a`, "unknown escape")
			}
			e.Value = append(e.Value, b)
			p.at += n
		default:
			e.Value = append(e.Value, c)
		}
	}
	p.at = opening
	return refuse("unclosed", "", "value has no closing quote")
}

// unescape decodes what follows a backslash and returns its length; 0 if it is
// no escape.
func unescape(s []byte) (byte, int) {
	switch {
	case len(s) == 0:
	case s[0] == '\\' || s[0] == '"':
		return s[0], 1
	case s[0] == 'x' && len(s) >= 3:
		if v, err := strconv.ParseUint(string(s[1:3]), 16, 8); err == nil {
			return byte(v), 3
		}
	}
	return 0, 0
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
