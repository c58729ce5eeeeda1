package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/app/draft"
)

// What try says about a draft fits the terminal it is said on, and is one line anywhere else.
func TestTryWrapsOnATerminal(t *testing.T) {
	say := strings.TrimSpace(strings.Repeat("many words ", 20))
	d := &draft.Draft{Format: "fuzzspec", Folder: "try-x", Document: "x.json", Why: []string{say}, Questions: []draft.Question{{Ask: say}}}
	for _, width := range []int{0, 80} {
		var out, err strings.Builder
		a := &application{io: &Stdio{Out: &out, Err: &err, OutTTY: width > 0, ErrTTY: width > 0, Width: width, Getenv: func(string) string { return "" }}}
		a.drafted(a.io.Err, d)
		a.questions(a.io.Out, d)
		for _, text := range []string{err.String(), out.String()} {
			widest := 0
			for line := range strings.Lines(text) {
				widest = max(widest, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
			}
			if (widest <= 80) != (width > 0) || !strings.Contains(strings.Join(strings.Fields(text), " "), say) {
				t.Errorf("%d columns:\n%s", width, text)
			}
		}
	}
}
