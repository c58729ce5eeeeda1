package match

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// FuzzPattern holds the two engines against each other: where a pattern can be
// written for both, they find the same texts. Whatever is given, nothing but a
// *SyntaxError comes back.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a", `^\w+$`, "(?i)ſ[a-k]", `\bfoo\b`, "a{2,}?|(b)*", `[^\W\d_]+$`, "(?s).*\n$", "(?m)^a$|b$", `(?P<n>a)(?P=n)`, `(?<=a)b++`, "(?x) a # b\n[ ]", `\N{BULLET}`, `(?a)\d\B`} {
		f.Add(s, "foo a\nb é1٣\n")
	}
	f.Fuzz(func(t *testing.T, pattern, subject string) {
		if len(pattern) > 200 || len(subject) > 200 || strings.Contains(pattern, `\N{`) {
			t.Skip("slow, and no different")
		}
		tree, err := parse(pattern, flags{})
		if err != nil {
			if e, ok := err.(*SyntaxError); !ok || e.Problem == "" || e.Offset < 0 || e.Offset > utf8.RuneCountInString(pattern) {
				t.Fatalf("%q: %#v", pattern, err)
			}
			return
		}
		if text, ok := plain(tree); ok && !strings.Contains(pattern, "(") && regexp.QuoteMeta(pattern) == pattern && text != pattern && utf8.ValidString(pattern) {
			t.Fatalf("%q is the text %q", pattern, text)
		}
		slow, err := regexp2.Compile(emitBacktracking(tree), regexp2.None)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", pattern, emitBacktracking(tree), err)
		}
		written, asciiWords, ok := emitLinear(tree)
		if !ok || asciiWords && (subject == "" || !isASCII(subject)) || !utf8.ValidString(subject) {
			return
		}
		fast, err := regexp.Compile(written)
		if err != nil {
			if !strings.Contains(err.Error(), "repeat count") && !strings.Contains(err.Error(), "too large") {
				t.Fatalf("%q was written as %q: %v", pattern, written, err)
			}
			return
		}
		slow.MatchTimeout = 100 * time.Millisecond
		found, err := slow.MatchRunes(decode(subject))
		if err == nil && found != fast.MatchString(subject) {
			t.Fatalf("%q in %q: %v as %s, %v as %s", pattern, subject, found, slow, !found, fast)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	subject := strings.Repeat("2026-11-21 12:00:00 some ordinary line of output\n", 20) + "version: 1.2.3\n"
	for name, pattern := range map[string]string{"literal": "version", "linear": `^version: \d+\.\d+$|\d\.\d\.\d$`, "words": `\bversion\b`, "backtracking": `(?<=version: )1`} {
		p, err := Compile(pattern, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(subject)))
			for b.Loop() {
				if found, err := p.Search(subject); !found || err != nil {
					b.Fatal(found, err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(`(?i)^[\w.-]+@[\w-]+\.\w{2,}$`, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
