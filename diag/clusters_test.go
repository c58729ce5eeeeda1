package diag_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/thresh-dev/thresh/diag"
)

// Which characters belong to the one before them, or to the one after, marks aside.
func TestClusters(t *testing.T) {
	joined := func(before, after rune) bool {
		return diag.Whole(string(before)+string(after), len(string(before))) == 0
	}
	for _, c := range []struct {
		name   string
		joined func(r rune) bool
		want   string
	}{
		{"after a letter", func(r rune) bool { return joined('a', r) }, "200d 1f3fb-1f3ff"},
		{"after a joiner", func(r rune) bool { return r > 0xfff0 && r < 0xfff9 && joined(0x200d, r) }, "fff1-fff8"},
		{"after a carriage return", func(r rune) bool { return joined('\r', r) }, "a"},
		{"after a line feed", func(r rune) bool { return joined('\n', r) }, ""},
		{"after a control", func(r rune) bool { return joined(1, r) }, ""},
		{"after half of a flag", func(r rune) bool { return joined(0x1f1e6, r) }, "200d 1f1e6-1f1ff 1f3fb-1f3ff"},
		{"after a leading consonant", func(r rune) bool { return joined(0x1100, r) }, "1100-11a7 200d a960-a97c ac00-d7a3 d7b0-d7c6 1f3fb-1f3ff"},
		{"after a vowel", func(r rune) bool { return joined(0x1160, r) }, "1160-11ff 200d d7b0-d7c6 d7cb-d7fb 1f3fb-1f3ff"},
		{"after a trailing consonant", func(r rune) bool { return joined(0x11a8, r) }, "11a8-11ff 200d d7cb-d7fb 1f3fb-1f3ff"},
		{"after an open syllable", func(r rune) bool { return joined(0xac1c, r) }, "1160-11ff 200d d7b0-d7c6 d7cb-d7fb 1f3fb-1f3ff"},
		{"after a closed syllable", func(r rune) bool { return joined(0xac1d, r) }, "11a8-11ff 200d d7cb-d7fb 1f3fb-1f3ff"},
		{"before a leading consonant", func(r rune) bool { return joined(r, 0x1100) }, "1100-115f 200d a960-a97c"},
		{"before a trailing consonant", func(r rune) bool { return r < 0xac00 && joined(r, 0x11a8) }, "1160-11ff 200d"},
		{"before half of a flag", func(r rune) bool { return joined(r, 0x1f1ff) }, "200d 1f1e6-1f1ff"},
	} {
		if got := ranges(c.joined); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	flags := strings.Repeat("🇰🇷", 3)
	for n, want := range []int{0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8, 16, 16} {
		if got := diag.Whole(flags, n); got != want {
			t.Errorf("flags cut to %d bytes: %d, want %d", n, got, want)
		}
	}
	if long := "e" + strings.Repeat("\u0301", 200); diag.Whole(long, 200) != 199 || diag.Whole(long, 90) != 0 {
		t.Errorf("a long cluster: %d, %d", diag.Whole(long, 200), diag.Whole(long, 90))
	}
}

// ranges lists the characters for which is holds, marks aside.
func ranges(is func(rune) bool) string {
	var list []string
	for r := rune(0); r < 0x20000; r++ {
		from := r
		for r < 0x20000 && (r < 0xd800 || r > 0xdfff) && !unicode.Is(unicode.M, r) && is(r) {
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
