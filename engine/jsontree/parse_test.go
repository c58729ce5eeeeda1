package jsontree_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

func TestEveryValueAndKeyKnowsItsPlace(t *testing.T) {
	const text = "{\r\n  \"é\": [1,\n\t\"x\"],\n  \"b\": {\"c\": null}\n}"
	doc, err := jsontree.Parse([]byte(text), jsontree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(offset int) [2]int {
		p := doc.Position(offset)
		return [2]int{p.Line, p.Col}
	}
	e, b := doc.Root.Member("é"), doc.Root.Member("b")
	for _, c := range []struct {
		what string
		got  int
		want [2]int
		text string
	}{
		{"root", doc.Root.Offset, [2]int{1, 1}, "{"},
		{"key é", e.KeyOffset, [2]int{2, 3}, `"é"`},
		{"array", e.Value.Offset, [2]int{2, 9}, "["},
		{"first item", e.Value.Items[0].Offset, [2]int{2, 10}, "1"},
		{"second item", e.Value.Items[1].Offset, [2]int{3, 2}, `"x"`},
		{"key b", b.KeyOffset, [2]int{4, 3}, `"b"`},
		{"null", b.Value.Get("c").Offset, [2]int{4, 14}, "null"},
	} {
		if at(c.got) != c.want {
			t.Errorf("%s is at %v, want %v", c.what, at(c.got), c.want)
		}
		if !strings.HasPrefix(text[c.got:], c.text) {
			t.Errorf("%s starts with %q, want %q", c.what, text[c.got:], c.text)
		}
	}
	if got := text[e.Value.Offset:e.Value.End]; got != "[1,\n\t\"x\"]" {
		t.Errorf("the array spans %q", got)
	}
	if got := doc.Line(2); got != `  "é": [1,` {
		t.Errorf("line 2 is %q", got)
	}
	if got := doc.Line(9); got != "" {
		t.Errorf("line 9 is %q", got)
	}
}

func TestRefusals(t *testing.T) {
	python, strict := jsontree.Python(), jsontree.Options{}
	for _, c := range []struct {
		name, text string
		o          jsontree.Options
		class      jsontree.Class
		want       string
	}{
		{"empty", "", python, jsontree.Syntax, `1:1: the text ends too early, expected a value`},
		{"white space alone", " \n ", python, jsontree.Syntax, `2:2: the text ends too early, expected a value`},
		{"byte order mark", "\ufeff{}", python, jsontree.Syntax, "1:1: a byte order mark at the start, expected JSON text without it"},
		{"trailing comma in an object", `{"a":1,}`, python, jsontree.Syntax, `1:8: unexpected '}', expected a key in double quotes`},
		{"trailing comma in an array", `[1,]`, python, jsontree.Syntax, `1:4: unexpected ']', expected a value`},
		{"missing colon", "{\"a\" 1}", python, jsontree.Syntax, `1:6: unexpected '1', expected ':'`},
		{"missing comma", "[1\n 2]", python, jsontree.Syntax, `2:2: unexpected '2', expected ',' or ']'`},
		{"bare key", `{a:1}`, python, jsontree.Syntax, `1:2: unexpected 'a', expected a key in double quotes`},
		{"comment", "// x\n{}", python, jsontree.Syntax, `1:1: unexpected '/', expected a value`},
		{"two documents", "{} {}", python, jsontree.Syntax, `1:4: unexpected '{', expected the end of the text`},
		{"open string", `{"a`, python, jsontree.Syntax, `1:2: a string without its closing quote, expected '"'`},
		{"open string after an escape", `"a\n`, python, jsontree.Syntax, `1:1: a string without its closing quote, expected '"'`},
		{"raw tab in a string", "\"a\tb\"", python, jsontree.Syntax, `1:3: a raw control character 0x09 in a string, expected \u0009`},
		{"raw line feed after an escape", "\"\\t\nb\"", python, jsontree.Syntax, `1:4: a raw control character 0x0a in a string, expected \u000a`},
		{"unknown escape", `"\x41"`, python, jsontree.Syntax, `1:3: unexpected 'x', expected one of "\/bfnrtu after a backslash`},
		{"short escape", `"\u12"`, python, jsontree.Syntax, `1:6: unexpected '"', expected a hexadecimal digit`},
		{"leading zero", `01`, python, jsontree.Syntax, `1:2: unexpected '1', expected no digit after a leading 0`},
		{"lone minus", `[-]`, python, jsontree.Syntax, `1:3: unexpected ']', expected a digit`},
		{"no digit after the point", `1.`, python, jsontree.Syntax, `1:3: the text ends too early, expected a digit after the point`},
		{"no digit in the exponent", `1e+`, python, jsontree.Syntax, `1:4: the text ends too early, expected a digit of the exponent`},
		{"wrong case", `True`, python, jsontree.Syntax, `1:1: unexpected 'T', expected a value`},
		{"not UTF-8", "{\"a\": \"\xff\"}", python, jsontree.Encoding, `1:8: byte 0xff is not UTF-8, expected UTF-8 text`},
		{"encoding beats syntax", "}\n\xc3(", python, jsontree.Encoding, `2:1: byte 0xc3 is not UTF-8, expected UTF-8 text`},
		{"too long an integer", strings.Repeat("1", 4301), python, jsontree.Digits, `1:1: an integer of 4301 digits, expected at most 4300`},
		{"too deep", strings.Repeat("[", 9996), python, jsontree.Depth, `1:9996: nested deeper than 9995 levels`},
		{"strict: NaN", `[NaN]`, strict, jsontree.Syntax, `1:2: unexpected 'N', expected a value`},
		{"strict: -Infinity", `-Infinity`, strict, jsontree.Syntax, `1:2: unexpected 'I', expected a digit`},
		{"strict: lone surrogate", `"\ud800\u0041"`, strict, jsontree.Syntax, `1:2: \ud800 is half of a surrogate pair, expected both halves`},
		{"strict: default depth", strings.Repeat("[", 10001), strict, jsontree.Depth, `1:10001: nested deeper than 10000 levels`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := jsontree.Parse([]byte(c.text), c.o)
			var e *jsontree.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a refusal", err)
			}
			if e.Error() != c.want || e.Class != c.class {
				t.Errorf("got class %d, %s\nwant class %d, %s", e.Class, e, c.class, c.want)
			}
		})
	}
}

func TestAnErrorShowsItsLine(t *testing.T) {
	_, err := jsontree.Parse([]byte("{\n  \"a\": 1,\r\n  \"b\" 2\r\n}"), jsontree.Options{})
	var e *jsontree.Error
	if !errors.As(err, &e) || e.Source != `  "b" 2` {
		t.Fatalf("got %#v", err)
	}
}

func TestPythonAcceptsMoreThanRFC8259(t *testing.T) {
	// The right-hand sides were printed by CPython 3.11: json.dumps(json.loads(x), sort_keys=True).
	for text, want := range map[string]string{
		`[NaN, Infinity, -Infinity, 1e400]`:     `[NaN, Infinity, -Infinity, Infinity]`,
		`"\ud800"`:                              `"\ud800"`,
		`"\udc00\ud800x"`:                       `"\udc00\ud800x"`,
		`"\ud800\ud83d\ude42"`:                  `"\ud800\ud83d\ude42"`,
		`"\ud83d\ude42é` + "\x7f" + `"`:         `"\ud83d\ude42\u00e9\u007f"`,
		`{"b": 1, "a": 2, "b": 3}`:              `{"a": 2, "b": 3}`,
		`[-0, -0.0, 1.0, 1E5, 1e16, 123456e10]`: `[0, -0.0, 1.0, 100000.0, 1e+16, 1234560000000000.0]`,
		`[0.0001, 0.00001, 1e22, 5e-324]`:       `[0.0001, 1e-05, 1e+22, 5e-324]`,
		`"\b\t\n\f\r\u0000\/\\\""`:              `"\b\t\n\f\r\u0000/\\\""`,
		` { "a" : [ ] , "b" : { } } `:           `{"a": [], "b": {}}`,
	} {
		doc, err := jsontree.Parse([]byte(text), jsontree.Python())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := jsontree.Spaced.Format(&doc.Root); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

func TestRepeatedKeysAreReported(t *testing.T) {
	for _, filler := range []int{0, 40} { // few keys are looked through, many are indexed
		text := `{"a": 1, `
		for i := range filler {
			text += fmt.Sprintf(`"k%d": 0, `, i)
		}
		text += `"a": 2}`
		doc, err := jsontree.Parse([]byte(text), jsontree.Python())
		if err != nil {
			t.Fatal(err)
		}
		if len(doc.Repeated) != 1 || doc.Repeated[0] != "a" {
			t.Errorf("with %d keys between: reported %+v", filler, doc.Repeated)
		}
		if v := doc.Root.Get("a"); v.Text != "2" || len(doc.Root.Members) != filler+1 {
			t.Errorf("with %d keys between: a is %s among %d members", filler, v.Text, len(doc.Root.Members))
		}
	}
}

// Lists of any length are read whole, within others, too.
func TestLongLists(t *testing.T) {
	var b strings.Builder
	for i := range 12000 {
		fmt.Fprintf(&b, `{"k%d":[%d,"%d"]},`, i, i, i)
	}
	doc, err := jsontree.Parse([]byte("[["+b.String()+"0],"+b.String()+"[]]"), jsontree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	outer := doc.Root.Items
	if len(outer) != 12002 || len(outer[0].Items) != 12001 || len(outer[12001].Items) != 0 || cap(outer) > 20000 {
		t.Fatalf("%d items, of room for %d, and %d in the first", len(outer), cap(outer), len(outer[0].Items))
	}
	for _, list := range [][]jsontree.Node{outer[0].Items[:12000], outer[1:12001]} {
		for i, x := range list {
			if got := fmt.Sprint(x.Members[0].Key, x.Members[0].Value.Items[0].Text, x.Members[0].Value.Items[1].Text); got != fmt.Sprintf("k%d%d%d", i, i, i) {
				t.Fatalf("item %d is %s", i, got)
			}
		}
	}
}
