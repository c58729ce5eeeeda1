package jsontree

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Style says how a tree is written. Members are sorted by the code points of
// their keys, so that equal values give equal bytes, unless their order is
// kept.
type Style struct {
	Indent int  // spaces per level, each member on its own line; 0: all on one line
	Spaced bool // on one line: a space after commas and colons
	ASCII  bool // escape everything but printable ASCII
	Kept   bool // members stay in their order
}

// The styles of the records that Thresh writes: Pretty for files, Compact for
// lines of JSONL, Spaced for values in prose.
var (
	Pretty  = Style{Indent: 2}
	Compact = Style{ASCII: true}
	Spaced  = Style{Spaced: true, ASCII: true}
)

// Format returns the text of a tree, without a final line end.
func (s Style) Format(n *Node) string { return string(s.Append(nil, n)) }

// Append appends the text of a tree to b.
func (s Style) Append(b []byte, n *Node) []byte { return s.node(b, n, 0) }

func (s Style) node(b []byte, n *Node, level int) []byte {
	switch n.Kind {
	case Bool:
		return strconv.AppendBool(b, n.Bool)
	case Int:
		if n.Text == "-0" {
			return append(b, '0') // an integer has no negative zero
		}
		return append(b, n.Text...)
	case Float:
		f, _ := n.Float()
		return append(b, FormatFloat(f)...)
	case String:
		return s.quote(b, n.Text)
	case Array:
		if len(n.Items) == 0 {
			return append(b, "[]"...)
		}
		b = append(b, '[')
		for i := range n.Items {
			b = s.separate(b, i, level+1)
			b = s.node(b, &n.Items[i], level+1)
		}
		return append(s.newline(b, level), ']')
	case Object:
		if len(n.Members) == 0 {
			return append(b, "{}"...)
		}
		b = append(b, '{')
		members := n.Members
		if !s.Kept {
			members = sortedMembers(members)
		}
		for i := range members {
			b = s.separate(b, i, level+1)
			b = append(s.quote(b, members[i].Key), ':')
			if s.Indent > 0 || s.Spaced {
				b = append(b, ' ')
			}
			b = s.node(b, &members[i].Value, level+1)
		}
		return append(s.newline(b, level), '}')
	}
	return append(b, "null"...)
}

func (s Style) separate(b []byte, i, level int) []byte {
	if i > 0 {
		b = append(b, ',')
		if s.Indent == 0 && s.Spaced {
			b = append(b, ' ')
		}
	}
	return s.newline(b, level)
}

const blanks = "                                                                "

func (s Style) newline(b []byte, level int) []byte {
	if s.Indent == 0 {
		return b
	}
	b = append(b, '\n')
	for n := level * s.Indent; n > 0; n -= len(blanks) {
		b = append(b, blanks[:min(n, len(blanks))]...)
	}
	return b
}

// quote appends a string literal. A lone surrogate is always escaped, since it
// has no UTF-8 form. Other invalid UTF-8 becomes U+FFFD.
func (s Style) quote(b []byte, text string) []byte {
	b = append(b, '"')
	for i := 0; i < len(text); {
		plain := i
		for i < len(text) && text[i] >= ' ' && text[i] < 0x7f && text[i] != '"' && text[i] != '\\' {
			i++
		}
		if b = append(b, text[plain:i]...); i == len(text) {
			break
		}
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c >= ' ' && (c != 0x7f || !s.ASCII):
				b = append(b, c)
			default:
				if k := strings.IndexByte("\b\t\n\f\r", c); k >= 0 {
					b = append(b, '\\', "btnfr"[k])
				} else {
					b = fmt.Appendf(b, `\u%04x`, c)
				}
			}
			continue
		}
		if lone, ok := IsLone(text[i:]); ok {
			b = fmt.Appendf(b, `\u%04x`, lone)
			i += 3
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case !s.ASCII:
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return append(b, '"')
}

// FormatFloat is Python's repr of a float, with the json module's names for
// values that are not finite: the shortest digits that read back as f, plain
// between 1e-4 and 1e16, and always with a point or an exponent.
func FormatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	abs := math.Abs(f)
	if abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
