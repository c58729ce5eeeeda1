package jsontree

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// number reads an integer or a float at the current position.
func (p *parser) number() (kind Kind, text string, err error) {
	start := p.at
	kind = Int
	if p.literal("-") && p.o.NonFinite && p.literal("Infinity") {
		return Float, p.text[start:p.at], nil
	}
	digits := p.at
	if p.digits() == 0 {
		return kind, "", p.unexpected("a digit")
	}
	if p.text[digits] == '0' && p.at > digits+1 {
		p.at = digits + 1
		return kind, "", p.unexpected("no digit after a leading 0")
	}
	length := p.at - digits
	if p.literal(".") {
		kind = Float
		if p.digits() == 0 {
			return kind, "", p.unexpected("a digit after the point")
		}
	}
	if p.literal("e") || p.literal("E") {
		kind = Float
		if !p.literal("+") {
			p.literal("-")
		}
		if p.digits() == 0 {
			return kind, "", p.unexpected("a digit of the exponent")
		}
	}
	if kind == Int && p.o.MaxDigits > 0 && length > p.o.MaxDigits {
		return kind, "", p.fail(Digits, start, fmt.Sprintf("an integer of %d digits", length), fmt.Sprintf("at most %d", p.o.MaxDigits))
	}
	return kind, p.text[start:p.at], nil
}

func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}

// str reads a string at the current position, which is its opening quote.
func (p *parser) str() (string, error) {
	open := p.at
	p.at++
	start := p.at
	for p.at < len(p.text) { // most strings have no escape and are part of the text
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return p.text[start : p.at-1], nil
		case c == '\\':
			return p.escaped(open, start)
		case c < ' ':
			return "", p.control()
		}
		p.at++
	}
	return "", p.fail(Syntax, open, "a string without its closing quote", `'"'`)
}

func (p *parser) control() error {
	return p.fail(Syntax, p.at, fmt.Sprintf("a raw control character 0x%02x in a string", p.text[p.at]),
		fmt.Sprintf(`\u%04x`, p.text[p.at]))
}

func (p *parser) escaped(open, start int) (string, error) {
	b := []byte(p.text[start:p.at])
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return string(b), nil
		case c == '\\':
			var err error
			if b, err = p.escape(b); err != nil {
				return "", err
			}
		case c < ' ':
			return "", p.control()
		default:
			b = append(b, c)
			p.at++
		}
	}
	return "", p.fail(Syntax, open, "a string without its closing quote", `'"'`)
}

// escape appends the decoded form of one escape sequence.
func (p *parser) escape(b []byte) ([]byte, error) {
	p.at++
	if p.at >= len(p.text) {
		return nil, p.unexpected("an escape sequence")
	}
	const plain, meaning = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	c := p.text[p.at]
	for i := range len(plain) {
		if plain[i] == c {
			p.at++
			return append(b, meaning[i]), nil
		}
	}
	if c != 'u' {
		return nil, p.unexpected(`one of "\/bfnrtu after a backslash`)
	}
	start := p.at - 1
	p.at++
	r, ok := p.hex4()
	if !ok {
		return nil, p.unexpected("a hexadecimal digit")
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(b, r), nil
	}
	if r < 0xdc00 && p.at+1 < len(p.text) && p.text[p.at] == '\\' && p.text[p.at+1] == 'u' {
		back := p.at
		p.at += 2
		if low, ok := p.hex4(); ok && 0xdc00 <= low && low <= 0xdfff {
			return utf8.AppendRune(b, utf16.DecodeRune(r, low)), nil
		}
		p.at = back // the next escape is read on its own
	}
	if !p.o.LoneSurrogates {
		return nil, p.fail(Syntax, start, fmt.Sprintf(`\u%04x is half of a surrogate pair`, r), "both halves")
	}
	return append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f), nil
}

// hex4 reads four hexadecimal digits; if it fails, the position is that of the
// first byte that is none.
func (p *parser) hex4() (rune, bool) {
	var r rune
	for range 4 {
		if p.at >= len(p.text) {
			return 0, false
		}
		c := p.text[p.at]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
		p.at++
	}
	return r, true
}

// IsLone reports whether s starts with a lone surrogate, and which.
func IsLone(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}
