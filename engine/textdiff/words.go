package textdiff

import (
	"strings"
	"unicode"
)

// mostWords is how many words of each text are compared directly.
const mostWords = 1500

// Words reports how one text became another, word by word: parts that are
// "equal", that "delete" removed and that "insert" added.
func Words(before, after string, each func(op, text string)) {
	a, b := split(before), split(after)
	say := func(op string, list []string) {
		if len(list) > 0 {
			each(op, strings.Join(list, ""))
		}
	}
	at := 0
	for _, c := range compare(a, b, mostWords) {
		say("equal", a[at:c.a0])
		say("delete", a[c.a0:c.a1])
		say("insert", b[c.b0:c.b1])
		at = c.a1
	}
	say("equal", a[at:])
}

// split splits a text into words, runs of blanks and single other characters.
func split(s string) []string {
	class := func(r rune) int {
		switch {
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	var list []string
	start, last := 0, -1
	for i, r := range s {
		c := class(r)
		if i > 0 && (c != last || c == 0) {
			list = append(list, s[start:i])
			start = i
		}
		last = c
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}
