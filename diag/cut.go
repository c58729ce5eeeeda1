package diag

import (
	"unicode"
	"unicode/utf8"
)

// Cut returns the text or, if it is longer than n bytes, at most the first n bytes and an ellipsis.
// It never splits what people see as one character: an accented letter, a Hangul syllable or a
// flag.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:Whole(s, n)] + "…"
}

// Runes returns the text or, if it has more than n characters, the first n-1 and an ellipsis.
func Runes(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Whole returns the largest offset of at most n bytes at which the text can be cut. It cuts a
// cluster of more than 64 code points inside, but never inside a code point.
func Whole(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	for at, tries := n, 0; tries < 64; tries++ {
		before, size := utf8.DecodeLastRuneInString(s[:at])
		after, _ := utf8.DecodeRuneInString(s[at:])
		if at == 0 || !joined(s[:at], before, after) {
			return at
		}
		at -= size
	}
	return n
}

// joined reports whether two neighbours are parts of one visible character.
func joined(upTo string, before, after rune) bool {
	const joiner = '\u200d'
	switch {
	case before == '\n' || unicode.IsControl(before) && before != '\r':
		return false
	case before == '\r':
		return after == '\n'
	case unicode.Is(unicode.M, after), after == joiner, before == joiner, 0x1f3fb <= after && after <= 0x1f3ff:
		return true
	case flag(before) && flag(after):
		half := 0
		for len(upTo) > 0 {
			r, size := utf8.DecodeLastRuneInString(upTo)
			if !flag(r) {
				break
			}
			half, upTo = half+1, upTo[:len(upTo)-size]
		}
		return half%2 == 1
	}
	switch jamo(before) {
	case 1:
		return jamo(after) == 1 || jamo(after) == 2 || hangul(after)
	case 2:
		return !hangul(after) && jamo(after) >= 2
	case 3:
		return !hangul(after) && jamo(after) == 3
	}
	return false
}

func flag(r rune) bool { return 0x1f1e6 <= r && r <= 0x1f1ff }

func hangul(r rune) bool { return 0xac00 <= r && r <= 0xd7a3 }

// jamo returns the part of a Hangul syllable that a character is or ends with: 1 for a leading
// consonant, 2 for a vowel, 3 for a trailing consonant, 0 for none.
func jamo(r rune) int {
	switch {
	case 0x1100 <= r && r <= 0x115f || 0xa960 <= r && r <= 0xa97c:
		return 1
	case 0x1160 <= r && r <= 0x11a7 || 0xd7b0 <= r && r <= 0xd7c6:
		return 2
	case 0x11a8 <= r && r <= 0x11ff || 0xd7cb <= r && r <= 0xd7fb:
		return 3
	case hangul(r) && (r-0xac00)%28 == 0:
		return 2
	case hangul(r):
		return 3
	}
	return 0
}
