package shrink

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// problem is an input, a property of it and the one result that is right.
type problem struct {
	name  string
	input []byte
	holds func([]byte) bool
	want  string
	tests int // at most
}

func has(parts ...string) func([]byte) bool {
	return func(b []byte) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !bytes.Contains(b, []byte(p)) })
	}
}

// noise is n bytes that look random and are always the same.
func noise(n int) []byte {
	b, x := make([]byte, n), uint32(2463534242)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x >> 11)
	}
	return b
}

// prose is n bytes of words and lines without capitals, brackets or numbers.
func prose(n int) []byte {
	words := strings.Fields("the quick brown fox jumps over a lazy dog and then some more of it happens")
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		b.WriteString(words[i*7%len(words)])
		b.WriteByte(" \n"[btoi(i%9 == 8)])
	}
	return b.Bytes()[:n]
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// with puts parts into a text at places of it, given in thousandths.
func with(text []byte, at map[int]string) []byte {
	text = bytes.Clone(text)
	for place, part := range at {
		copy(text[place*len(text)/1000:], part)
	}
	return text
}

func document() []byte {
	type row map[string]any
	rows := []row{}
	for i := range 12 {
		rows = append(rows, row{"id": i, "name": fmt.Sprint("user ", i), "tags": []string{"x", "y,}", "z"}, "on": i%2 == 0, "score": 1.5 * float64(i)})
	}
	rows[7]["deep"] = row{"a": row{"list": []any{1, row{"key": 4711, "b": nil}, "s"}, "more": "text"}}
	text, _ := json.MarshalIndent(row{"rows": rows, "version": 3, "next": nil}, "", "  ")
	return text
}

// keyed reports whether a value holds an object with a key at a depth or deeper.
func keyed(v any, key string, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if k == key && depth <= 1 || keyed(e, key, depth-1) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return keyed(e, key, depth-1) })
	}
	return false
}

func balanced(b []byte) (depth int, ok bool) {
	var open []byte
	for _, c := range b {
		switch c {
		case '(', '[':
			open = append(open, c)
			depth = max(depth, len(open))
		case ')', ']':
			if len(open) == 0 || (open[len(open)-1] == '(') != (c == ')') {
				return 0, false
			}
			open = open[:len(open)-1]
		}
	}
	return depth, len(open) == 0
}

func elements(b []byte) (names []string, ok bool) {
	for d := xml.NewDecoder(bytes.NewReader(b)); ; {
		t, err := d.Token()
		if err != nil {
			return names, errors.Is(err, io.EOF)
		}
		if e, ok := t.(xml.StartElement); ok {
			names = append(names, e.Name.Local)
		}
	}
}

var size = regexp.MustCompile(`size=(\d+)`)

func problems() []problem {
	return []problem{
		{"nothing", noise(1024), func([]byte) bool { return true }, "", 2},
		{"whole", []byte("exact"), func(b []byte) bool { return string(b) == "exact" }, "exact", 80},
		{"three bytes in noise", with(noise(1024), map[int]string{617: "BUG"}), has("BUG"), "BUG", 90},
		{"three bytes in prose", with(prose(1024), map[int]string{317: "BUG"}), has("BUG"), "BUG", 90},
		{"three places in noise", with(noise(1024), map[int]string{10: "\xf1", 500: "\xf2", 990: "\xf3"}), has("\xf1", "\xf2", "\xf3"), "\xf1\xf2\xf3", 150},
		{"three places in prose", with(prose(1024), map[int]string{10: "X", 500: "Y", 990: "Z"}), has("X", "Y", "Z"), "XYZ", 150},
		{"order that does not count", with(prose(1024), map[int]string{10: "Y", 800: "X"}), has("X", "Y"), "XY", 120},
		{"length", noise(1024), func(b []byte) bool { return len(b) >= 300 }, strings.Repeat("a", 300), 80},
		{"even length", prose(400), func(b []byte) bool { return len(b)%2 == 0 && len(b) > 4 }, "aaaaaa", 80},
		{"threshold of a byte", noise(512), func(b []byte) bool { return slices.ContainsFunc(b, func(c byte) bool { return c >= 0x93 }) }, "\x93", 60},
		{"number", []byte(string(prose(300)) + "size=73450 and more"), func(b []byte) bool {
			m := size.FindSubmatch(b)
			if m == nil {
				return false
			}
			n, _ := strconv.Atoi(string(m[1]))
			return n >= 1033
		}, "size=1033", 200},
		{"brackets", []byte(string(prose(200)) + "f(a, [x, (y), g(h)], ((1)))" + string(prose(100))), func(b []byte) bool {
			depth, ok := balanced(b)
			return ok && depth >= 2 && bytes.Contains(b, []byte("(")) && bytes.Contains(b, []byte("y"))
		}, "y(())", 200},
		{"depth", []byte(strings.Repeat("[", 200) + "1, 2" + strings.Repeat("]", 200)), func(b []byte) bool {
			depth, ok := balanced(b)
			return ok && depth >= 3
		}, "((()))", 100},
		{"json key at a depth", document(), func(b []byte) bool {
			var v any
			return json.Unmarshal(b, &v) == nil && keyed(v, "key", 4)
		}, `[[[{"key":0}]]]`, 250},
		{"json number", document(), func(b []byte) bool {
			var v any
			return json.Unmarshal(b, &v) == nil && bytes.Contains(b, []byte("4711"))
		}, `4711`, 150},
		{"json valid", document(), func(b []byte) bool { return len(b) > 0 && json.Valid(b) }, `0`, 60},
		{"json lines", bytes.Repeat([]byte(`{"op":"get","n":1}`+"\n"), 40), func(b []byte) bool {
			return bytes.Count(b, []byte(`"op"`)) >= 2 && !slices.ContainsFunc(bytes.Split(bytes.TrimSpace(b), []byte("\n")), func(l []byte) bool { return !json.Valid(l) })
		}, "\"op\"\n\"op\"", 250},
		{"xml", []byte(`<?xml version="1.0"?><root a="1"><x>one</x><list><item n="2">text<bad/></item></list><y/></root>`), func(b []byte) bool {
			names, ok := elements(b)
			return ok && len(names) >= 2 && slices.Contains(names, "bad")
		}, `<a><bad/></a>`, 200},
		{"valid text", []byte("größer ist 東京 und ☃ mehr"), func(b []byte) bool { return utf8.Valid(b) && bytes.ContainsRune(b, '☃') }, "☃", 60},
		{"string", []byte(`x = call("some \" long text", 'it''s', 17);`), func(b []byte) bool {
			i := bytes.IndexByte(b, '"')
			return i >= 0 && bytes.IndexByte(b[i+1:], '"') >= 0
		}, `""`, 60},
	}
}

func TestBytesFindsTheSimplest(t *testing.T) {
	for _, p := range problems() {
		t.Run(p.name, func(t *testing.T) {
			got, stats := Bytes(context.Background(), p.input, func(b []byte) (bool, error) { return p.holds(b), nil })
			if stats.Err != nil {
				t.Fatal(stats.Err)
			}
			if string(got) != p.want {
				t.Errorf("%q with %d tests, want %q", got, stats.Tests, p.want)
			}
			if stats.Tests > p.tests {
				t.Errorf("%d tests, at most %d expected", stats.Tests, p.tests)
			}
			t.Logf("%4d -> %d bytes: %d tests", len(p.input), len(got), stats.Tests)
		})
	}
}

func TestBytesRefusesAnInputThatDoesNotHold(t *testing.T) {
	got, stats := Bytes(context.Background(), []byte("abc"), func([]byte) (bool, error) { return false, nil })
	if string(got) != "abc" || !errors.Is(stats.Err, ErrInput) || stats.Tests != 1 {
		t.Errorf("%q, %+v", got, stats)
	}
}

func TestBytesKeepsTheBestAtAnError(t *testing.T) {
	broken := errors.New("the target is gone")
	for budget := range 40 {
		var last []byte
		calls := 0
		got, stats := Bytes(context.Background(), with(prose(500), map[int]string{400: "BUG"}), func(b []byte) (bool, error) {
			if calls++; calls > budget {
				return true, broken // the answer beside an error counts for nothing
			}
			if has("BUG")(b) {
				last = bytes.Clone(b)
				return true, nil
			}
			return false, nil
		})
		if calls > budget+1 {
			t.Fatalf("%d calls after the first error", calls-budget-1)
		}
		if budget > 0 && !bytes.Equal(got, last) {
			t.Fatalf("budget %d: %q is not the last candidate that held, %q", budget, got, last)
		}
		if calls > budget && !errors.Is(stats.Err, broken) {
			t.Fatalf("budget %d: error %v", budget, stats.Err)
		}
	}
}

func TestBytesStopsWhenCancelled(t *testing.T) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	var last []byte
	got, stats := Bytes(ctx, noise(200), func(b []byte) (bool, error) {
		if ctx.Err() != nil {
			t.Error("tested when cancelled")
		}
		if len(b) <= 100 && len(b) > 0 {
			last = bytes.Clone(b)
			cancel(cause)
			return true, nil
		}
		return len(b) > 0, nil
	})
	if !bytes.Equal(got, last) || !errors.Is(stats.Err, cause) {
		t.Errorf("%d bytes, %v", len(got), stats.Err)
	}
}

func BenchmarkBytes(b *testing.B) {
	for _, p := range problems() {
		b.Run(strings.ReplaceAll(p.name, " ", "-"), func(b *testing.B) {
			var got []byte
			var stats Stats
			for b.Loop() {
				got, stats = Bytes(context.Background(), p.input, func(c []byte) (bool, error) { return p.holds(c), nil })
			}
			b.ReportMetric(float64(stats.Tests), "tests")
			b.ReportMetric(float64(len(got)), "bytes")
		})
	}
}
