package bytemut_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/bytemut"
)

const jsonGrammar = `# JSON, in part
<value> ::= "null" | number | text
	| "[" list "]" | "[]"
	| "{" pair "}"
list = value | value "," list
pair := text ":" value | text ":" value "," pair
number = [0-9] | [1-9] number
text = "\"" letters "\""
letters = "" | [a-z_] letters
`

// What a grammar makes is of its language, and mutations by it often are.
func TestGrammar(t *testing.T) {
	g, list := bytemut.ParseGrammar("json.bnf", []byte(jsonGrammar))
	if len(list) > 0 {
		t.Fatal(list)
	}
	longest := 0
	for i := range uint64(2000) {
		text := g.Sample(i)
		longest = max(longest, len(text))
		if !json.Valid(text) {
			t.Fatalf("sample %d is not JSON: %q", i, text)
		}
	}
	if longest < 100 {
		t.Errorf("the longest of the texts has %d bytes", longest)
	}
	valid := func(g *bytemut.Grammar) (n int) {
		d := bytemut.NewDeep([][]byte{[]byte("[1,2]")}, bytemut.DeepParams{MaxOps: -1, Grammar: g}, big.NewInt(1))
		var buf bytemut.Buffer
		for i := range int64(1000) {
			if got := d.Case(i, &buf); json.Valid(got) && (bytes.Contains(got, []byte("null")) || bytes.Contains(got, []byte(`":`))) {
				n++
			}
		}
		return n
	}
	if with, without := valid(g), valid(nil); with < without+50 {
		t.Errorf("%d of 1000 cases are JSON with null or a pair, by the grammar, %d without", with, without)
	}
}

// A grammar that cannot be used is refused where it is wrong.
func TestGrammarRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "g:1:1: the grammar has no rule",
		"a = b":                "g:1:5: there is no rule b",
		"a = a \"x\"":          "g:1:5: the texts of rule a never end",
		"a = \"x\"\na = \"y\"": "g:2:4: rule a is defined twice",
		"| \"x\"":              "g:1:1: expected a rule before the first |",
		"a = \"x":              "g:1:5: value has no closing quote",
		"a = \"\\n\"":          "g:1:6: unknown escape",
		"a \"x\"":              "g:1:3: expected = after the name of a rule",
		"a = [a-z":             "g:1:5: expected a set of bytes and ]",
		"a = [z-a]":            "g:1:5: this set has a range without bytes",
		"a = ;":                "g:1:5: expected text in double quotes",
		"= x":                  "g:1:1: expected the name of a rule",
		"a = <b":               "g:1:7: expected >",
	} {
		_, list := bytemut.ParseGrammar("g", []byte(text))
		if len(list) == 0 {
			t.Errorf("%q is accepted", text)
			continue
		}
		got := list[0].Pos.String() + ": " + list[0].Message
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
