package jsontree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/internal/golden"
)

// What is read of JSON, damaged in every place, how it is written again, and in what
// words and where it is refused.
func TestEverySmallChange(t *testing.T) {
	readers := []jsontree.Options{{}, jsontree.Python(), {MaxDepth: 2, MaxDigits: 2}, {MaxNodes: 6, NonFinite: true}}
	writers := []jsontree.Style{jsontree.Pretty, jsontree.Compact, jsontree.Spaced, {Kept: true}, {Indent: 1, Kept: true, ASCII: true}}
	say := func(text string) string {
		var b strings.Builder
		for _, o := range readers {
			doc, err := jsontree.Parse([]byte(text), o)
			if err != nil {
				fmt.Fprintf(&b, "%+v\n", *err.(*jsontree.Error))
				continue
			}
			f, ok := doc.Root.Float()
			s, is := doc.Root.Str()
			fmt.Fprintf(&b, "%+v %v %v %v %v %q %v\n", doc.Root, doc.Repeated, doc.Root.Int(), f, ok, s, is)
			for _, w := range writers {
				b.WriteString(w.Format(&doc.Root) + "\n")
			}
		}
		return b.String()
	}
	golden.Sweep(t, "json", golden.Changed("\"\\{0,\x01", []string{
		`{"a": [1, -2.5e+3, true], "b\u00e9\n": null, "a": {}}`, " \t[\"\\ud83d\\ude00\\ud800x\\udc00\\u0041\\/\", \"\\ue000é\x7f\"]\r\n", `[[[0, 123]], {"k": {"l": "x"}}, "m", 12e1]`,
		`-0`, `-Infinity`, `NaN`, `1E-2`, `0.5`, "\"\xed\xa0\x80\"", "\ufeff1", `"\b\f\r\t\"\\"`,
	}...), say)
}

// Values that are the same, and such as are not.
func TestEqual(t *testing.T) {
	texts := []string{`null`, `true`, `false`, `1`, `1.0`, `"1"`, `[]`, `[1]`, `[1, 2]`, `{}`, `{"a": 1}`, `{"a": 2}`, `{"b": 1}`, `{"a": 1, "b": [1]}`, `{"a": 1, "c": [1]}`, `[{"a": 1}]`}
	for i, a := range texts {
		for k, b := range texts {
			x, _ := jsontree.Parse([]byte(a), jsontree.Options{})
			y, _ := jsontree.Parse([]byte(strings.ReplaceAll(b, `"a": 1, "b": [1]`, `"b": [1], "a": 1`)), jsontree.Options{})
			if x.Root.Equal(&y.Root) != (i == k) {
				t.Errorf("%s and %s", a, b)
			}
		}
	}
	var n jsontree.Node
	n.Set("k", jsontree.Node{Kind: jsontree.Int, Text: "1"})
	n.Set("l", jsontree.Node{})
	n.Set("k", jsontree.Node{Kind: jsontree.Int, Text: "2"})
	if len(n.Members) != 2 || n.Get("k").Text != "2" || n.Get("m") != nil {
		t.Errorf("%+v", n)
	}
}
