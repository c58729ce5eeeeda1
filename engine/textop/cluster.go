package textop

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// One character for a reader is often several code points: a letter with marks, a
// family of emoji, a Hangul syllable in parts. joins is a local and cautious form
// of the rules of UAX #29: it never separates two code points of one such cluster,
// and sometimes joins two clusters (flags in a row), which does not harm an edit.

// joins reports whether b belongs to a before it.
func joins(a, b rune) bool {
	switch {
	case a < 0x300 && b < 0x300:
		return a == '\r' && b == '\n'
	case a == 0x200d: // zero-width joiner
		return true
	case b == 0x200d || b == 0x200c:
		return true
	case isRegional(a) && isRegional(b):
		return true
	case isJamo(a) && (b >= 0x1160 && b <= 0x11ff || b >= 0xd7b0 && b <= 0xd7ff || isJamoLead(a) && isJamo(b)):
		return true
	case b < 0x300:
		return false
	case a >= 0x0600 && a <= 0x0605 || a == 0x06dd || a == 0x070f: // Arabic signs that stand before a number
		return true
	case isMark(b):
		return true
	}
	return a >= 0x900 && unicode.Is(viramas, a) && unicode.IsLetter(b)
}

func isRegional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

func isJamoLead(r rune) bool { return r >= 0x1100 && r <= 0x115f || r >= 0xa960 && r <= 0xa97c }

func isJamo(r rune) bool {
	return r >= 0x1100 && r <= 0x11ff || r >= 0xa960 && r <= 0xa97c || r >= 0xac00 && r <= 0xd7ff
}

// isMark reports whether a character attaches to the one before it.
func isMark(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r <= 0x36f, r >= 0xfe00 && r <= 0xfe0f, r >= 0x1f3fb && r <= 0x1f3ff, r >= 0xe0020 && r <= 0xe007f, r >= 0xe0100 && r <= 0xe01ef:
		return true
	case r == 0xff9e || r == 0xff9f: // half-width voicing marks
		return true
	case r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3, r >= 0x1f000 && r <= 0x1faff:
		return false // ideographs, syllables and emoji: no need to search
	}
	return unicode.Is(unicode.M, r)
}

// viramas tie the next letter to the previous one.
var viramas = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x094d, Hi: 0x0d4d, Stride: 0x80}, // Devanagari to Malayalam
	{Lo: 0x0dca, Hi: 0x0dca, Stride: 1},
	{Lo: 0x1039, Hi: 0x1039, Stride: 1},
	{Lo: 0x17d2, Hi: 0x17d2, Stride: 1},
}}

// boundary reports whether the text may be split at byte i.
func boundary(text string, i int) bool {
	if i <= 0 || i >= len(text) {
		return true
	}
	if text[i] < utf8.RuneSelf { // below U+0300 only LF after CR joins
		return (text[i] != '\n' || text[i-1] != '\r') && !joinerBefore(text, i)
	}
	if !utf8.RuneStart(text[i]) {
		return false
	}
	a, _ := utf8.DecodeLastRuneInString(text[:i])
	b, _ := utf8.DecodeRuneInString(text[i:])
	return !joins(a, b)
}

// joinerBefore reports whether a zero-width joiner ends at byte i.
func joinerBefore(text string, i int) bool {
	return i >= 3 && text[i-1] == 0x8d && text[i-2] == 0x80 && text[i-3] == 0xe2
}

// clusterStart returns the last position at or before byte i where the text may be
// split.
func clusterStart(text string, i int) int {
	for !boundary(text, i) {
		i--
	}
	return i
}

// clusterEnd returns the first position after byte i where the text may be split.
func clusterEnd(text string, i int) int {
	for i++; !boundary(text, i); i++ {
	}
	return i
}

// Clusters yields the parts of a text that readers see as one character each.
func Clusters(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(text); {
			end := clusterEnd(text, i)
			if !yield(text[i:end]) {
				return
			}
			i = end
		}
	}
}
