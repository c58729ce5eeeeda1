package match

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/runenames"
)

// category returns the set of \d, \w, \s or, complemented, of \D, \W, \S.
func category(c rune, ascii bool) (runeSet, bool) {
	var s runeSet
	switch unicode.ToLower(c) {
	case 'd':
		s = asciiDigitSet
		if !ascii {
			s = digitSet()
		}
	case 'w':
		s = asciiWordSet
		if !ascii {
			s = wordSet()
		}
	case 's':
		s = asciiSpaceSet
		if !ascii {
			s = spaceSet
		}
	default:
		return nil, false
	}
	if unicode.IsUpper(c) {
		s = s.complement()
	}
	return s, true
}

// escape returns the node of an escape outside a class, after its two
// characters have been read.
func (p *parser) escape(c rune, f flags) *node {
	start := p.at - 2
	switch c {
	case 'A':
		return &node{op: opTextStart}
	case 'Z':
		return &node{op: opTextEnd}
	case 'b', 'B':
		return &node{op: opBoundary, negated: c == 'B', ascii: f.ascii}
	}
	if set, ok := category(c, f.ascii); ok {
		return &node{op: opSet, set: set}
	}
	if r, ok := p.character(c, start); ok {
		return literal(r, f)
	}
	if c == '0' {
		return literal(p.octal(start, 3), f)
	}
	if '1' <= c && c <= '9' {
		return p.numbered(start, f)
	}
	p.failAt(start, `bad escape \%c`, c)
	return nil
}

// numbered reads \N: a reference to a group, or three octal digits.
func (p *parser) numbered(start int, f flags) *node {
	digits := p.text[start+1 : p.at]
	if c := p.peek(); '0' <= c && c <= '9' {
		p.at++
		digits = p.text[start+1 : p.at]
		if isOctal(digits[0]) && isOctal(digits[1]) && isOctal(p.peek()) {
			return literal(p.octal(start, 3), f)
		}
	}
	n, _ := strconv.Atoi(string(digits))
	p.refer(n, start+1)
	return &node{op: opBackref, group: n, fold: f.fold}
}

func isOctal(c rune) bool { return '0' <= c && c <= '7' }

// octal reads up to count octal digits, the first of which follows the
// backslash at start.
func (p *parser) octal(start, count int) rune {
	v := rune(0)
	for p.at = start + 1; p.at < start+1+count && isOctal(p.peek()); p.at++ {
		v = v<<3 | (p.text[p.at] - '0')
	}
	if v > 0o377 {
		p.failAt(start, "octal escape value %s outside of range 0-0o377", string(p.text[start:p.at]))
	}
	return v
}

// character returns the character of an escape that means the same inside and
// outside of a class, after its two characters have been read.
func (p *parser) character(c rune, start int) (rune, bool) {
	if i := strings.IndexRune("afnrtv\\", c); i >= 0 {
		return rune("\a\f\n\r\t\v\\"[i]), true
	}
	switch c {
	case 'x':
		return p.hex(start, 2), true
	case 'u':
		return p.hex(start, 4), true
	case 'U':
		return p.hex(start, 8), true
	case 'N':
		return p.namedCharacter(start), true
	}
	if c <= unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
		return 0, false
	}
	return c, true
}

func (p *parser) hex(start, count int) rune {
	end := p.at
	for end < len(p.text) && end < p.at+count && isHex(p.text[end]) {
		end++
	}
	if end < p.at+count {
		p.failAt(start, "incomplete escape %s", string(p.text[start:end]))
	}
	v, _ := strconv.ParseUint(string(p.text[p.at:end]), 16, 64)
	p.at = end
	if v > unicode.MaxRune {
		p.failAt(start, "bad escape %s", string(p.text[start:end]))
	}
	return rune(v)
}

func isHex(c rune) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func (p *parser) namedCharacter(start int) rune {
	if !p.accept('{') {
		p.fail("missing {")
	}
	name := p.until('}', "character name")
	want := strings.ToUpper(name)
	if code, ok := strings.CutPrefix(want, "CJK UNIFIED IDEOGRAPH-"); ok {
		if v, err := strconv.ParseUint(code, 16, 32); err == nil && unicode.Is(unicode.Unified_Ideograph, rune(v)) {
			return rune(v)
		}
	}
	for r := rune(' '); r <= unicode.MaxRune; r++ {
		if runenames.Name(r) == want { // the name of a range is in lower case
			return r
		}
	}
	p.failAt(start, "undefined character name %q", name)
	return 0
}

// class reads a set, after its opening bracket at start.
func (p *parser) class(start int, f flags) *node {
	var exact []interval
	var categories runeSet
	negate := p.accept('^')
	for empty := true; ; empty = false {
		at := p.at
		c, escaped := p.next()
		if c < 0 {
			p.failAt(start, "unterminated character set")
		}
		if c == ']' && !empty {
			break
		}
		low, set := p.member(c, escaped, f)
		if !p.accept('-') {
			exact, categories = add(exact, categories, low, set)
			continue
		}
		c, escaped = p.next()
		switch {
		case c < 0:
			p.failAt(start, "unterminated character set")
		case c == ']':
			exact, categories = add(exact, categories, low, set)
			exact = append(exact, interval{'-', '-'})
		default:
			high, highSet := p.member(c, escaped, f)
			if set != nil || highSet != nil || high < low {
				p.failAt(at, "bad character range %s", string(p.text[at:p.at]))
			}
			exact = append(exact, interval{low, high})
			continue
		}
		break
	}
	key := fmt.Sprint(string(p.text[start:p.at]), f.fold, f.ascii)
	if n := p.classes[key]; n != nil {
		return n
	}
	set := normal(exact)
	if f.fold {
		set = set.foldCase(f.ascii)
	}
	set = set.union(categories)
	if negate {
		set = set.complement()
	}
	n := &node{op: opSet, set: set}
	p.classes[key] = n
	return n
}

func add(exact []interval, categories runeSet, r rune, set runeSet) ([]interval, runeSet) {
	if set != nil {
		return exact, categories.union(set)
	}
	return append(exact, interval{r, r}), categories
}

// member is one member of a class: a character, or the set of a category.
func (p *parser) member(c, escaped rune, f flags) (rune, runeSet) {
	if c != '\\' {
		return c, nil
	}
	start := p.at - 2
	if set, ok := category(escaped, f.ascii); ok {
		return 0, set
	}
	if escaped == 'b' {
		return '\b', nil
	}
	if r, ok := p.character(escaped, start); ok {
		return r, nil
	}
	if isOctal(escaped) {
		return p.octal(start, 3), nil
	}
	p.failAt(start, `bad escape \%c`, escaped)
	return 0, nil
}

// decode returns the code points of a text. Invalid UTF-8 becomes a lone
// surrogate: the one that three bytes in the form of engine/jsontree stand for,
// or the one that stands for a stray byte in Python.
func decode(s string) []rune {
	if utf8.ValidString(s) {
		return []rune(s)
	}
	runes := make([]rune, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			if i+2 < len(s) && s[i] == 0xed && s[i+1]&0xe0 == 0xa0 && s[i+2]&0xc0 == 0x80 {
				r, size = 0xd000|rune(s[i+1]&0x3f)<<6|rune(s[i+2]&0x3f), 3
			} else {
				r = 0xdc00 + rune(s[i])
			}
		}
		runes = append(runes, r)
		i += size
	}
	return runes
}
