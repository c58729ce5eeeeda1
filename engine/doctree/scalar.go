package doctree

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// maxDigits is the largest length of a number: CPython's limit for parsing
// integers.
const maxDigits = 4300

// The forms of plain scalars that are not strings, according to PyYAML's
// resolver.
var patterns = sync.OnceValue(func() (p struct{ float, integer, timestamp *regexp.Regexp }) {
	p.float = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?` +
		`|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	p.integer = regexp.MustCompile(`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	p.timestamp = regexp.MustCompile(`^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:(?:[Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]*))?` +
		`(?:[ \t]*(Z|([-+])([0-9]{1,2})(?::([0-9]{2}))?))?)?$`)
	return p
})

// resolve returns the tag of a plain scalar, according to its form.
func resolve(text string) string {
	if text == "" {
		return "!!null"
	}
	switch c := text[0]; {
	case isDecimal(text):
		return "!!int"
	case '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.':
		p := patterns()
		switch {
		case p.float.MatchString(text):
			return "!!float"
		case c == '.':
		case p.integer.MatchString(text):
			return "!!int"
		case '0' <= c && c <= '9' && isTimestamp(text):
			return "!!timestamp"
		}
	case c == '~' && text == "~":
		return "!!null"
	case c == '<' && text == "<<":
		return "!!merge"
	case c == '=' && text == "=":
		return "!!value"
	case len(text) <= 5:
		switch text {
		case "null", "Null", "NULL":
			return "!!null"
		case "yes", "Yes", "YES", "no", "No", "NO", "true", "True", "TRUE", "false", "False", "FALSE", "on", "On", "ON", "off", "Off", "OFF":
			return "!!bool"
		}
	}
	return "!!str"
}

// isDecimal reports whether a scalar is a short integer in its canonical form,
// as most are.
func isDecimal(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || len(digits) > 18 || digits[0] == '0' && len(text) > 1 {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// isTimestamp reports whether a plain scalar is a timestamp. A day without a
// time must have two digits for month and day.
func isTimestamp(text string) bool {
	m := patterns().timestamp.FindStringSubmatch(text)
	return m != nil && (m[4] != "" || len(m[2]) == 2 && len(m[3]) == 2)
}

func (b *builder) scalar(y *yaml.Node, n *Node) error {
	const quotes = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle
	const blocks = yaml.LiteralStyle | yaml.FoldedStyle
	t := tag(y)
	if y.Style&(quotes|blocks) != 0 || t == "!!str" {
		n.Style = Quoted
	}
	if y.Style&blocks != 0 {
		n.Style |= Block
	}
	if t == "" {
		t = "!!str"
		if !n.Quoted() {
			t = resolve(y.Value)
		}
	}
	return b.value(n, b.lines.own(b.meant(y.Value), n.Pos), t)
}

// value sets a node to the scalar that a text with a tag stands for.
func (b *builder) value(n *Node, text, t string) error {
	*n = n.As(text, text)
	bad := func(expected string) error {
		return b.fail(Tag, n.Pos, expected, "%q is not a value of tag %s", clip(text), t)
	}
	switch t {
	case "!!str":
		n.Kind = String
	case "!!null":
		n.Kind, n.Text = Null, "None"
	case "!!bool":
		n.Kind = Bool
		switch strings.ToLower(text) {
		case "yes", "true", "on":
			n.Bool, n.Text = true, "True"
		case "no", "false", "off":
			n.Text = "False"
		default:
			return bad("true or false")
		}
	case "!!int":
		v, ok := integer(text)
		if !ok {
			return bad(fmt.Sprintf("an integer of at most %d digits", maxDigits))
		}
		n.Kind, n.Text = Int, v
	case "!!float":
		v, ok := float(text)
		if !ok {
			return bad("a number")
		}
		n.Kind, n.Text = Float, v
	case "!!timestamp":
		v, kind, ok := timestamp(text)
		if !ok {
			return bad("a valid date, such as 2006-01-02, or quotes around a string")
		}
		n.Kind, n.Text = kind, v
	case "!!binary":
		v, ok := binary(text)
		if !ok {
			return bad("base64")
		}
		n.Kind, n.Text = Binary, v
	case "!!value", "!!merge":
		return b.fail(Tag, n.Pos, "quotes around it", "a plain %s that is not a key", text)
	default:
		return b.unknownTag(t, n.Pos, "another tag than a scalar's")
	}
	return nil
}

// binary decodes base64 as Python does: it ignores other characters, and
// everything after padding that completes a group of four.
func binary(text string) (string, bool) {
	var digits []byte
	padding := 0
loop:
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/':
			digits = append(digits, c)
			padding = 0
		case c == '=':
			padding++
		}
		if used := len(digits) % 4; used >= 2 && used+padding >= 4 {
			break loop
		}
	}
	if len(digits)%4 != 0 && len(digits)%4+padding < 4 {
		return "", false
	}
	v, err := base64.RawStdEncoding.DecodeString(string(digits))
	return string(v), err == nil
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// integer returns the decimal text of an integer in one of YAML 1.1's forms.
func integer(text string) (string, bool) {
	if isDecimal(text) {
		return text, true
	}
	text = strings.ReplaceAll(text, "_", "")
	if len(text) > maxDigits {
		return "", false
	}
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 || digits == "" {
		return "", false
	}
	negative := text[0] == '-'
	v := new(big.Int)
	ok := true
	switch {
	case digits == "0":
	case strings.HasPrefix(digits, "0b"):
		_, ok = v.SetString(digits[2:], 2)
	case strings.HasPrefix(digits, "0x"):
		_, ok = v.SetString(digits[2:], 16)
	case digits[0] == '0':
		_, ok = v.SetString(digits, 8)
	case strings.Contains(digits, ":"):
		for part := range strings.SplitSeq(digits, ":") {
			p, err := strconv.ParseUint(part, 10, 63)
			ok = ok && err == nil
			v.Mul(v, big.NewInt(60)).Add(v, new(big.Int).SetUint64(p))
		}
	default:
		_, ok = v.SetString(digits, 10)
	}
	if strings.ContainsAny(digits[1:], "+-") {
		return "", false // big.Int also accepts a sign after a prefix
	}
	if negative {
		v.Neg(v)
	}
	return v.String(), ok
}

// float returns Python's text of a number in one of YAML 1.1's forms.
func float(text string) (string, bool) {
	text = strings.ToLower(strings.ReplaceAll(text, "_", ""))
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 || digits == "" {
		return "", false
	}
	var v float64
	switch {
	case digits == ".inf":
		v = math.Inf(1)
	case digits == ".nan":
		return "nan", true
	default:
		for part := range strings.SplitSeq(digits, ":") {
			p, err := strconv.ParseFloat(part, 64)
			if err != nil && !math.IsInf(p, 0) || strings.ContainsAny(part, "xp") {
				return "", false
			}
			v = v*60 + p
		}
	}
	if text[0] == '-' {
		v = -v
	}
	switch {
	case math.IsInf(v, 1):
		return "inf", true
	case math.IsInf(v, -1):
		return "-inf", true
	}
	return jsontree.FormatFloat(v), true
}

// timestamp returns Python's text of a day, or of a day and a time.
func timestamp(text string) (string, Kind, bool) {
	m := patterns().timestamp.FindStringSubmatch(text)
	if m == nil {
		return "", Null, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(m[i]) // digits, or nothing
		return n
	}
	year, month, day := number(1), number(2), number(3)
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if year < 1 || t.Year() != year || int(t.Month()) != month || t.Day() != day {
		return "", Null, false
	}
	date := t.Format(time.DateOnly)
	if m[4] == "" {
		return date, Date, true
	}
	hour, minute, second := number(4), number(5), number(6)
	if hour > 23 || minute > 59 || second > 59 {
		return "", Null, false
	}
	out := fmt.Sprintf("%s %02d:%02d:%02d", date, hour, minute, second)
	if fraction := (m[7] + "000000")[:6]; fraction != "000000" {
		out += "." + fraction
	}
	if m[8] != "" {
		offset := number(10)*60 + number(11)
		if offset >= 24*60 {
			return "", Null, false
		}
		sign := "+"
		if m[9] == "-" && offset > 0 {
			sign = "-"
		}
		out += fmt.Sprintf("%s%02d:%02d", sign, offset/60, offset%60)
	}
	return out, Time, true
}
