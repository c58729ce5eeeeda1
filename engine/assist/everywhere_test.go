package assist_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/assist"
	"github.com/thresh-dev/thresh/internal/golden"
)

const richSchema = `{"$ref": "#/$defs/top", "$defs": {
  "top": {"type": "object", "required": ["name"], "properties": {
    "name": {"type": "string", "description": "what it is called"},
    "age": {"type": ["integer", "null"], "minimum": 0, "maximum": 9, "default": 3},
    "ratio": {"type": "number", "exclusiveMinimum": 0, "default": 0.5},
    "on": {"type": "boolean", "default": true},
    "mode": {"const": "fast"},
    "level": {"enum": [1, 2, null, true, "three words"], "default": "three words"},
    "words": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
    "either": {"anyOf": [{"type": "string", "enum": ["x"]}, {"$ref": "#/$defs/part"}, {"type": "array", "items": {"$ref": "#/$defs/part"}}]},
    "one": {"oneOf": [{"type": "object", "properties": {"left": {"type": "integer"}}}, {"type": "boolean"}]},
    "odd": {"allOf": [{"properties": {"kind": {"enum": ["p", "q"]}}}, {"if": {"properties": {"kind": {"const": "p"}}, "required": ["kind"]}, "then": {"properties": {"p": {"type": "string"}}, "required": ["p"]}, "else": {"properties": {"q": {"type": "array"}}}}]},
    "no": {"if": {"not": {"required": ["z"]}}, "then": {"properties": {"z": {"type": "object"}}}, "else": {"properties": {"y": {"type": "null"}}}},
    "free": {"additionalProperties": {"enum": ["m", "n"]}},
    "shut": false}},
  "part": {"type": "object", "required": ["id", "n"], "properties": {"id": {"type": "string"}, "n": {"type": "integer", "minimum": 7}, "more": {"$ref": "#/$defs/part"}, "list": {"type": "array", "items": {"$ref": "#/$defs/part"}}}}}}`

// What is offered, told and marked at every place of texts of many forms; testdata/everywhere.txt
// is what is expected. Places next to each other with the same answers are one.
func TestEverywhere(t *testing.T) {
	s, err := assist.ParseSchema([]byte(richSchema))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, text := range []string{
		"name: x # why\nage: 3\nmode: fast\nlevel: three words\nwords:\n  - a\n  -\n- b\non: tr\n",
		"either:\n  id: one\n  n: 7\n  more:\n    id: two\n    list:\n      - id: three\n        n: 1\n      - {id: four, more: {id: five}}\n\n    n: 3\n",
		"either:\n- id: 'it''s'\n  \"n\": 7\n-   n: 8\none: {left: 1}\nodd:\n  kind: p\n  p: \"a \\\" b\"\n  \nno:\n  z: {}\n  \nfree:\n  some: m\n  \n",
		"{\"name\": \"x\", \"words\": [\"a\", \"\", ],\n \"odd\": {\"kind\": \"q\", }, \"either\": [{\"id\": \"o\"}, {}],\n \"on\": , \"free\": {\"k\": \"\"}}\n",
		"---\nname: |\n  a: b\n  # no comment\nage: >-\n\n  more\nlevel: !tag 1\nwords: &w [a, b\n  , a]\none: *w\n? odd\n: kind\n...\n",
		"name:\n    deep\n  wrong: 1\n\tage: 3\nage: 3\n\n\non:\r\n  \r\n",
	} {
		p := assist.Read(text, "")
		at := func(at int) (list, shown string) {
			for _, x := range p.Complete(s, at) {
				list += fmt.Sprintf(" "+"%s[%d:%d %q %s|%s]", x.Label, x.From, x.To, x.Insert, x.Detail, strings.ReplaceAll(x.Doc, "\n", "/"))
			}
			from, to := p.Span(at)
			hf, ht, doc, ok := p.Hover(s, at)
			if !ok {
				hf, ht = at, at
			}
			return list, fmt.Sprintf("%d to %d %q, marks %d to %d", hf, ht, doc, from, to)
		}
		fmt.Fprintf(&b, "=== %q\n", text)
		offered, told := "", ""
		for i := range len(text) + 1 {
			list, shown := at(i)
			if list != offered {
				fmt.Fprintf(&b, "%d offers%s\n", i, list)
			}
			if shown != told {
				fmt.Fprintf(&b, "%d tells %s\n", i, shown)
			}
			offered, told = list, shown
		}
		for _, path := range []string{"name", "age", "ratio", "on", "mode", "level", "words", "either", "either id", "either n", "either more n", "either 0 n", "either 1 id", "either 2 id", "one left", "odd p", "odd q", "no z", "no y", "free x", "shut", "words 0", "none"} {
			at, insert, ok := p.Missing(s, 0, strings.Fields(path))
			fmt.Fprintf(&b, "missing %s: %d %q %v\n", path, at, insert, ok)
		}
		for _, word := range []string{"name", "id", "one", "two", "x", "either", "it's", "left", "nothing"} {
			at, ok := p.Names().Find(word)
			fmt.Fprintf(&b, "named %s: %d %v\n", word, at, ok)
		}
	}
	fenced := "a\n```yaml t\nname: x\n```\n  ````yaml t\n  age: 1\n  ```\n  ````\n```yaml t\non: \n"
	p := assist.Read(fenced, "t")
	for i := range len(fenced) + 1 {
		from, to := p.Span(i)
		fmt.Fprintf(&b, "fenced %d: %d-%d %d\n", i, from, to, len(p.Complete(s, i)))
	}
	const file = "testdata/everywhere.txt"
	want := golden.Read(t, file, b.String())
	got, expected := strings.Split(b.String(), "\n"), strings.Split(want, "\n")
	for i, line := range got {
		if i >= len(expected) || line != expected[i] {
			t.Fatalf("%s:%d: got\n%s\nand want\n%s", file, i+1, line, append(expected, make([]string, len(got))...)[i])
		}
	}
	if len(got) != len(expected) {
		t.Errorf("%d lines, want %d", len(got), len(expected))
	}
}
