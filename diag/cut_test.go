package diag_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/diag"
)

func TestCutTearsNoCharacter(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"plain", 5, "plain"}, {"plain", 3, "pla…"}, {"", 0, ""}, {"abc", 0, "…"},
		{"한국어", 4, "한…"}, {"한국어", 6, "한국…"},
		{"\u1112\u1161\u11ab\u1100", 3, "…"}, {"\u1112\u1161\u11ab\u1100", 8, "…"}, // a syllable in parts
		{"\u1112\u1161\u11ab\u1100\u1161", 9, "\u1112\u1161\u11ab…"},
		{"e\u0301a", 1, "…"}, {"e\u0301a", 3, "e\u0301…"},
		{"🇰🇷🇺🇸", 4, "…"}, {"🇰🇷🇺🇸", 12, "🇰🇷…"}, {"🇰🇷🇺🇸", 8, "🇰🇷…"},
		{"👩\u200d👧x", 4, "…"}, {"👍🏽x", 4, "…"}, {"👍🏽x", 8, "👍🏽…"},
		{"a\r\nb", 2, "a…"}, {"\xff\xfe\xfd", 1, "\xff…"},
	} {
		if got := diag.Cut(c.text, c.n); got != c.want {
			t.Errorf("%q cut to %d: %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestCutIsAlwaysABeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "n")
		got, cut := strings.CutSuffix(diag.Cut(s, n), "…")
		if len(s) > n && (!cut || len(got) > n) || !strings.HasPrefix(s, got) || !utf8.ValidString(got) {
			t.Fatalf("%q cut to %d: %q", s, n, got)
		}
	})
}

func TestSourceLinesAreCutBetweenCharacters(t *testing.T) {
	syllable := "\u1112\u1161\u11ab"
	line := strings.Repeat(syllable, 80)
	for col := 1; col < len(line); col += 3 {
		text := diag.List{{Pos: diag.Pos{File: "f", Line: 1, Col: col}, Source: line, Message: "m"}}.Render(diag.Style{})
		shown := strings.Trim(strings.Split(text, "\n")[1], " .")
		if strings.Trim(strings.ReplaceAll(shown, syllable, ""), " ") != "" {
			t.Fatalf("column %d: a character is torn in %q", col, shown)
		}
	}
}
