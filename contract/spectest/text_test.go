package spectest

import "testing"

// A text that is not UTF-8 is as long as it was, byte by byte, so that two broken texts
// do not count as equal.
func TestTextThatIsNotUTF8(t *testing.T) {
	for text, want := range map[string]string{"": "", "값": "값", "\xff\xfe": "\uFFFD\uFFFD", "a\xffb": "a\uFFFDb"} {
		if got := validText([]byte(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
