package assist_test

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/assist"
)

const schema = `{
  "type": "object",
  "properties": {
    "kind": {"description": "what is tested", "enum": ["http", "program"], "default": "http"},
    "url": {"type": "string"},
    "limits": {"description": "how far it goes", "type": "object", "properties": {
      "cases": {"type": "integer", "minimum": 1, "description": "how many"}, "strict": {"type": "boolean"}}, "required": ["cases"]},
    "rules": {"type": "array", "items": {"$ref": "#/$defs/the%20rule"}},
    "named": {"type": "object", "additionalProperties": {"$ref": "#/$defs/the%20rule"}}
  },
  "required": ["url"],
  "$defs": {"the rule": {"type": "object",
    "properties": {"type": {"enum": ["contains", "latency"]}, "value": {"type": "string"}, "max_ms": {"type": "integer"}},
    "required": ["type"],
    "allOf": [
      {"if": {"properties": {"type": {"const": "contains"}}, "required": ["type"]}, "then": {"properties": {"max_ms": false}, "required": ["value"]}},
      {"if": {"properties": {"type": {"const": "latency"}}, "required": ["type"]}, "then": {"properties": {"value": false}}}]}}
}`

func parsed(t *testing.T) *assist.Schema {
	t.Helper()
	s, err := assist.ParseSchema([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each text is completed at its bar; want are the labels, and then the text after
// the first has been taken.
func TestComplete(t *testing.T) {
	s := parsed(t)
	for _, c := range []struct{ name, text, want, taken string }{
		{"a key on an empty line", "kind: http\n|", "url limits rules named", "kind: http\nurl: "},
		{"what must be given comes first", "|", "url kind limits rules named", "url: "},
		{"half a key", "kind: http\nlim|", "url limits rules named", "kind: http\nurl: "},
		{"a word", "kind: |\nurl: x\n", "http program", "kind: http\nurl: x\n"},
		{"half a word", "kind: pro|\n", "http program", "kind: http\n"},
		{"a key of a mapping", "limits:\n  |\nurl: x\n", "cases strict", "limits:\n  cases: \nurl: x\n"},
		{"a further key of it", "limits:\n  cases: 3\n  s|\n", "strict", "limits:\n  cases: 3\n  strict: \n"},
		{"a truth", "limits:\n  strict: |\n", "true false", "limits:\n  strict: true\n"},
		{"the keys of a tag", "rules:\n- type: latency\n  |\n", "max_ms", "rules:\n- type: latency\n  max_ms: \n"},
		{"of another tag", "rules:\n  - type: contains\n    |", "value", "rules:\n  - type: contains\n    value: "},
		{"an item", "rules:\n  - |\n", "type value max_ms", "rules:\n  - type: \n"},
		{"a word of an item", "rules:\n  - type: latency\n  - type: |\n", "contains latency", "rules:\n  - type: latency\n  - type: contains\n"},
		{"a named mapping", "named:\n  mine:\n    |\n", "type value max_ms", "named:\n  mine:\n    type: \n"},
		{"a list follows a key", "url: x\nkind: http\nlimits:\n  cases: 1\nnamed: {}\nr|", "rules", "url: x\nkind: http\nlimits:\n  cases: 1\nnamed: {}\nrules:\n  - "},
		{"in braces", `{"url": "x", "|"}`, "kind limits rules named", `{"url": "x", "kind": }`},
		{"in braces that are open", "{\n  \"url\": \"x\",\n  \"k|\n", "kind limits rules named", "{\n  \"url\": \"x\",\n  \"kind\": \n"},
		{"without quotes", `{"url": "x", |}`, "kind limits rules named", `{"url": "x", "kind": }`},
		{"a word in quotes", `{"kind": "|"}`, "http program", `{"kind": "http"}`},
		{"a word without quotes", `{"kind": |}`, "http program", `{"kind": "http"}`},
		{"deep in braces", `{"rules": [{"type": "latency"}, {"type": "contains", "|": "x"}]}`, "value", `{"rules": [{"type": "latency"}, {"type": "contains", "value": "x"}]}`},
		{"a value that lacks", "{\"url\": \n \"limits\": {\"|\"}}", "cases strict", "{\"url\": \n \"limits\": {\"cases\": }}"},
		{"braces among lines", "limits: {|}\n", "cases strict", "limits: {\"cases\": }\n"},
		{"a block of text is not a key", "url: |-\n  lim|\n", "", ""},
		{"a comment", "# |\n", "", ""},
		{"past an anchor", "limits: &a\n  |\n", "cases strict", "limits: &a\n  cases: \n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := strings.LastIndex(c.text, "|")
			text := c.text[:at] + c.text[at+1:]
			var labels []string
			list := assist.Read(text, "").Complete(s, at)
			for _, x := range list {
				labels = append(labels, x.Label)
			}
			if got := strings.Join(labels, " "); got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			if len(list) == 0 {
				return
			}
			if got := text[:list[0].From] + list[0].Insert + text[list[0].To:]; got != c.taken {
				t.Errorf("after taking the first: %q, want %q", got, c.taken)
			}
		})
	}
}

// A key that only one of several alternatives needs is not required.
func TestAlternatives(t *testing.T) {
	s, err := assist.ParseSchema([]byte(`{"properties": {"one": {"type": "string"}, "other": {"type": "string"}}, "anyOf": [{"required": ["one"]}, {"required": ["other"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	list := assist.Read("", "").Complete(s, 0)
	if len(list) != 2 || list[0].Need || list[1].Need {
		t.Errorf("got %+v", list)
	}
}

func TestFencedBlocks(t *testing.T) {
	text := "# Title\n\n```yaml\nk\n```\n\n~~~yaml spec-test\nkind: \n~~~\n\n```yaml spec-test\nlimits:\n  \n"
	p, s := assist.Read(text, "spec-test"), parsed(t)
	if list := p.Complete(s, strings.Index(text, "k\n```")+1); len(list) > 0 {
		t.Errorf("in another block: %v", list)
	}
	if list := p.Complete(s, strings.Index(text, "kind: ")+6); len(list) != 2 {
		t.Errorf("in a block: %v", list)
	}
	if list := p.Complete(s, len(text)-1); len(list) != 2 || list[0].Label != "cases" {
		t.Errorf("in a block that is not closed: %v", list)
	}
}

func TestHoverSpansAndFixes(t *testing.T) {
	s := parsed(t)
	text := "kind: http\nlimits:\n  cases: 3\n"
	p := assist.Read(text, "")
	from, to, doc, ok := p.Hover(s, strings.Index(text, "cases")+2)
	if !ok || text[from:to] != "cases" || doc != "**cases**: integer, at least 1, required\n\nhow many" {
		t.Errorf("hover: %q %q %v", text[from:to], doc, ok)
	}
	if _, _, doc, _ = p.Hover(s, strings.Index(text, "http")); doc != "**kind**: one of http, program\n\nwhat is tested\n\nDefault: `\"http\"`" {
		t.Errorf("hover of a value: %q", doc)
	}
	json := `{"limits": {"cases": "x y"}}`
	for _, c := range []struct{ text, at, want string }{
		{text, "kind", "kind"}, {text, "http", "http"}, {text, "limits", "limits"}, {json, `"cases"`, "cases"}, {json, `"x y"`, "x y"},
		{json, `{"cases`, `{"cases": "x y"}`}, {"a: [1, {b: ']'}] # why\n", "[1", "[1, {b: ']'}]"}, {"{\"a\": [1, 2], \"b\": 3}", "[1", "[1, 2]"},
		{"{\"a\": [ \n1]}", "[", "["}, {"a: [1, \"]\n", "[1", "[1, \"]"}, {"a: ]b]\n", "]b", "]b]"}, {"x = set([1], 2), 3\n", "([1]", "([1], 2)"},
	} {
		if from, to := assist.Read(c.text, "").Span(strings.Index(c.text, c.at)); c.text[from:to] != c.want {
			t.Errorf("the span at %s: %q, want %q", c.at, c.text[from:to], c.want)
		}
	}
	for _, c := range []struct{ text, path, want string }{
		{text, "url", "url: \"\"\nkind: http\nlimits:\n  cases: 3\n"},
		{"limits:\n  strict: true\n", "limits cases", "limits:\n  cases: 1\n  strict: true\n"},
		{"rules:\n  - value: x\n", "rules 0 type", "rules:\n  - type: \"contains\"\n    value: x\n"},
		{"{\n  \"kind\": \"http\"\n}", "url", "{\n  \"url\": \"\",\n  \"kind\": \"http\"\n}"},
		{`{"limits": {}}`, "limits cases", `{"limits": {"cases": 1}}`},
		{"limits: { }\n", "limits cases", "limits: {\"cases\": 1 }\n"},
		{`{"limits": {"strict": true}}`, "limits cases", `{"limits": {"cases": 1, "strict": true}}`},
	} {
		at, insert, ok := assist.Read(c.text, "").Missing(s, 0, strings.Fields(c.path))
		if got := c.text[:at] + insert + c.text[at:]; !ok || got != c.want {
			t.Errorf("%s into %q: %q, want %q", c.path, c.text, got, c.want)
		}
	}
	if at, _ := assist.Read("- id: first\n- id: second\n  name: other\n", "").Names().Find("second"); at != 18 {
		t.Errorf("the name second is at %d", at)
	}
}

// A key that one alternative excludes is known as long as that alternative is not the one meant.
func TestExclusionsOfAlternatives(t *testing.T) {
	s, err := assist.ParseSchema([]byte(`{"type": "object", "properties": {"type": {"enum": ["http", "mcp"]}, "url": {}, "system": {}, "mode": {"enum": [null, "", "x"]}},
		"anyOf": [{"required": ["url"]}, {"required": ["system"], "properties": {"type": false}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"url: x\ntype: ": 2, "type: ": 2, "system: x\ntype: ": 0} {
		if list := assist.Read(text, "").Complete(s, len(text)); len(list) != want {
			t.Errorf("%q: %v, want %d", text, list, want)
		}
	}
	if _, _, doc, _ := assist.Read("mode: x\n", "").Hover(s, 1); doc != `**mode**: one of null, "", x` {
		t.Errorf("hover: %q", doc)
	}
}

// Whatever stands in an editor, at any place of it, is answered.
func FuzzComplete(f *testing.F) {
	for _, text := range []string{"kind: http\nrules:\n- type: latency\n", `{"limits": {"cases": [1, {"x"`, "a: &x [1,\n  {b: 'c\n", "- - - x\n  y: |\n z", "{]}:,\"", "\"a\": 'b\n", "[[[{{{"} {
		f.Add(text, uint(3))
	}
	s, err := assist.ParseSchema([]byte(schema))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, at uint) {
		n := int(at % uint(len(text)+1))
		for _, fence := range []string{"", "spec-test"} {
			p := assist.Read(text, fence)
			for _, x := range p.Complete(s, n) {
				if x.From > x.To || x.To > len(text) {
					t.Fatalf("%q at %d: an edit from %d to %d", text, n, x.From, x.To)
				}
			}
			p.Hover(s, n)
			if from, to := p.Span(n); from > to || to > len(text) {
				t.Fatalf("%q at %d: a span from %d to %d", text, n, from, to)
			}
			p.Missing(s, n, []string{"limits", "cases"})
			p.Names()
		}
	})
}

// What a fix replaces is the word that was not meant, and nothing beside it.
func TestMistaken(t *testing.T) {
	for _, c := range []struct{ text, at, message, meant, want string }{
		{"    o = any(Ordr)\n", "Ordr", `got "Ordr"`, "Order", "Ordr"},
		{"    o.toal += 1\n", "o.toal", `Order has no field "toal"`, "total", "toal"},
		{"p = alwys(forall(A, 안녕))\n", "alwys", "must be always, got alwys(...)", "always", "alwys"},
		{"p = always(x <= amuont))\n", "amuont", `"amuont" is neither`, "amount", "amuont"},
		{"p = always(all(A))\n", "all(A", `"all" is not a function`, "forall", "all"},
		{"total = 😀totl\n", "total", "is not known", "total", "totl"},
		{"nothing like it\n", "nothing", "is odd", "total", ""},
	} {
		p := assist.Plain(c.text)
		from, to, ok := p.Mistaken(strings.Index(c.text, c.at), c.message, c.meant)
		if got := c.text[from:to]; ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%q: %q is replaced by %q", c.text, got, c.meant)
		}
	}
	for text, want := range map[string]string{
		"a:\n  tpe: http\n": "tpe", "a: {tpe: 'x y'}\n": "tpe", "if: amuont.status == 200 # amuont\n": "amuont", `{"a": ["<input_pth>"]}`: "<input_pth>", "a: xyz\n": "xyz",
	} {
		meant := map[string]string{"tpe": "type", "amuont": "amount", "<input_pth>": "<input_path>", "xyz": "tcp"}[want]
		at := strings.Index(strings.ReplaceAll(text, `"`, "<"), "<"+want)
		if at < 0 {
			at = strings.Index(text, want)
		}
		if from, to, ok := assist.Read(text, "").Mistaken(at, "is unknown", meant); !ok || text[from:to] != want {
			t.Errorf("%q: %q is replaced by %q", text, text[from:to], meant)
		}
	}
}
