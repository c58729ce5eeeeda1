package outline_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/outline"
)

// render writes an outline with the source text of each part.
func render(src string) string {
	var o outline.Outline
	o.Scan([]byte(src))
	var b strings.Builder
	for _, g := range o.Groups {
		fmt.Fprintf(&b, "group %s\n", src[g.Open:g.Close+1])
	}
	for i, it := range o.Items {
		fmt.Fprintf(&b, "item %d %s | %s", i, src[it.From:it.To], src[it.Value:it.To])
		if it.Prev >= 0 {
			fmt.Fprintf(&b, " after %d", it.Prev)
		}
		b.WriteByte('\n')
	}
	for _, e := range o.Elements {
		fmt.Fprintf(&b, "element %s: %s\n", src[e.From+1:e.From+1+e.NameLen], src[e.OpenTo:e.CloseFrom])
	}
	return b.String()
}

func TestScan(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"json", `{"a": [1, -2.5e3], "b,": null}`, `group [1, -2.5e3]
group {"a": [1, -2.5e3], "b,": null}
item 0 1 | 1
item 1 -2.5e3 | -2.5e3 after 0
item 2 "a": [1, -2.5e3] | [1, -2.5e3]
item 3 "b,": null | null after 2
`},
		{"broken json", `{"a": [1, 2, "b": {`, "item 0 1 | 1\nitem 1 2 | 2 after 0\n"},
		{"stray close", `a ] (b) }`, "group (b)\nitem 0 b | b\n"},
		{"skipped open", `{a [b c}`, "group {a [b c}\nitem 0 a [b c | a [b c\n"},
		{"xml", `<a x="1>2"><b/>t<c>u</c></a>`, "element b: \nelement c: u\nelement a: <b/>t<c>u</c>\n"},
		{"broken xml", `<a><b>x</a><c`, "element a: <b>x\n"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := render(c.src); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestTokens(t *testing.T) {
	src := "x1 = -5-3; 'a\\'b' \"open\n0x1F 1.e `m\nn`\x00é"
	var o outline.Outline
	o.Scan([]byte(src))
	kinds := map[string]outline.Kind{}
	for _, tok := range o.Tokens {
		kinds[src[tok.From:tok.To]] = tok.Kind
	}
	for text, kind := range map[string]outline.Kind{
		"x1": outline.Word, "=": outline.Punct, "-5": outline.Number, "-": outline.Punct, "3": outline.Number,
		`'a\'b'`: outline.String, `"`: outline.Punct, "open": outline.Word, "\n": outline.Space,
		"0x1F": outline.Number, "1": outline.Number, "e": outline.Word, "`m\nn`": outline.String,
		"\x00": outline.Control, "é": outline.Word,
	} {
		if got, ok := kinds[text]; !ok || got != kind {
			t.Errorf("%q: kind %d (found: %v), want %d", text, got, ok, kind)
		}
	}
}

// FuzzScan checks that tokens tile the input and that all else lies inside it,
// whatever the input.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":[1,2]}`, "<a><b/></a>", "f(x; y = 'z')", "}](", "<a", `"\`, "((((", "<a b='></a>", `"\"\"'\'"'`, "'\\'\n\\''`\\`\n`", strings.Repeat(`\"`, 2100) + `"\"\'"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var o outline.Outline
		o.Scan(src)
		at := 0
		var rest outline.Outline
		for _, tok := range o.Tokens {
			if strings.IndexByte("\"'`", src[tok.From]) >= 0 { // what stands before it decides nothing
				if rest.Scan(src[tok.From:min(len(src), tok.From+8192)]); rest.Tokens[0].Kind != tok.Kind || rest.Tokens[0].To != tok.To-tok.From {
					t.Fatalf("token %v is %v by itself", tok, rest.Tokens[0])
				}
			}
			if tok.From != at || tok.To <= tok.From {
				t.Fatalf("token %v does not begin at %d", tok, at)
			}
			at = tok.To
		}
		if at != len(src) {
			t.Fatalf("tokens end at %d of %d", at, len(src))
		}
		for _, g := range o.Groups {
			if g.Open < 0 || g.Close <= g.Open || g.Close >= len(src) {
				t.Fatalf("group %v", g)
			}
		}
		for i, it := range o.Items {
			if it.From < 0 || it.To <= it.From || it.To > len(src) || it.Value < it.From || it.Value > it.To || it.Prev >= i {
				t.Fatalf("item %d %v", i, it)
			}
			if it.Prev >= 0 && o.Items[it.Prev].To > it.From {
				t.Fatalf("items %v and %v overlap", o.Items[it.Prev], it)
			}
		}
		for _, e := range o.Elements {
			if e.From < 0 || e.OpenTo <= e.From || e.CloseFrom < e.OpenTo || e.To < e.CloseFrom || e.To > len(src) ||
				e.From+1+e.NameLen > e.OpenTo {
				t.Fatalf("element %v", e)
			}
		}
	})
}

// Quotes that end no string do not have each other's text looked at again and again.
func TestScanIsLinear(t *testing.T) {
	took := func(src string) time.Duration {
		var o outline.Outline
		least := time.Hour
		for range 3 {
			began := time.Now()
			o.Scan([]byte(strings.Repeat(src, 1<<18)))
			least = min(least, time.Since(began))
		}
		return least
	}
	if usual, odd := took("x "), took(`\"`); odd > 50*usual {
		t.Errorf("text of quotes behind backslashes takes %v, words %v", odd, usual)
	}
}

func BenchmarkScan(b *testing.B) {
	src := []byte(strings.Repeat(`{"key": [1, 2.5, "three", {"four": null}]},`+"\n", 24))
	var o outline.Outline
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for range b.N {
		o.Scan(src)
	}
}

// What is text is judged by bytes from all over an input.
func TestTexty(t *testing.T) {
	for _, c := range []struct {
		src  string
		want bool
	}{
		{"", false}, {"a", true}, {"\x00", false}, {"abc\x01", true}, {"ab\x01", false}, {"abc\x7f\x7f", false}, {"abcdef\xff\x80", true}, {"abcde\xff\x80", false},
		{strings.Repeat("a\x00", 200), true}, // a byte of six is looked at
		{strings.Repeat("\x00a", 200), false},
		{strings.Repeat("a\x00", 60), false},
		{strings.Repeat("a", 96) + strings.Repeat("\x00", 33), false},
		{strings.Repeat("a", 96) + strings.Repeat("\x00", 32), true},
		{strings.Repeat("\t\n\r ", 8), true},
	} {
		if got := outline.Texty([]byte(c.src)); got != c.want {
			t.Errorf("%.20q of %d bytes: %v", c.src, len(c.src), got)
		}
	}
}
