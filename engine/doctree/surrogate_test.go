package doctree_test

import (
	"testing"

	"github.com/thresh-dev/thresh/engine/doctree"
)

func TestSurrogateEscapes(t *testing.T) {
	for text, want := range map[string]string{
		`"a\ud83d\ude00b"`:           "a😀b",
		`"\uD83D\uDE00\ud83d\udE01"`: "😀😁",
		`"\ud83d"`:                   "\xed\xa0\xbd",
		`"\ude00\ud83d"`:             "\xed\xb8\x80\xed\xa0\xbd",
		`"\\ud83d \ud83d\ude00"`:     `\ud83d 😀`,
		`'\ud83d\ude00'`:             `\ud83d\ude00`,
		`\ud83d`:                     `\ud83d`,
		"|\n  \\ud83d\\uDe00\n":      "\\ud83d\\uDe00\n",
		`"\ue001"`:                   "\ue001",
	} {
		d, err := doctree.Parse([]byte(text), doctree.Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if d.Root.Text != want {
			t.Errorf("%s: %q, want %q", text, d.Root.Text, want)
		}
	}
	// With what would stand in, the text is read as it is.
	if _, err := doctree.Parse([]byte(`["\ud83d\ude00", "\ue001"]`), doctree.Options{}); err == nil {
		t.Error("read, with nothing to stand in for it")
	}
}
