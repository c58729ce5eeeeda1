package jsontree

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Readable replaces escapes of characters that ASCII lacks and people can read by the characters,
// in text that is JSON, holds JSON (as events of a server do) or is the beginning of JSON. Python's
// json module escapes all of these: "J\u00fcrgen". The text means the same.
func Readable(text string) string {
	if !strings.Contains(text, `\u`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '\\' {
			n := strings.IndexByte(text[i:], '\\')
			if n < 0 {
				n = len(text) - i
			}
			b.WriteString(text[i : i+n])
			i += n
			continue
		}
		r, size := escaped(text[i:])
		if low, more := escaped(text[i+size:]); utf16.IsSurrogate(r) && more == size {
			if pair := utf16.DecodeRune(r, low); pair != unicode.ReplacementChar {
				r, size = pair, 2*size
			}
		}
		if size > 0 && r > unicode.MaxASCII && unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			size = min(2, len(text)-i) // another escape: `\\u00fc` is none of ü
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// escaped returns the character of an escape \uXXXX that begins a text, and its length; 0: none does.
func escaped(text string) (rune, int) {
	const size = len(`\uXXXX`)
	if len(text) < size || text[:2] != `\u` {
		return 0, 0
	}
	n, err := strconv.ParseUint(text[2:size], 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(n), size
}
