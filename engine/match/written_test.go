package match

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// What the two engines are given: which patterns need to backtrack, which are right in texts
// of ASCII alone, and that sets are written short.
func TestWritten(t *testing.T) {
	const none = "" // what the linear engine cannot do
	for _, c := range []struct {
		pattern, linear string
		ascii           bool
		backtracking    string
	}{
		{`a?b*c+d{2,}e{1,3}`, `(?:a)?(?:b)*(?:c)+(?:d){2,}(?:e){1,3}`, false, `(?:a)?(?:b)*(?:c)+(?:d){2,}(?:e){1,3}`},
		{`a{1}b{1,2}c{0,2}`, `(?:a){1,1}(?:b){1,2}(?:c){0,2}`, false, `(?:a){1,1}(?:b){1,2}(?:c){0,2}`},
		{`a+?`, `(?:a)+?`, false, `(?:a)+?`},
		{`a++`, none, false, `(?>(?:a)+)`},
		{`a$`, `a(?:\n?\z)`, false, `a\Z`},
		{`b|a$`, `(?:b|a(?:\n?\z))`, false, `(?:b|a\Z)`},
		{`(b$|c)`, `(?:(?:b(?:\n?\z)|c))`, false, `(?:(?:b\Z|c))`},
		{`a$b`, none, false, `a\Zb`},
		{`(?:a$)*`, none, false, `(?:a\Z)*`},
		{`$$`, none, false, `\Z\Z`},
		{`(?m)^a$\Z`, `(?m:^)a(?m:$)\z`, false, `(?m:^)a(?m:$)\z`},
		{`^a`, `\Aa`, false, `\Aa`},
		{`(a)(b)\2`, none, false, `(?:a)(?<1>b)(?:\k<1>)`},
		{`(a)(b)\2\1`, none, false, `(?<1>a)(?<2>b)(?:\k<2>)(?:\k<1>)`},
		{`(a)(?i:\1)`, none, false, `(?<1>a)(?i:\k<1>)`},
		{`(a)?(?(1)b|c)`, none, false, `(?:(?<1>a))?(?(1)(?:b)|(?:c))`},
		{`(?=a)(?!b)(?<=c)(?<!d)(?>e)`, none, false, `(?=a)(?!b)(?<=c)(?<!d)(?>e)`},
		{`(?a)\b\d`, `\b[0-9]`, false, `(?:(?<=[0-9A-Z_a-z])(?![0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?=[0-9A-Z_a-z]))[0-9]`},
		{`\b`, `\b`, true, `(?:(?<=[\p{L}\p{N}_])(?![\p{L}\p{N}_])|(?<![\p{L}\p{N}_])(?=[\p{L}\p{N}_]))`},
		{`(?a)\B`, `\B`, true, `(?:(?<=[0-9A-Z_a-z])(?=[0-9A-Z_a-z])|(?!\A\z)(?<![0-9A-Z_a-z])(?![0-9A-Z_a-z]))`},
		{`[cba][d-fe-g]`, `[a-c][d-g]`, false, `[a-c][d-g]`},
		{`[\d]`, `[\p{Nd}]`, false, `[\p{Nd}]`},
		{`[\dx]`, `[\p{Nd}x]`, false, `[\p{Nd}x]`},
		{`[\w.]`, `[\p{L}\p{N}\._]`, false, `[\p{L}\p{N}\._]`},
		{`\W`, `[^\p{L}\p{N}_]`, false, `[^\p{L}\p{N}_]`},
		{`[^a]`, `[^a]`, false, `[^a]`},
		{`[^ac]`, `[^ac]`, false, `[^ac]`},
		{`[\x00-\x10]`, `[\x{0}-\x{10}]`, false, `[\u0000-\u0010]`},
		{`[b-\U0010ffff]`, `[b-\x{10ffff}]`, false, `[b-` + "\U0010ffff]"},
		{`[^\x00a]`, `[^\x{0}a]`, false, `[^\u0000a]`},
		{`[\x00a]`, `[\x{0}a]`, false, `[\u0000a]`},
		{`[ab-]`, `[\-a-b]`, false, `[\-a-b]`},
		{`.`, `[^\x{a}]`, false, `[^\u000a]`},
		{`(?s).`, `(?s:.)`, false, `(?s:.)`},
		{`[^\s\S]`, `[^\x00-\x{10ffff}]`, false, `(?!)`},
		{" ~\x7f\u00e9\uffff\U00010000", ` ~\x{7f}\x{e9}\x{ffff}\x{10000}`, false, ` ~\u007f\u00e9\uffff` + "\U00010000"},
	} {
		tree, err := parse(c.pattern, flags{})
		if err != nil {
			t.Fatal(err)
		}
		text, ascii, ok := emitLinear(tree)
		if ok != (c.linear != none) || ok && (text != c.linear || ascii != c.ascii) {
			t.Errorf("%q is %s for the linear engine, %t, %t", c.pattern, text, ascii, ok)
		}
		if text = emitBacktracking(tree); text != c.backtracking {
			t.Errorf("%q is %s for the backtracking engine", c.pattern, text)
		}
	}
}

// Who searches, and for how long.
func TestEngines(t *testing.T) {
	for pattern, want := range map[string]string{
		"abc": "literal", "a.c": "linear", `a(?=b)`: "backtracking", `\bfoo`: "words", "a{2000}": "backtracking", "": "literal", "(a)b": "literal",
	} {
		p, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := "backtracking"
		switch {
		case p.isLiteral:
			got = "literal"
		case p.linear != nil && p.asciiWords:
			got = "words"
		case p.linear != nil:
			got = "linear"
		}
		if got != want || p.timeout != DefaultTimeout || p.String() != pattern {
			t.Errorf("%q: %s, %v, want %s", p, got, p.timeout, want)
		}
	}
	p, err := Compile(`(a|aa)+\1c`, Options{Timeout: time.Nanosecond})
	if err != nil || p.timeout != time.Nanosecond {
		t.Fatal(err, p.timeout)
	}
	if found, err := p.Search(strings.Repeat("a", 200)); found || !errors.Is(err, ErrTimeout) {
		t.Errorf("%t, %v", found, err)
	}
	for text, want := range map[string]bool{"": true, "a\x7f": true, "\u0080": false, "\x80": false, "aé": false} {
		if isASCII(text) != want {
			t.Errorf("isASCII(%q)", text)
		}
	}
}

// A text that is not UTF-8 is read as Python keeps it.
func TestDecode(t *testing.T) {
	for text, want := range map[string][]rune{
		"aé":                       {'a', 'é'},
		"a\xed\xa0\x80\ufffd\xff":  {'a', 0xd800, 0xfffd, 0xdcff},
		"\xed\xa1\x81":             {0xd841},
		"\xed\xaf\xbf\xed\xb0\x81": {0xdbff, 0xdc01},
		"\xed\xbf\xbf":             {0xdfff},
		"\xed\xa0":                 {0xdced, 0xdca0},
		"\xed\xa0a":                {0xdced, 0xdca0, 'a'},
		"\xed\xa0\xc0":             {0xdced, 0xdca0, 0xdcc0},
		"\xee\xa0\xff":             {0xdcee, 0xdca0, 0xdcff},
		"\xed":                     {0xdced},
		"\xa0\xa0\x80":             {0xdca0, 0xdca0, 0xdc80},
	} {
		if got := decode(text); !slices.Equal(got, want) {
			t.Errorf("%q: %x, want %x", text, got, want)
		}
	}
}

// Groups nest to a limit; those beside each other do not count.
func TestNesting(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("(?:", n) + "a" + strings.Repeat(")", n) }
	for pattern, ok := range map[string]bool{nested(maxNesting - 1): true, nested(maxNesting): false, strings.Repeat("(?:a)", 2*maxNesting): true} {
		if _, err := parse(pattern, flags{}); (err == nil) != ok {
			t.Errorf("%d characters: %v", len(pattern), err)
		}
	}
}

func TestWidths(t *testing.T) {
	for _, c := range [][3]int{{0, 5, 0}, {3, 4, 12}, {2, unlimited / 2, unlimited - 1}, {2, unlimited/2 + 1, unlimited}, {3, unlimited, unlimited}, {1, unlimited, unlimited}} {
		if got := times(c[0], c[1]); got != c[2] {
			t.Errorf("%d times %d is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
