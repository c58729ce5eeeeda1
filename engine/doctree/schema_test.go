package doctree_test

import (
	"math"
	"testing"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/internal/golden"
)

// A shape with every form of value has the schema, the reference tables and the keys of
// testdata/shape.txt.
func TestSchemaAndTables(t *testing.T) {
	text, whole := doctree.Text(), doctree.AnyInteger()
	inner := &doctree.Shape{Name: "inner part", Doc: "a part of its own", Outer: true, Tag: "kind", Open: true, Fields: []doctree.Field{
		{Name: "path", Need: true, Type: text, For: []string{"file"}, Doc: "where"}, {Name: "both", Type: text},
	}}
	whatever := doctree.Number(math.Inf(-1), math.MaxFloat64)
	inf := math.Inf(1)
	root := &doctree.Shape{Name: "root", Doc: "all there is", Tag: "kind", TagDefault: "file", Own: "^x-", Fields: []doctree.Field{
		{Name: "kind", Need: true, Type: doctree.Word("file", "call", "none"), Doc: "what it is"},
		{Name: "text", Type: text.Must().UpTo(9).Like("^a|b$").OrNull(), Default: `"a|b"`, Doc: "a text", Since: "v2"},
		{Name: "count", Need: true, For: []string{"call", "none"}, Type: doctree.Integer(1, 9.5), Default: "3", Doc: "how many"},
		{Name: "share", For: []string{"file"}, Type: doctree.Number(0, 1).MoreThan(0), Default: "not JSON"},
		{Name: "least", Type: doctree.Integer(2, inf)}, {Name: "most", Type: doctree.Integer(-inf, 7)}, {Name: "more", Type: doctree.Number(0, inf).MoreThan(0.5)},
		{Name: "finite", Type: whatever}, {Name: "positive", Type: doctree.Number(0, math.MaxFloat64)}, {Name: "whole", Type: whole.UpTo(5)},
		{Name: "on", Type: doctree.Truth(), Default: "true"},
		{Name: "loose on", Type: doctree.Truth().Loosely()}, {Name: "loose text", Type: text.Loosely()}, {Name: "loose share", Type: doctree.Number(0, 1).MoreThan(0).Loosely()},
		{Name: "loose count", Type: doctree.Integer(-5, 5).Loosely().OrNull()},
		{Name: "list", Type: doctree.List(text.Must()).Must().UpTo(3)}, {Name: "pair", Type: doctree.List(doctree.Object(inner)).Exactly(2)},
		{Name: "either", Type: text.OrElse(doctree.List(whole), doctree.Object(inner).OrNull())},
		{Name: "part", Type: doctree.Object(inner)}, {Name: "parts", For: []string{"call"}, Type: doctree.Named(doctree.Object(inner))},
		{Name: "any", Type: doctree.Any()}, {Name: "raw", Type: doctree.Any().As(`{"$ref": "#/$defs/extra", "$defs": {"extra": {"type": "null"}}}`)},
	}}
	again := doctree.Field{Name: "again", Type: doctree.List(doctree.Object(root))}
	root.Fields = append(root.Fields, again)
	own := doctree.Object(&doctree.Shape{Name: "own file", Doc: "a file of its own"})
	got := string(doctree.Schema("x", doctree.Object(root).As(`{"minProperties": 1}`), own)) + string(doctree.Schema("list", doctree.List(text))) + doctree.Tables(doctree.Object(root), own)
	for _, word := range []string{"", "file", "call"} {
		for _, key := range root.Keys(word) {
			got += " " + key
		}
		got += "\n"
	}
	const name = "testdata/shape.txt"
	golden.Check(t, name, got)
}
