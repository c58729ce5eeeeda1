package report

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// Which characters take two columns of a terminal, and that marks take none.
func TestRuneWidth(t *testing.T) {
	var list []string
	for r := rune(0); r < 0x40000; r++ {
		from := r
		for ; r < 0x40000 && runeWidth(r) == 2; r++ {
		}
		if r > from {
			list = append(list, fmt.Sprintf("%x-%x", from, r-1))
		}
		none := r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me)
		if got := runeWidth(r); none != (got == 0) || !none && got != 1 {
			t.Errorf("%x has %d columns", r, got)
		}
	}
	const want = "1100-115f 2e80-3029 302e-303e 3041-3098 309b-a4cf a960-a97f ac00-d7a3 f900-faff fe30-fe6f ff01-ff60 ffe0-ffe6 1f300-1f64f 1f680-1f6ff 1f900-1faff 20000-3fffd"
	if got := strings.Join(list, " "); got != want {
		t.Error(got)
	}
	for width, want := range []string{"…", "…", "…", "한…", "한e\u0301…", "한e\u0301…", "한e\u0301語!"} {
		if got := clip("한e\u0301語!", width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}
