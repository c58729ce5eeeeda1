package doctree

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Schema returns the JSON Schema (draft 2020-12) of documents of a type, for editors
// and other tools. It cannot express rules about two keys at once, except for a tag,
// nor rules that depend on the world. It rejects keys that nothing reads, and
// accepts 1.0 as an integer.
func Schema(id string, root Type, defs ...Type) []byte {
	g := generator{defs: map[string]jsontree.Node{}}
	s := g.typed(&root)
	if root.Form == ShapeForm { // the root is not in the definitions
		if s = g.shape(root.Shape); root.Raw != "" {
			g.raw(&s, root.Raw)
		}
	}
	for i := range defs { // definitions that nothing refers to, such as files of their own
		g.typed(&defs[i])
	}
	var whole jsontree.Node
	whole.Kind = jsontree.Object
	set(&whole, "$schema", "https://json-schema.org/draft/2020-12/schema")
	set(&whole, "$id", "https://thresh.dev/schema/"+id+".schema.json")
	for _, m := range s.Members {
		whole.Set(m.Key, m.Value)
	}
	if len(g.order) > 0 {
		table := jsontree.Node{Kind: jsontree.Object}
		slices.Sort(g.order)
		for _, name := range g.order {
			table.Set(name, g.defs[name])
		}
		whole.Set("$defs", table)
	}
	return append(jsontree.Style{Indent: 2, Kept: true}.Append(nil, &whole), '\n')
}

type generator struct {
	defs  map[string]jsontree.Node
	order []string
}

// set sets a key to a value that jsontree.Of accepts.
func set(n *jsontree.Node, key string, v any) {
	x, err := jsontree.Of(v)
	if err != nil {
		panic(err) // a value in this file is wrong
	}
	n.Set(key, x)
}

func objectOf(pairs ...any) jsontree.Node {
	n := jsontree.Node{Kind: jsontree.Object}
	for i := 0; i+1 < len(pairs); i += 2 {
		set(&n, pairs[i].(string), pairs[i+1])
	}
	return n
}

// typed returns the schema of a value.
func (g *generator) typed(t *Type) jsontree.Node {
	var forms []jsontree.Node
	for _, one := range append([]Type{*t}, t.Or...) {
		forms = append(forms, g.form(&one))
		if one.Loose {
			forms = append(forms, one.loose())
		}
	}
	if t.Null {
		forms = append(forms, objectOf("type", "null"))
	}
	if len(forms) == 1 {
		return forms[0]
	}
	any := jsontree.Node{Kind: jsontree.Array, Items: forms}
	return objectOf("anyOf", any)
}

func (g *generator) form(t *Type) jsontree.Node {
	n := jsontree.Node{Kind: jsontree.Object}
	switch t.Form {
	case TextForm:
		set(&n, "type", "string")
		if t.Filled {
			set(&n, "minLength", 1)
		}
		if t.Most > 0 {
			set(&n, "maxLength", t.Most)
		}
		if t.Pattern != "" {
			set(&n, "pattern", t.Pattern)
		}
	case WordForm:
		set(&n, "enum", t.Words)
	case IntegerForm, NumberForm:
		if set(&n, "type", "number"); t.Form == IntegerForm {
			set(&n, "type", "integer")
		}
		switch {
		case t.Above:
			n.Set("exclusiveMinimum", number(t.Low))
		case t.Low > -none:
			n.Set("minimum", number(t.Low))
		}
		if t.High < math.MaxFloat64 {
			n.Set("maximum", number(t.High))
		}
		if t.Most > 0 {
			set(&n, "maximum", t.Most)
		}
	case TruthForm:
		set(&n, "type", "boolean")
	case ListForm:
		set(&n, "type", "array")
		if least := max(t.Least, 0); least > 0 || t.Filled {
			set(&n, "minItems", max(least, 1))
		}
		if t.Most > 0 {
			set(&n, "maxItems", t.Most)
		}
		n.Set("items", g.typed(t.Of))
	case NamedForm:
		set(&n, "type", "object")
		n.Set("additionalProperties", g.typed(t.Of))
	case ShapeForm:
		if name := t.Shape.Name; !slices.Contains(g.order, name) {
			g.order = append(g.order, name) // before its parts, which may refer to it
			g.defs[name] = g.shape(t.Shape)
		}
		set(&n, "$ref", "#/$defs/"+strings.ReplaceAll(t.Shape.Name, " ", "%20"))
	}
	if t.Raw != "" {
		g.raw(&n, t.Raw)
	}
	return n
}

// loose is the schema of what counts as a number, a truth or a text beside those: as no
// form is named, editors do not propose it. It does not know the bounds of a
// number in a text.
func (t *Type) loose() jsontree.Node {
	if t.Form == TextForm {
		return objectOf("not", objectOf("type", []string{"null", "array", "object", "string"}))
	}
	other := []any{objectOf("type", []string{"null", "array", "object", "number"})}
	if t.Form == TruthForm {
		return objectOf("not", objectOf("type", []string{"null", "array", "object"}), "minimum", 0, "maximum", 1, "multipleOf", 1,
			"pattern", `^([01](\.0)?|[Tt]([Rr][Uu][Ee])?|[Yy]([Ee][Ss])?|[Oo][Nn]|[Ff]([Aa][Ll][Ss][Ee])?|[Nn][Oo]?|[Oo][Ff][Ff])$`)
	}
	for v, truth := range [2]bool{false, true} {
		if !t.holds(float64(v)) {
			other = append(other, objectOf("const", truth))
		}
	}
	sign, fraction := "[-+]?", `([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?`
	if t.Low >= 0 {
		sign = `\+?`
	}
	if t.Form == IntegerForm {
		fraction = `[0-9][0-9_]*(\.0*)?`
	}
	return objectOf("not", objectOf("anyOf", other), "pattern", `^\s*`+sign+fraction+`\s*$`)
}

// raw adds keywords to a schema, and definitions to the document.
func (g *generator) raw(n *jsontree.Node, text string) {
	doc, err := jsontree.Parse([]byte(text), jsontree.Options{})
	if err != nil {
		panic(err) // a format's declaration is wrong
	}
	for _, m := range doc.Root.Members {
		if m.Key != "$defs" {
			n.Set(m.Key, m.Value)
			continue
		}
		for _, def := range m.Value.Members {
			g.defs[def.Key] = def.Value
			g.order = append(g.order, def.Key)
		}
	}
}

// number returns a number as JSON, without a fraction if it has none.
func number(v float64) jsontree.Node {
	if v == float64(int64(v)) {
		n, _ := jsontree.Of(int64(v)) // cannot fail for an int64
		return n
	}
	n, _ := jsontree.Of(v)
	return n
}

func (g *generator) shape(s *Shape) jsontree.Node {
	n := objectOf("title", s.Name, "description", s.Doc, "type", "object")
	var need []string
	properties := jsontree.Node{Kind: jsontree.Object}
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Need && len(f.For) == 0 {
			need = append(need, f.Name)
		}
		properties.Set(f.Name, g.field(f))
	}
	n.Set("properties", properties)
	if len(need) > 0 {
		set(&n, "required", need)
	}
	if s.Own != "" {
		n.Set("patternProperties", objectOf(s.Own, true))
	}
	if !s.Open {
		set(&n, "additionalProperties", false)
	}
	var variants []any
	for _, word := range s.words() {
		if v, ok := s.variant(word); ok {
			variants = append(variants, v)
		}
	}
	if len(variants) > 0 {
		set(&n, "allOf", variants)
	}
	return n
}

func (g *generator) field(f *Field) jsontree.Node {
	n := g.typed(&f.Type)
	doc := f.Doc
	if len(f.For) > 0 {
		doc += " (of " + Either(f.For) + ")"
	}
	described := objectOf("description", strings.TrimSpace(doc))
	for _, m := range n.Members {
		described.Set(m.Key, m.Value)
	}
	if f.Default != "" {
		var plain json.RawMessage
		if json.Unmarshal([]byte(f.Default), &plain) == nil {
			if d, err := jsontree.Parse(plain, jsontree.Options{}); err == nil {
				described.Set("default", d.Root)
			}
		}
	}
	return described
}

// within is what a word of the tag around the shape asks of it.
func (s *Shape) within(word string) jsontree.Node {
	then, none := jsontree.Node{Kind: jsontree.Object}, jsontree.Node{Kind: jsontree.Object}
	var need []string
	for i := range s.Fields {
		switch f := &s.Fields[i]; {
		case !f.takes(word):
			set(&none, f.Name, false)
		case f.Need && len(f.For) > 0:
			need = append(need, f.Name)
		}
	}
	if len(none.Members) > 0 {
		then.Set("properties", none)
	}
	if len(need) > 0 {
		set(&then, "required", need)
	}
	return then
}

// variant returns what a word of the tag demands of a mapping in addition.
func (s *Shape) variant(word string) (jsontree.Node, bool) {
	then, none := jsontree.Node{Kind: jsontree.Object}, jsontree.Node{Kind: jsontree.Object}
	var need []string
	for i := range s.Fields {
		f := &s.Fields[i]
		switch {
		case f.Type.Shape != nil && f.Type.Shape.Outer && f.takes(word):
			if inner := f.Type.Shape.within(word); len(inner.Members) > 0 {
				none.Set(f.Name, inner)
			}
		case f.Type.Form == NamedForm && f.Type.Of.Shape != nil && f.Type.Of.Shape.Outer && f.takes(word):
			if inner := f.Type.Of.Shape.within(word); len(inner.Members) > 0 {
				none.Set(f.Name, objectOf("additionalProperties", inner))
			}
		case len(f.For) == 0:
		case !f.takes(word):
			set(&none, f.Name, false)
		case f.Need:
			need = append(need, f.Name)
		}
	}
	if len(need) > 0 {
		set(&then, "required", need)
	}
	if len(none.Members) > 0 {
		then.Set("properties", none)
	}
	tag := objectOf("properties", objectOf(s.Tag, objectOf("const", word)))
	if word != s.TagDefault {
		set(&tag, "required", []string{s.Tag})
	}
	return objectOf("if", tag, "then", then), len(then.Members) > 0
}
