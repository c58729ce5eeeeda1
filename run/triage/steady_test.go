package triage

import "testing"

// What varies from run to run in a title is replaced word by word, if the rest
// is the same to its end; else the first stays as it is.
func TestMergeWords(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"lost 17 of 40", "lost 18 of 40", "lost " + varies + " of 40"},
		{"same", "same", "same"},
		{"same", "same.", "same"}, {"same.", "same", "same."}, {"a b", "a-b", "a b"},
		{"", "", ""}, {"", "x", ""}, {"1", "2.", "1"}, {"1.", "2", "1."},
	} {
		if got := string(mergeWords([]byte(c.a), []byte(c.b))); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}
