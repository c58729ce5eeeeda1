package bytemut_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/engine/bytemut"
)

// The place of an operand in the input, in whatever form, is given to the other one.
func TestSubstitutions(t *testing.T) {
	le := func(b ...byte) []byte { return b }
	number := func(a, b []byte) bytemut.Comparison {
		return bytemut.Comparison{Kind: bytemut.Numbers, Constant: true, A: a, B: b}
	}
	for _, c := range []struct {
		name, input, want string
		found             bytemut.Comparison
	}{
		{"little endian", "..\x01\x02\x03\x04..", "..\xaa\xbb\xcc\xdd..", number(le(0xaa, 0xbb, 0xcc, 0xdd), le(1, 2, 3, 4))},
		{"big endian", "..\x04\x03\x02\x01..", "..\xdd\xcc\xbb\xaa..", number(le(0xaa, 0xbb, 0xcc, 0xdd), le(1, 2, 3, 4))},
		{"8 bytes", "12345678", "abcdefgh", number([]byte("abcdefgh"), []byte("12345678"))},
		{"compared wider", "..\x01\x02..", "..\xaa\xbb..", number(le(0xaa, 0xbb, 0, 0, 0, 0, 0, 0), le(1, 2, 0, 0, 0, 0, 0, 0))},
		{"extended with its sign", "..\xfe\xff..", "..\x05\x80..", number(le(5, 0x80, 0xff, 0xff), le(0xfe, 0xff, 0xff, 0xff))},
		{"one byte", "..\x07..", "..\x09..", number(le(9), le(7))},
		{"one more", "..\x01\x02..", "..\xab\xbb..", number(le(0xaa, 0xbb), le(1, 2))},
		{"one less", "..\x01\x02..", "..\xff\xba..", number(le(0, 0xbb), le(1, 2))},
		{"a length with a header", "..\x6d\x61..", "..\x00\x15..", number(le(41, 0, 0, 0), le(0x75, 0x6d, 0, 0))},
		{"text of a number", "n=513;", "n=1000;", number(le(0xe8, 3), le(1, 2))},
		{"text of a negative number", "n=-2;", "n=-5;", number(le(0xfb, 0xff), le(0xfe, 0xff))},
		{"bytes", "..abcd..", "..WXYZ..", bytemut.Comparison{Kind: bytemut.Bytes, A: []byte("abcd"), B: []byte("WXYZ")}},
		{"the other way", "..WXYZ..", "..abcd..", bytemut.Comparison{Kind: bytemut.Bytes, A: []byte("abcd"), B: []byte("WXYZ")}},
		{"a longer word", "<ab>", "<length>", bytemut.Comparison{Kind: bytemut.Texts, A: []byte("ab"), B: []byte("length")}},
		{"the start of a text", "<abcdef>", "<XYcdef>", bytemut.Comparison{Kind: bytemut.Texts, A: []byte("abcdef"), B: []byte("XY")}},
		{"bytes, but not how many, and a text", "..abcdZZ..", "..VWXYZZ..", bytemut.Comparison{Kind: bytemut.Areas, A: []byte("abcdZZ"), B: []byte("VWXYZ\x00")}},
		{"the same, and four bytes", "..abcd", "..VW\x00X", bytemut.Comparison{Kind: bytemut.Areas, A: []byte("abcd, then"), B: []byte("VW\x00Xmore..")}},
	} {
		var got [][]byte
		for _, s := range bytemut.NewHaystack([]byte(c.input)).Substitutions([]bytemut.Comparison{c.found}, 256) {
			got = append(got, slices.Replace([]byte(c.input), s.At, s.At+s.Length, s.Value...))
		}
		if !slices.ContainsFunc(got, func(b []byte) bool { return string(b) == c.want }) {
			t.Errorf("%s: %q gives %q, want %q", c.name, c.input, got, c.want)
		}
	}
	for name, found := range map[string]bytemut.Comparison{
		"part of a longer number": number(le(9, 0, 0, 0), le(51, 0, 0, 0)),
		"a constant":              number([]byte("n=51"), []byte("zzzz")),
	} {
		if got := bytemut.NewHaystack([]byte("n=513;")).Substitutions([]bytemut.Comparison{found}, 256); name != "part of a longer number" && len(got) > 0 || len(got) > 6 {
			t.Errorf("%s: %v", name, got)
		}
	}
	many := bytemut.NewHaystack(bytes.Repeat([]byte("ab"), 1000)).Substitutions([]bytemut.Comparison{{Kind: bytemut.Bytes, A: []byte("ab"), B: []byte("xy")}}, 5)
	if len(many) != 5 {
		t.Errorf("%d substitutions, 5 were asked for", len(many))
	}
}

// A staged case is its substitution alone, and its log says so.
func TestStagedCase(t *testing.T) {
	d := bytemut.NewDeep([][]byte{[]byte("seed")}, bytemut.DeepParams{MaxOps: -1}, nil)
	pool := bytemut.Pool{Inputs: [][]byte{[]byte("seed"), []byte("a1b")}, First: 100, Staged: []bytemut.Staged{
		{Parent: 1, Substitution: bytemut.Substitution{At: 1, Length: 1, Value: []byte("22")}},
		{Parent: 0, Substitution: bytemut.Substitution{At: 0, Length: 4, Value: []byte("grow")}},
	}}
	var buf bytemut.Buffer
	for index, want := range map[int64]string{101: "a22b", 103: "grow"} {
		if got := string(d.GuidedCase(pool, index, &buf)); got != want || len(buf.Ops()) != 1 || buf.Ops()[0].Kind != "comparison" {
			t.Errorf("case %d is %q with log %v, want %q", index, got, buf.Ops(), want)
		}
	}
	for _, index := range []int64{0, 99, 100, 102, 104, 105} {
		if _, ok := pool.StagedAt(index); ok {
			t.Errorf("case %d is staged", index)
		}
	}
}

// Most operands stand nowhere in an input: to see that must not cost a search each.
func BenchmarkTeaches(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	number := func() []byte { return binary.LittleEndian.AppendUint32(nil, r.Uint32()>>r.IntN(24)) }
	input := make([]byte, 1<<15)
	for i := range input {
		input[i] = "abcdefgh0123456789 \n{}\x00\x01"[r.IntN(24)]
	}
	var list []bytemut.Comparison
	for range 256 {
		list = append(list, bytemut.Comparison{Kind: bytemut.Numbers, A: number(), B: number()})
	}
	for b.Loop() {
		part := bytemut.NewHaystack(input)
		for _, c := range list {
			part.Teaches(c)
		}
	}
}

// Wherever an operand stands, at the very end too, it is found.
func TestHaystackFindsAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		input := make([]byte, 2+r.IntN(200))
		for i := range input {
			input[i] = byte('a' + r.IntN(4))
		}
		for width := 2; width <= min(8, len(input)); width++ {
			for at := range len(input) - width + 1 {
				c := bytemut.Comparison{Kind: bytemut.Bytes, Constant: true, A: []byte("ZZZZZZZZ")[:width], B: input[at : at+width]}
				if part := bytemut.NewHaystack(input); !part.Teaches(c) || len(part.Substitutions([]bytemut.Comparison{c}, 1)) != 1 {
					t.Fatalf("%q does not stand in %q", c.B, input)
				}
			}
		}
		if bytemut.NewHaystack(input).Teaches(bytemut.Comparison{Kind: bytemut.Bytes, Constant: true, A: []byte("aa"), B: []byte("bZ")}) {
			t.Fatalf("bZ stands in %q", input)
		}
	}
}

// Of bytes of which it is not known how many are compared, a text is a word, up to its end.
func TestWordsOfAreas(t *testing.T) {
	var got []string
	for _, w := range bytemut.NewHaystack([]byte("input")).Words([]bytemut.Comparison{
		{Kind: bytemut.Areas, A: []byte("inpu\x01t"), B: []byte("chapter\x00and more")}, {Kind: bytemut.Areas, A: []byte("\x02\x03\x04\x00"), B: []byte("of\x00")},
	}) {
		got = append(got, string(w))
	}
	if !slices.Equal(got, []string{"chapter"}) {
		t.Errorf("words %q", got)
	}
}
