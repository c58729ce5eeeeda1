package speclang

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Text returns Python's str() of the value; a string is itself. A closure, which
// has no text of its own, becomes <fn/2> with its number of parameters.
func (v Value) Text() string {
	if v.kind == String {
		return v.text
	}
	return string(v.appendRepr(nil))
}

// appendRepr appends Python's repr() of the value.
func (v Value) appendRepr(b []byte) []byte {
	switch v.kind {
	case Null:
		return append(b, "None"...)
	case Bool:
		if v.num != 0 {
			return append(b, "True"...)
		}
		return append(b, "False"...)
	case Int:
		if v.heap != nil {
			return v.heap.big.Append(b, 10)
		}
		return strconv.AppendInt(b, v.num, 10)
	case Float:
		switch f := v.float(); {
		case math.IsNaN(f):
			return append(b, "nan"...)
		case math.IsInf(f, 1):
			return append(b, "inf"...)
		case math.IsInf(f, -1):
			return append(b, "-inf"...)
		default:
			return append(b, jsontree.FormatFloat(f)...)
		}
	case String:
		return appendQuoted(b, v.text)
	case List:
		b = append(b, '[')
		for i, item := range v.heap.list {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = item.appendRepr(b)
		}
		return append(b, ']')
	case Dict:
		b = append(b, '{')
		for i, e := range v.heap.entries {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(appendQuoted(b, e.key), ": "...)
			b = e.value.appendRepr(b)
		}
		return append(b, '}')
	}
	return fmt.Appendf(b, "<fn/%d>", v.heap.fn.params)
}

// appendQuoted appends Python's repr() of a string: in single quotes, unless it
// contains these and no double quotes, with unprintable characters escaped.
func appendQuoted(b []byte, s string) []byte {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b = append(b, quote)
	for i := 0; i < len(s); {
		if r, lone := jsontree.IsLone(s[i:]); lone {
			b = fmt.Appendf(b, `\u%04x`, r)
			i += 3
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r == rune(quote) || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r <= 0xff:
			b = fmt.Appendf(b, `\x%02x`, r)
		case r <= 0xffff:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
	}
	return append(b, quote)
}

// JSON returns the value as compact JSON, keys in their original order. A closure
// has no JSON form and becomes a string of its Text.
func (v Value) JSON() string { return string(v.appendJSON(nil)) }

func (v Value) appendJSON(b []byte) []byte {
	switch v.kind {
	case Null:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, v.num != 0)
	case Float:
		return append(b, jsontree.FormatFloat(v.float())...)
	case Int:
		return v.appendRepr(b)
	case List:
		b = append(b, '[')
		for i, item := range v.heap.list {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	case Dict:
		b = append(b, '{')
		for i, e := range v.heap.entries {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(StringValue(e.key).appendJSON(b), ':')
			b = e.value.appendJSON(b)
		}
		return append(b, '}')
	}
	return jsontree.Style{}.Append(b, &jsontree.Node{Kind: jsontree.String, Text: v.Text()})
}

// isSpace is Python's str.isspace of one character.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

func trim(s string) string { return strings.TrimFunc(s, isSpace) }

// lower is str.lower: the full mapping of Unicode, with the final form of sigma.
func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return eachValid(s, cases.Lower(language.Und).String)
}

// upper is str.upper: the full mapping of Unicode, in which ß is SS.
func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return eachValid(s, cases.Upper(language.Und).String)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// eachValid maps the parts of s between invalid bytes, which stay.
func eachValid(s string, f func(string) string) string {
	if utf8.ValidString(s) {
		return f(s)
	}
	var b strings.Builder
	start := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteString(f(s[start:i]))
			b.WriteByte(s[i])
			start = i + 1
		}
		i += size
	}
	b.WriteString(f(s[start:]))
	return b.String()
}
