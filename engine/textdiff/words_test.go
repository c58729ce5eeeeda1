package textdiff_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/textdiff"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"", "", ""},
		{"", "new", "+new"},
		{"the old way", "the new way", "=the |-old|+new|= way"},
		{"a_b(1)", "a_b(2)", "=a_b(|-1|+2|=)"},
		{"caf\u00e9 au lait", "caf\u00e9 noir", "=café |-au lait|+noir"},
		{strings.Repeat("a ", 2000), strings.Repeat("b ", 2000), "-" + strings.Repeat("a ", 1999) + "a|+" + strings.Repeat("b ", 1999) + "b|= "},
	} {
		var got []string
		textdiff.Words(c.before, c.after, func(op, text string) {
			got = append(got, map[string]string{"equal": "=", "delete": "-", "insert": "+"}[op]+text)
		})
		if strings.Join(got, "|") != c.want {
			t.Errorf("%.40q to %.40q: %.200q, want %.200q", c.before, c.after, strings.Join(got, "|"), c.want)
		}
	}
}

// The stretches make up both texts, and no two neighbours are of one kind.
func TestWordsAreWhole(t *testing.T) {
	text := rapid.StringMatching(`[ab_ .é\n]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		var a, b, last string
		textdiff.Words(before, after, func(op, text string) {
			if op == last || text == "" {
				t.Errorf("%s %q after %s", op, text, last)
			}
			if last = op; op != "insert" {
				a += text
			}
			if op != "delete" {
				b += text
			}
		})
		if a != before || b != after {
			t.Errorf("%q and %q of %q and %q", a, b, before, after)
		}
	})
}
