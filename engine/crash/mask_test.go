package crash

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestMask(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"  plain \t words\n", "plain words"},
		{"a\x01\x02b \xff\xfe c", "a<raw>b <raw> c"},
		{"naïve – ok", "naïve – ok"},
		{"a\x80b 0x 0xg 0x7", "a<raw>b <n>x <n>xg <n>"},
		{`bad tag 'q\'x' here`, "bad tag <str> here"},
		{"option `--x' and `y` and \"z\"", "option <str> and <str> and <str>"},
		{"can't parse the users' file", "can't parse the users' file"},
		{"unexpected token 'abc", "unexpected token <str>"},
		{"unexpected token 'abc\nnext", "unexpected token <str> next"},
		{"‘smart’ “quotes”", "<str>"},
		{"KeyError: ' '", "KeyError: <str>"},
		{`KeyError: ' a b' of " c"`, "KeyError: <str> of <str>"},
		{"an odd ' and no other", "an odd ' and no other"},
		{"get https://example.org:80/a?b=1 failed", "get <url> failed"},
		{"open /tmp/run-17/in.bin: no such file", "open <path>: no such file"},
		{"open ~/x.", "open <path>."},
		{`open C:\Users\me\x.txt: denied`, "open <path>: denied"},
		{"src/x.rs:12:3 and/or", "src/x.rs:<n>:<n> and/or"},
		{"7 // 2 = 3 and //srv/x", "<n> // <n> = <n> and <path>"},
		{"in tmpab3k_9xq and tmp.Xy12Zwabcd", "in <tmp> and <tmp>"},
		{"tmpfile and tmp.go", "tmpfile and tmp.go"},
		{"id 123e4567-e89b-12d3-a456-426614174000 gone", "id <uuid> gone"},
		{"2026-11-21T03:50:03.123Z fail", "<time> fail"},
		{"2026/11/21 03:50:03 fail", "<time> fail"},
		{"at 03:50:03,5 fail", "at <time> fail"},
		{"Nov 21 03:50:03 host x[12]: fail", "<time> host x[<n>]: fail"},
		{"Sat Nov 21 03:50:03 UTC 2026: fail", "<time>: fail"},
		{"Sun is a star, Jan 1 too", "Sun is a star, Jan <n> too"},
		{"==123==ERROR pid 77 0x7ffe12 4f ff", "==<n>==ERROR pid <n> ff"},
		{"deadbeef cafe1", "deadbeef <n>"},
		{"x = -17, +3.5e-7 and 1.2.3", "x = <n> and <n>"},
		{"bytes: 00 01, 0a ff", "bytes: <n> ff"},
		{"line 3:4: char8", "line <n>:<n>: char<n>"},
		{"range 3-5", "range <n>-<n>"},
	} {
		if got := Mask(c.in); got != c.want {
			t.Errorf("Mask(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestMaskBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`([a-z0-9_ '"/:.<>\x00-\x7fé…-]|0x|tmp|\n){0,300}`).Draw(t, "s")
		m := Mask(s)
		if n := utf8.RuneCountInString(m); n > maxMessage || strings.ContainsAny(m, "\n\r\t\x1b") || !utf8.ValidString(m) {
			t.Fatalf("Mask(%q) = %q, %d characters", s, m, n)
		}
		for i := range len(m) {
			if isDigit(m[i]) {
				t.Fatalf("Mask(%q) = %q keeps a number", s, m)
			}
		}
	})
}

// Messages that differ in numbers and quoted text alone give one message.
func TestMaskIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.OneOf(rapid.StringMatching(`-?[0-9]{1,12}`), rapid.StringMatching(`0x[0-9a-f]{1,16}`))
		str := rapid.StringMatching(`[^'\\\n\x00]{0,20}[a-zA-Z]`)
		path := rapid.StringMatching(`/(tmp|home/[a-z]{1,8})/[a-zA-Z0-9_.-]{0,20}[a-z]`)
		say := func(i string) string {
			return "tool: " + path.Draw(t, "path"+i) + ": line " + num.Draw(t, "line"+i) + ": bad tag 'x" + str.Draw(t, "str"+i) + "' (" + num.Draw(t, "n"+i) + ")"
		}
		if a, b := say("a"), say("b"); Mask(a) != Mask(b) {
			t.Fatalf("%q\n%q\n%q\n%q", a, b, Mask(a), Mask(b))
		}
	})
}
