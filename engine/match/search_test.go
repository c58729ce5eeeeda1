package match_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/match"
)

// What patterns find at the edges of the syntax, asked of CPython as well where it is
// installed: characters next to those of a range, counts, octal and hexadecimal escapes,
// flags of parts, references, U+0000.
func TestSearches(t *testing.T) {
	var questions []question
	for _, c := range []struct {
		pattern     string
		found, lost []string
	}{
		{"a\x00b", []string{"a\x00b"}, []string{"ab", "a b"}},
		{"^[\x00]$", []string{"\x00"}, []string{"\x01", ""}},
		{"^[\x00-\x02]$", []string{"\x00", "\x01", "\x02"}, []string{"\x03"}},
		{"^[\x00a-\x62]$", []string{"\x00", "b"}, []string{"-", "c"}},
		{"(?#\x00)a", []string{"a"}, []string{"b"}},
		{"(?x)#\x00\na", []string{"a"}, []string{"\x00"}},
		{`^[^a]$`, []string{"\x00", "b", "\U0010ffff"}, []string{"a"}},
		{`^[^\x00]$`, []string{"\x01"}, []string{"\x00"}},
		{`^[^\U0010fffe]$`, []string{"\U0010ffff", "a"}, []string{"\U0010fffe"}},
		{`^[a-a]$`, []string{"a"}, []string{"b", "-"}},
		{`^[a\d]$`, []string{"a", "7"}, []string{"b"}},
		{`^[\da]$`, []string{"a", "7"}, []string{"b"}},
		{`^[ba]$`, []string{"a", "b"}, []string{"c"}},
		{`^\0123$`, []string{"\n3"}, []string{"S", "\n"}},
		{`^\1411$`, []string{"a1"}, []string{"a"}},
		{`^[\1411]$`, []string{"a", "1"}, []string{"4"}},
		{`^\377$`, []string{"ÿ"}, []string{"þ"}},
		{`^[\a\f\r\t\v\\]$`, []string{"\a", "\f", "\r", "\t", "\v", `\`}, []string{"a", "\n"}},
		{`^\a$`, []string{"\a"}, []string{"a"}},
		{`^\x414$`, []string{"A4"}, []string{"\u0414", "A"}},
		{`^\xff\xFF\x99\xaA\xAa\x00$`, []string{"ÿÿ\u0099ªª\x00"}, nil},
		{`^\x09\x90\xa9\xf0\xF9$`, []string{"\t\u0090©ðù"}, nil},
		{`^\U0001F600$`, []string{"😀"}, []string{"😁"}},
		{`^\U0010ffff$`, []string{"\U0010ffff"}, []string{"a"}},
		{`^\N{CJK UNIFIED IDEOGRAPH-4E00}$`, []string{"一"}, []string{"丁"}},
		{`^(?P<n>a|b)(?P=n)$`, []string{"aa", "bb"}, []string{"ab", "a"}},
		{`^(?i:(?P<n>a|b)(?P=n))$`, []string{"aA", "Bb"}, []string{"ab"}},
		{`^(a|b)(?i:\1)$`, []string{"aA", "bb"}, []string{"aB", "Aa"}},
		{`^(a)(b)\2\1$`, []string{"abba"}, []string{"abab"}},
		{`^(a)?(b)(?(1)c|d)$`, []string{"abc", "bd"}, []string{"abd", "bc"}},
		{`^(a)?b(?(1)c)$`, []string{"abc", "b"}, []string{"ab", "bc"}},
		{`^()(?<!a(?(1)b|c))x$`, []string{"x"}, []string{"abx"}},
		{`(?i)a(?-i:b)`, []string{"Ab", "ab"}, []string{"AB"}},
		{`(?a)^(?u:\w)$`, []string{"é"}, []string{"-"}},
		{`(?a)^\w$`, []string{"e"}, []string{"é"}},
		{`^\w$`, []string{"\u1f59", "\u1f5b", "\u1f5d", "\u1f5f"}, []string{"\u1f58", "\u1f5a", "\u1f5c", "\u1f5e"}}, // every second one is a letter
		{`(?ai)^[Z]A$`, []string{"zA", "Za"}, []string{"ya"}},
		{`^a{}$`, []string{"a{}"}, []string{"a", "aa"}},
		{`^a{9}$`, []string{strings.Repeat("a", 9)}, []string{"a{9}"}},
		{`^a{12}$`, []string{strings.Repeat("a", 12)}, []string{strings.Repeat("a", 13), strings.Repeat("a", 11)}},
		{`^a{2,}$`, []string{"aa", "aaa"}, []string{"a"}},
		{`^a{,2}$`, []string{"", "aa"}, []string{"aaa"}},
		{`^(?:a{0,1}|b{1,1})c$`, []string{"c", "ac", "bc"}, []string{"aac", "bbc"}},
		{`^a?+a$`, []string{"aa"}, []string{"a"}},
		{`^a++a`, nil, []string{"aaa"}},
		{`^(?:ab|a)?+b$`, []string{"b", "abb"}, []string{"ab"}},
		{`^(?:$a|b)`, []string{"b"}, []string{"a", "\na"}},
		{`a$\nb`, nil, []string{"a\nb"}},
		{`a$\n`, []string{"a\n"}, []string{"a", "a\nb"}},
		{`(?:a$)+\n`, []string{"a\n"}, []string{"a\nb"}},
		{`(?:a$|b)\n`, []string{"a\n", "b\nc"}, []string{"a\nc"}},
		{`(?=a$)a\n`, []string{"a\n"}, []string{"a\nb"}},
		{`(?>a$)\n`, []string{"a\n"}, []string{"a\nb"}},
		{`(a)?(?(1)b$|c$)\n`, []string{"ab\n", "c\n"}, []string{"ab\nx", "c\nx"}},
		{`(?m)^b$`, []string{"a\nb\nc"}, []string{"ab"}},
		{`[^\s\S]`, nil, []string{"", "a", "\n"}},
		{`[^\s\S](?=a)|b`, []string{"b"}, []string{"a"}},
		{`^[\s\S](?=a)`, []string{"\na"}, []string{"\nb"}},
		{`\w`, []string{"ª", "µ", "ˬ", "ˮ", "a"}, []string{"«", "\u02ed", "-"}},
		{`^[\w-]$`, []string{"ª", "-", "_"}, []string{"«", "."}},
		{`\b`, []string{"é", "a"}, []string{"", "-"}},
		{`\B`, []string{"-", "ab", "é-é-"}, []string{""}},
		{`(?a)\b`, []string{"a"}, []string{"é", ""}},
		{`(?a)\B`, []string{"é", "ab"}, []string{"", "a"}},
		{strings.Repeat("(a)", 90) + strings.Repeat("(?:b)", 600), nil, []string{"ab"}},
	} {
		q := question{pattern: c.pattern, flags: []string{}, subjects: slices.Concat(c.found, c.lost)}
		questions = append(questions, q)
		p, err := match.Compile(c.pattern, match.Options{})
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		for i, s := range q.subjects {
			if got, err := p.Search(s); err != nil || got != (i < len(c.found)) {
				t.Errorf("%q in %q: %t, %v", c.pattern, s, got, err)
			}
		}
		questions[len(questions)-1].found = len(c.found)
	}
	for i, answers := range ask(t, questions) {
		for k, got := range answers {
			if q := questions[i]; answers == nil || got != (k < q.found) {
				t.Errorf("%q in %q: Python says %t", q.pattern, q.subjects[k], got)
			}
		}
	}
}
