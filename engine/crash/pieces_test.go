package crash

import (
	"strings"
	"testing"
)

// A clock in a program's words is not part of a cause, in any of its forms, and what is
// none stays.
func TestTimes(t *testing.T) {
	for _, marked := range []string{ // the time ends at the bar; without one there is none
		"Mon Jan  2 15:04:05 2026| x", "Mon, Jan 2 15:04:05|", "Mon Jan 12 15:04:05|", "Jan 02 15:04:05.123| x", "Jan 2 15:04:05 UTC 2026|", "Dec 2 15:04:05+01:00| x",
		"Jan 2 15:04:05", "Jan", "Jan ", "Jan 2", "Jan 2 ", "Jan 2 15:04", "Jan 123 15:04:05", "Jan x 15:04:05", "Jan  15:04:05", "Jan 2x15:04:05", "January 2 15:04:05", "anF 2 15:04:05", "Feb, 3 15:04:05",
		"Sun", "Sun ", "Mon 15:04:05", "Mon 2026-01-31", "unM Jan 2 15:04:05", "Mon-Jan 2 15:04:05", "Fri, Sat, Jan 2 15:04:05",
		"2026-01-31|", "2026/01/31| x", "2026-01-31T15:04:05Z|", "2026-01-31 15:04:05,123| x", "2026/01/31_15:04:05+0200|x", "2026-01-31T|", "2026-01-31 15:04|", "2026-01-31x15:04:05|",
		"2026-01-311", "2026-1-31", "2026-01/31", "2026/01-31", "202a-01-31", "2026-0a-31", "2026-01-3a", "2026-01-3", "2026.01.31", "2026-01-31-15:04:05|",
		"15:04:05|", "15:04:05.| x", "15:04:05.5|", "15:04:05,123456| x", "15:04:05.|", "15:04:05;5|", "15:04:0", "15-04:05", "15:04-05", "1a:04:05", "15:0a:05", "15:04:0a",
		"15:04:05Z|", "15:04:05+0|", "15:04:05-0130| x", "15:04:05+01:30| x", "15:04:05+01:| x", "15:04:05+0a:30|", "15:04:05-a1:30|", "15:04:05*01:30|",
		"15:04:05 UTC| x", "15:04:05 GMT 2026| x", "15:04:05 2026|", "15:04:05 2026| x", "15:04:05 2026x", "15:04:05 202| x", "15:04:05 202a|", "15:04:05x2026|",
	} {
		s, rest, is := strings.Cut(marked, "|")
		want := len(s)
		switch marked {
		case "Jan 2 15:04:05":
			want, is = len(s), true
		case "15:04:05 2026x":
			want, is = len("15:04:05"), true
		case "15:04:05.| x", "15:04:05.|", "15:04:05;5|", "15:04:05+0|", "15:04:05+0a:30|", "15:04:05-a1:30|", "15:04:05*01:30|", "15:04:05 202| x", "15:04:05 202a|", "15:04:05x2026|":
			want = len("15:04:05")
		case "2026-01-31T|", "2026-01-31 15:04|", "2026-01-31x15:04:05|", "2026-01-31-15:04:05|":
			want = len("2026-01-31")
		}
		if !is {
			want = 0
		}
		if got := timeLen(s + rest); got != want {
			t.Errorf("%q: the first %d, want %d", s+rest, got, want)
		}
	}
}

// The colours of a terminal are not part of what a program says.
func TestColoursAreNoWords(t *testing.T) {
	for s, want := range map[string]string{
		"":                           "",
		"plain":                      "plain",
		"\x1b[31mred\x1b[0m":         "red",
		"a\x1b[1;38;5;9mb\x1b[Kc":    "abc",
		"a\x1bb":                     "ab",
		"a\x1b\x1b[1mb":              "ab",
		"a\x1b[31":                   "a",
		"a\x1b[":                     "a",
		"a\x1b":                      "a",
		"a\x1b[@b":                   "ab",
		"a\x1b[~b":                   "ab",
		"a\x1b[\x7f~b":               "ab",
		"a\x1b[1?b":                  "a",
		"[31m stays":                 "[31m stays",
		"x\x1b[31my\x1b[32mz\x1b[0m": "xyz",
		"\x1b[1mERROR: AddressSanitizer: heap-buffer-overflow\x1b[0m": "ERROR: AddressSanitizer: heap-buffer-overflow",
	} {
		if got := stripEscapes(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// The name of a function is the same however a compiler or a debugger writes it.
func TestFunctionNames(t *testing.T) {
	for s, want := range map[string]string{
		"parse":                   "parse",
		"  parse  ":               "parse",
		"parse(char const*, int)": "parse",
		"parse [clone .cold]":     "parse",
		"int parse<int>(int)":     "parse",
		"std::vector<int, std::allocator<int> >::at(unsigned long)": "std::vector::at",
		"(anonymous namespace)::parse(int)":                         "anon::parse",
		"{anonymous}::parse(int)":                                   "anon::parse",
		"a::operator()(int)":                                        "a::operator()",
		"bool a::operator<(b const&)":                               "a::operator<",
		"operator new(unsigned long)":                               "operator new",
		"cooperator(int)":                                           "cooperator",
		"<a::B as c::D>::method":                                    "a::B::method",
		"<a::B<c::E> as c::D<f>>::method":                           "a::B::method",
		"<a::B>::method":                                            "a::B::method",
		"<A as B>::method":                                          "A::method",
		"<alloc::vec::Vec<T, A> as core::ops::Index<I>>::index::h0123456789abcdef": "alloc::vec::Vec::index",
		"main::run::h0123456789abcdef":                                             "main::run",
		"main::run::h0123":                                                         "main::run::h0123",
		"main::{{closure}}":                                                        "main::closure",
		"main::{closure#0}":                                                        "main::closure",
		"main::{closure#0}::{closure#1}":                                           "main::closure::closure",
		"parse.part.0":                                                             "parse",
		"parse.cold":                                                               "parse",
		".cold":                                                                    ".cold",
		"$_12run":                                                                  "lambdarun",
		"f@plt":                                                                    "f",
		"std::string a::name[abi:cxx11](int)":                                      "a::name",
		"a > b":                                                                    "b",
		"f}":                                                                       "f",
	} {
		if got := FunctionName(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// Words of a message that differ from run to run are masked up to where they end.
func TestMaskedWords(t *testing.T) {
	for in, want := range map[string]string{
		"see http://a.b/c?d=1\"x":           "see <url>\"x",
		"see ftp://a":                       "see <url>",
		"see a://":                          "see <url>",
		`at C:\a\b|c`:                       "at <path>|c",
		`at C:\a:9`:                         "at <path>:<n>",
		`at 9:\a`:                           `at <n>:\a`,
		`at C:x`:                            "at C:x",
		"tmp.123456 x":                      "<tmp> x",
		"tmp.12345 x":                       "tmp.<n> x",
		"tmp.123456789012":                  "<tmp>",
		"tmp.1234567890123":                 "tmp.<n>",
		"tmp1234_678 x":                     "<tmp> x",
		"tmpabcdefgh x":                     "tmpabcdefgh x",
		"ab12cd34 x":                        "<n> x",
		"a\tb\n\nc":                         "a b c",
		"\t a":                              "a",
		"a \v\f\r b":                        "a b",
		"a\x1fb\x7fc":                       "a<raw>b<raw>c",
		"f(-1) g[+2] h{-3} i=-4 j:-5 k<-6>": "f(<n>) g[<n>] h{<n>} i=<n> j:<n> k<<n>>",
		"a-1 b+2":                           "a-<n> b+<n>",
		"- 1":                               "- <n>",
		"-":                                 "-",
		"x -":                               "x -",
		"/":                                 "/",
		"a / b":                             "a / b",
		"/a":                                "<path>",
		"1 2 3 4 5 x":                       "<n> x",
		"1,2, 3 ,4 x":                       "<n> x",
		"1     2":                           "<n>",
		"1 , , , 2":                         "<n> , , , <n>",
		"한글 7 글":                            "한글 <n> 글",
	} {
		if got := Mask(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A path of Windows begins with any letter and nothing else.
func TestDrives(t *testing.T) {
	for c, drive := range map[string]bool{"a": true, "A": true, "z": true, "Z": true, "@": false, "[": false, "{": false} {
		if got := Mask("at " + c + `:\x`); (got == "at <path>") != drive {
			t.Errorf("%s: %q", c, got)
		}
	}
}

// What was seen of a crash by looking at it tells what its report does not.
func TestStacksThatWereSeen(t *testing.T) {
	places := []string{"copy (a.c:3)", "main (a.c:9)"}
	seen := &Stack{Kind: "null pointer read", Places: places, Fault: "copy (a.c:3)"}
	for name, c := range map[string]struct {
		d      Death
		untold bool
		frames string
		title  string // begins so
		said   string // the message
	}{
		"a fault":              {Death{Signal: 11, Stderr: []byte("at record 7\n")}, true, "", "SIGSEGV", "at record <n>"},
		"an abort":             {Death{Signal: 6}, true, "", "SIGABRT", ""},
		"it was ended":         {Death{Signal: 15}, false, "", "SIGTERM", ""},
		"it exits":             {Death{ExitCode: 1}, false, "", "exit status 1", ""},
		"it is late":           {Death{Signal: 11, TimedOut: true}, false, "", "timeout", ""},
		"a fault that is seen": {Death{Signal: 11, Stderr: []byte("at record 7\n"), Stack: seen}, false, strings.Join(places, "|"), "SIGSEGV: null pointer read", ""},
		"only its kind":        {Death{Signal: 11, Stderr: []byte("at record 7\n"), Stack: &Stack{Kind: "wild write"}}, true, "", "SIGSEGV: wild write", "at record <n>"},
		"one place":            {Death{Signal: 11, Stack: &Stack{Kind: "wild write", Places: places[:1]}}, false, places[0], "SIGSEGV: wild write", ""},
	} {
		got := Analyze(c.d)
		if got.Untold() != c.untold || strings.Join(got.Frames, "|") != c.frames || !strings.HasPrefix(got.Title, c.title) || got.Message != c.said {
			t.Errorf("%s: untold %t, frames %q, title %q, message %q", name, got.Untold(), got.Frames, got.Title, got.Message)
		}
	}
	for n, want := range map[int]string{-1: "signal -1", 0: "signal 0", 1: "SIGHUP", 31: "SIGSYS", 32: "signal 32", 64: "signal 64"} {
		if got := signalName(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// Of a long output the beginning and the end are looked at, each from whole lines; of a
// long line its beginning and its end.
func TestLongOutputs(t *testing.T) {
	const report = "==9==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011\n    #0 0x51 in parse /src/p.c:7:3\n"
	chatter := strings.Repeat("reading the next record\n", (windowHead+windowTail)/24)
	for name, c := range map[string]struct {
		stderr string
		found  bool
	}{
		"at the beginning":    {report + chatter, true},
		"at the end":          {chatter + report, true},
		"in the middle":       {chatter + report + chatter, false},
		"short":               {chatter[:100*24] + report + chatter[:100*24], true},
		"as long as is read":  {chatter[:windowTail/24*24] + report + chatter[:windowHead/24*24-len(report)], true},
		"behind a long line":  {strings.Repeat("x", windowHead+windowTail) + "\n" + report, true},
		"before a long line":  {report + strings.Repeat("x", windowHead+windowTail), true},
		"no end of a line":    {strings.Repeat("x", windowHead+windowTail+1), false},
		"an end at the bound": {chatter[:windowHead/24*24] + strings.Repeat("x", windowHead%24-1) + "\n" + chatter + report, true},
	} {
		if got := Analyze(Death{Stderr: []byte(c.stderr)}); (got.Class == ClassSanitizer) != c.found {
			t.Errorf("%s: %s %q", name, got.Class, got.Title)
		}
	}
	for n, want := range map[int]string{
		windowHead + windowTail:     strings.Repeat("a\n", (windowHead+windowTail)/2),
		windowHead + windowTail + 2: strings.Repeat("a\n", windowHead/2) + "\n" + strings.Repeat("a\n", windowTail/2-1), // a whole line more is passed over
	} {
		if got := strings.Join(newText([]byte(strings.Repeat("a\n", n/2))).lines, "\n") + "\n"; len(got) != len(want) || got != want {
			t.Errorf("of %d bytes %d are lines, want %d", n, len(got), len(want))
		}
	}
	for n, want := range map[int]int{maxLine - 1: maxLine - 1, maxLine: maxLine, maxLine + 1: maxLine} {
		line := "b" + strings.Repeat("x", n-2) + "e"
		if got := newText([]byte(line)).lines[0]; len(got) != want || got[0] != 'b' || got[want-1] != 'e' {
			t.Errorf("of a line of %d characters %d are read: %.3s ... %s", n, len(got), got, got[len(got)-3:])
		}
	}
}

// The line that names a Java exception stands before its first frame and what its message has
// more lines of.
func TestJavaExceptions(t *testing.T) {
	const frame = "\tat a.B.c(B.java:3)\n"
	more := strings.Repeat("more\n", javaMessage)
	for stderr, want := range map[string]string{
		"java.lang.Bad: one\n" + frame:                                                     "java.lang.Bad in a.B.c (B.java:3): one",
		"java.lang.Bad: one\ntwo three\nfour\n" + frame:                                    "java.lang.Bad in a.B.c (B.java:3): one two three four",
		"java.lang.Bad: one\nread from b.txt: failed\n" + frame:                            "java.lang.Bad in a.B.c (B.java:3): one read from b.txt: failed",
		"Exception in thread \"main\" java.lang.Bad: one\nsee a.txt: two\n" + frame:        "java.lang.Bad in a.B.c (B.java:3): one see a.txt: two",
		"first.Bad: zero\n" + frame + "java.lang.Bad: one\n" + frame:                       "first.Bad in a.B.c (B.java:3): zero",
		"java.lang.Bad: one\n" + more[:5*(javaMessage-2)] + frame:                          "java.lang.Bad in a.B.c (B.java:3): one " + strings.TrimSpace(strings.ReplaceAll(more[:5*(javaMessage-2)], "\n", " ")),
		"java.lang.Bad: one\n" + more[:5*(javaMessage-1)] + frame:                          "more in a.B.c (B.java:3)",
		"java.lang.Bad: one\n" + frame + "Caused by: b.Worse: two\n" + frame:               "b.Worse in a.B.c (B.java:3): two",
		"java.lang.Bad: one\n" + frame + "Caused by: b.Worse: two\nthree\n" + frame:        "b.Worse in a.B.c (B.java:3): two three",
		"java.lang.Bad: one\n" + frame + "\t... 3 more\nCaused by: b.Worse: two\n" + frame: "b.Worse in a.B.c (B.java:3): two",
	} {
		if got := Analyze(Death{ExitCode: 1, Stderr: []byte(stderr)}).Title; got != want {
			t.Errorf("%s\n%q, want %q", stderr, got, want)
		}
	}
}

// What Python and PHP run a program by is no frame of the program's own, and frames end where
// a trace does.
func TestFramesOfScripts(t *testing.T) {
	for stderr, want := range map[string]string{
		"Traceback (most recent call last):\n  File \"<frozen runpy>\", line 198, in _run_module_as_main\n  File \"<frozen runpy>\", line 88, in _run_code\n  File \"/src/a.py\", line 3, in parse\n    x\nKeyError: 'x'\n": "a.py:parse",
		"Traceback (most recent call last):\n  File \"/usr/lib/python3.9/runpy.py\", line 197, in _run_module_as_main\n    x\n  File \"/src/a.py\", line 3, in parse\n    x\nKeyError: 'x'\n":                               "a.py:parse",
		"PHP Fatal error:  Uncaught Exception: bad in /src/a.php:3\nStack trace:\n#0 /src/a.php(9): parse('x')\nlog of another:\n#0 /src/b.php(9): other()\n":                                                               "parse",
		"PHP Fatal error:  Uncaught Exception: bad in /src/a.php:3\nStack trace:\n#0 /src/a.php(9): parse('x')\n#1 /src/a.php(12): run()\n#2 {main}\n  thrown in /src/a.php on line 3\n":                                    "parse run",
		"PHP Fatal error:  Uncaught Exception: bad in /src/a.php:3\nStack trace:\n#0 {main}\n  thrown in /src/a.php on line 3\n":                                                                                            "a.php:3",
	} {
		if got := strings.Join(Analyze(Death{ExitCode: 1, Stderr: []byte(stderr)}).Frames, " "); got != want {
			t.Errorf("%s\n%q, want %q", stderr, got, want)
		}
	}
	long := strings.Repeat("f", 119)
	for name, want := range map[string]string{long + "g": long + "g", long + "gh": long + "…"} {
		if got := FunctionName(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
