package judge

import (
	"fmt"
	"testing"
)

func TestSpots(t *testing.T) {
	for _, c := range []struct{ reason, reply, want string }{
		{`"MARKER" found, but not allowed`, "Sure: marker.", "[[6 12]]"},
		{`the pattern "is \\d+ (open|shipped)" found`, "It is 12 open", "[[3 13]]"},
		{`"a.c" found`, "abc", "[]"},
		{`any of "x", "none" not found`, "", "[]"},
		{`the reply is "cut`, "cut", "[]"},
	} {
		if got := fmt.Sprint(Spots(c.reason, c.reply)); got != c.want {
			t.Errorf("%s: %s, want %s", c.reason, got, c.want)
		}
	}
}

func TestReadable(t *testing.T) {
	for reason, want := range map[string]string{
		`a: the pattern "\\d{4}\\.x" not found; "C:\\d" said`:  `a: the pattern "\d{4}\.x" not found; "C:\\d" said`,
		`none of "\\d{4}", "\\w" found, but "\\s", "\\S" said`: `none of "\d{4}", "\w" found, but "\\s", "\\S" said`,
		`the pattern "a\nb" found`:                             `the pattern "a\nb" found`,
		`the reply is empty`:                                   `the reply is empty`,
	} {
		if got := Readable(reason); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
