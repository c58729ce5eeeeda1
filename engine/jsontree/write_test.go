package jsontree_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

func TestStyles(t *testing.T) {
	n, err := jsontree.Of(map[string]any{
		"z": []any{}, "b": map[string]any{}, "é<>&\u2028": []string{"\x7f", "\x01"}, "n": nil,
		"big": new(big.Int).Lsh(big.NewInt(1), 70), "f": 30.0, "ok": true, "m": map[string]int{"y": 2, "x": 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	pretty := "{\n  \"b\": {},\n  \"big\": 1180591620717411303424,\n  \"f\": 30.0,\n  \"m\": {\n    \"x\": 1,\n    \"y\": 2\n  },\n" +
		"  \"n\": null,\n  \"ok\": true,\n  \"z\": [],\n  \"é<>&\u2028\": [\n    \"\x7f\",\n    \"\\u0001\"\n  ]\n}"
	if got := jsontree.Pretty.Format(&n); got != pretty {
		t.Errorf("pretty:\n%s\nwant\n%s", got, pretty)
	}
	compact := `{"b":{},"big":1180591620717411303424,"f":30.0,"m":{"x":1,"y":2},"n":null,"ok":true,"z":[],"\u00e9<>&\u2028":["\u007f","\u0001"]}`
	if got := jsontree.Compact.Format(&n); got != compact {
		t.Errorf("compact:\n%s\nwant\n%s", got, compact)
	}
}

func TestOfRefusesWhatHasNoForm(t *testing.T) {
	if _, err := jsontree.Of(map[string]any{"a": []any{1, struct{}{}}}); err == nil || !strings.HasPrefix(err.Error(), "a: [1]: ") {
		t.Errorf("got %v, want an error that names the place", err)
	}
}

func TestNumbersAreExact(t *testing.T) {
	doc, err := jsontree.Parse([]byte(`[123456789012345678901234567890, 1.5, "x", 1e999]`), jsontree.Python())
	if err != nil {
		t.Fatal(err)
	}
	items := doc.Root.Items
	if got := items[0].Int(); got == nil || got.String() != "123456789012345678901234567890" {
		t.Errorf("a big integer came back as %v", got)
	}
	if items[1].Int() != nil || items[2].Int() != nil {
		t.Error("a float or a string has an integer value")
	}
	if f, ok := items[3].Float(); !ok || !math.IsInf(f, 1) {
		t.Errorf("1e999 is %v, %v", f, ok)
	}
	if _, ok := items[2].Float(); ok {
		t.Error("a string has a float value")
	}
}

// value draws a Go value of any shape that Of takes.
func value(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(), rapid.String().AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	inner := value(depth - 1)
	return rapid.OneOf(append(leaves,
		rapid.SliceOfN(inner, 0, 4).AsAny(),
		rapid.MapOfN(rapid.String(), inner, 0, 4).AsAny())...)
}

func TestWritingAndReadingGivesTheValueBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, err := jsontree.Of(value(3).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		for _, style := range []jsontree.Style{jsontree.Pretty, jsontree.Compact, jsontree.Spaced, {}} {
			text := style.Format(&n)
			doc, err := jsontree.Parse([]byte(text), jsontree.Python())
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if !doc.Root.Equal(&n) {
				t.Fatalf("%s came back as %s", text, style.Format(&doc.Root))
			}
		}
	})
}

// FuzzJSONTree holds the parser against the standard library's on strict text,
// and the writer against the parser on everything that is accepted.
func FuzzJSONTree(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-7,"\ud83d\ude42",null,true]}`, `[NaN,-Infinity,"\ud800"]`, "[[[[", `{"a":1,"a":2}`, "-0", "\xff", "\ufeff1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := jsontree.Parse(text, jsontree.Python())
		if err != nil {
			e := err.(*jsontree.Error)
			if e.Offset < 0 || e.Offset > len(text) || e.Problem == "" || strings.Contains(e.Source, "\n") {
				t.Fatalf("%q: %#v", text, e)
			}
			if e.Class == jsontree.Syntax && json.Valid(text) {
				t.Fatalf("%q is JSON, but: %v", text, err)
			}
			return
		}
		if strict, err := jsontree.Parse(text, jsontree.Options{}); err == nil && !json.Valid(text) {
			t.Fatalf("%q was accepted as %s, but is not JSON", text, jsontree.Pretty.Format(&strict.Root))
		}
		for _, style := range []jsontree.Style{jsontree.Pretty, jsontree.Compact} {
			once := style.Format(&doc.Root)
			again, err := jsontree.Parse([]byte(once), jsontree.Python())
			if err != nil {
				t.Fatalf("%q was written as %q: %v", text, once, err)
			}
			if twice := style.Format(&again.Root); once != twice {
				t.Fatalf("%q was written as %q, then as %q", text, once, twice)
			}
		}
	})
}

func benchmarkText() []byte {
	var b strings.Builder
	b.WriteString("[")
	for i := range 2000 {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString(`  {"name": "entity", "fields": {"id": 12345, "ratio": 0.25, "note": "caf\u00e9 au lait"}, "ok": true}`)
	}
	b.WriteString("]")
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	text := benchmarkText()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jsontree.Parse(text, jsontree.Python()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPretty(b *testing.B) {
	doc, err := jsontree.Parse(benchmarkText(), jsontree.Python())
	if err != nil {
		b.Fatal(err)
	}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = jsontree.Pretty.Append(out[:0], &doc.Root)
	}
	b.SetBytes(int64(len(out)))
}

// BenchmarkStandardLibrary is what reading into maps costs, for comparison.
func BenchmarkStandardLibrary(b *testing.B) {
	text := benchmarkText()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			b.Fatal(err)
		}
	}
}
