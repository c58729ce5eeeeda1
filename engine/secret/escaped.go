package secret

import (
	"bytes"
	"html"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Every language escapes different characters in different ways: PHP writes \/,
// Python keeps / in a URL and writes &#x27; in HTML. A value with such characters
// is therefore searched for with each of them written in any way.

// mostEscapes is the largest number of backslashes before one character: those of
// four nested texts.
const mostEscapes = 15

// escapable reports whether some language escapes characters of the value.
func escapable(value []byte) bool {
	return bytes.ContainsFunc(value, func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != '.'
	})
}

// replaceEscaped replaces a value whose characters are escaped in any way.
func replaceEscaped(b, value []byte, put filler) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(b); i++ {
		if c := b[i]; c != value[0] && c != '%' && c != '\\' && c != '&' {
			continue
		}
		if n := written(b[i:], value); n > 0 {
			out = append(append(out, b[done:i]...), put(n, true)...)
			done = i + n
			i = done - 1
		}
	}
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}

// written returns how much of the beginning of b is the value; 0: it is not there.
func written(b, value []byte) int {
	at := 0
	for len(value) > 0 {
		r, size := utf8.DecodeRune(value)
		n := character(b[at:], r, value[:size])
		if n == 0 {
			return 0
		}
		at, value = at+n, value[size:]
	}
	return at
}

// character returns how much of the beginning of b is one character; 0: it is not
// there.
func character(b []byte, r rune, literal []byte) int {
	slashes := 0
	for slashes < len(b) && slashes < mostEscapes && b[slashes] == '\\' {
		slashes++
	}
	rest := b[slashes:]
	switch {
	case r == '\\' && slashes > 0: // itself, or escaped together with others
		return slashes + numbered(rest, r)
	case bytes.HasPrefix(b, []byte("&")):
		if n := entity(b[1:], literal); n > 0 {
			return 1 + n
		}
	case slashes > 0 && bytes.HasPrefix(rest, []byte("u0026")): // HTML in JSON
		if n := entity(rest[5:], literal); n > 0 {
			return slashes + 5 + n
		}
	case bytes.HasPrefix(b, []byte("%")):
		if n := percent(b, literal); n > 0 {
			return n
		}
	}
	if bytes.HasPrefix(rest, literal) && (slashes == 0 || !unicode.IsLetter(r) && !unicode.IsDigit(r)) {
		return slashes + len(literal)
	}
	if n := numbered(rest, r); n > 0 && slashes > 0 {
		return slashes + n
	}
	return 0
}

// numbered returns how much of the beginning of b, after a backslash, is the
// number of a character.
func numbered(b []byte, r rune) int {
	switch {
	case len(b) > 4 && b[0] == 'u' && hexIs(b[1:5], r):
		return 5
	case len(b) > 2 && b[0] == 'x' && hexIs(b[1:3], r):
		return 3
	}
	return 0
}

// entity returns how much of the beginning of b, after an ampersand, names a
// character in HTML, or in HTML within HTML.
func entity(b, literal []byte) int {
	const nested = "amp;"
	for at := 0; ; at += len(nested) {
		rest := b[at:]
		if end := bytes.IndexByte(rest[:min(len(rest), 12)], ';'); end > 0 && html.UnescapeString("&"+string(rest[:end+1])) == string(literal) &&
			(string(literal) != "&" || !bytes.HasPrefix(rest[end+1:], []byte(nested))) {
			return at + end + 1
		}
		if !bytes.HasPrefix(rest, []byte(nested)) {
			return 0
		}
	}
}

// percent returns how much of the beginning of b are these bytes in a URL, or in a
// URL within a URL.
func percent(b, literal []byte) int {
	at := 0
	for _, c := range literal {
		if at >= len(b) || b[at] != '%' {
			return 0
		}
		for at++; bytes.HasPrefix(b[at:], []byte("25")) && c != '%'; at += 2 {
		}
		if at+2 > len(b) || !hexIs(b[at:at+2], rune(c)) {
			return 0
		}
		at += 2
	}
	return at
}

func hexIs(digits []byte, r rune) bool {
	v, err := strconv.ParseUint(string(digits), 16, 32)
	return err == nil && rune(v) == r
}
