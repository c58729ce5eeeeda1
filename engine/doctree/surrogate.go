package doctree

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// JSON writes a character beyond U+FFFF as two escapes, "\ud83d\ude00", and so
// does a block that a program has written. The parser refuses such escapes. It
// is given others of the same length in their place, of characters for private
// use, which become what was meant once the parser is done.

var (
	halfEscape = regexp.MustCompile(`(\\u)[dD][89a-fA-F][0-9a-fA-F]{2}`)
	standIn    = regexp.MustCompile(`\\u[eE][0-7][0-9a-fA-F]{2}|[\x{e000}-\x{e7ff}]`)
)

// standIns replaces escapes of surrogates, unless the text has any of what would
// stand in for them.
func (b *builder) standIns(text []byte) []byte {
	if !halfEscape.Match(text) || standIn.Match(text) {
		return text
	}
	b.surrogates = make(map[string]string)
	return halfEscape.ReplaceAllFunc(text, func(escape []byte) []byte {
		// \uD800 to \uDFFF become \ue000 to \ue7ff.
		row := strings.IndexByte("89abcdef", escape[3]|0x20) // of digits, which have that bit, and of letters
		other := []byte(`\ue` + string("01234567"[row]) + string(escape[4:]))
		b.surrogates[string(other)] = string(escape)
		return other
	})
}

// meant is a scalar's text without what stands in for surrogates: pairs are the
// characters that they stand for, single ones are three stray bytes as in
// engine/jsontree. Where no escape was read as one, it is as it was written.
func (b *builder) meant(text string) string {
	if b.surrogates == nil || !standIn.MatchString(text) {
		return text
	}
	text = standIn.ReplaceAllStringFunc(text, func(s string) string {
		if written, ok := b.surrogates[s]; ok {
			return written
		}
		return s
	})
	var out []byte
	high := rune(0)
	for _, r := range text {
		if r < 0xe000 || r > 0xe7ff {
			out, high = utf8.AppendRune(out, r), 0
			continue
		}
		half := r - 0x800
		if high != 0 && half >= 0xdc00 {
			out = utf8.AppendRune(out[:len(out)-3], (high-0xd800)<<10|(half-0xdc00)+0x10000)
			high = 0
			continue
		}
		out = append(out, 0xed, byte(0x80|half>>6&0x3f), byte(0x80|half&0x3f))
		if high = 0; half < 0xdc00 {
			high = half
		}
	}
	return string(out)
}
