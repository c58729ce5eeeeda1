package speclang_test

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/speclang"
)

func TestDecide(t *testing.T) {
	for expr, want := range map[string]string{
		`["eq", ["len", ["subject"]], 3]`:                                                   `eq: ["len", ["subject"]]=4 3=3`,
		`["and", true, ["contains", "t"], ["not", ["contains", "e"]]]`:                      `not: ["contains", "e"]=True`,
		`["if", ["contains", "z"], 1, ["and", ["eq", ["subject"], "x"], 1]]`:                `eq: ["subject"]=text "x"=x`,
		`["or", ["eq", 1, 2]]`:                                                              `eq: 1=1 2=2`,
		`["or", ["eq", 1, 2], false]`:                                                       `or: ["eq", 1, 2]=False false=False`,
		`["contains", "text"]`:                                                              ``,
		`["let", [["x", 0]], ["var", "x"]]`:                                                 ``,
		`["and", ["call", ["fn", [], false]]]`:                                              ``,
		`["and", ["get", ["subject"], 1], false]`:                                           ``,
		`["not", ["regex_match", ["sub", ["len", ["subject"]], 1], "^-(.*[1-9]|inf)|nan"]]`: ``,
		`["regex_match", ["sub", ["len", ["subject"]], 1], "^-(.*[1-9]|inf)"]`:              `regex_match: ["len", ["subject"]]=4 1=1`,
		`["not", ["regex_match", ["sub", 1, ["len", ["subject"]]], "^-(.*[1-9]|inf)|nan"]]`: `not: 1=1 ["len", ["subject"]]=4`,
		`0`: ``,
		`["let", [["f", ["fn", [], ["call", ["var", "f"]]]]], ["call", ["var", "f"]]]`: ``,
	} {
		d, ok := compile(t, expr).Decide(speclang.StringValue("text"), speclang.DefaultLimits(), host())
		got := ""
		if ok {
			parts := make([]string, len(d.Operands))
			for i, o := range d.Operands {
				parts[i] = o.Form + "=" + o.Value.Text()
			}
			got = d.Symbol + ": " + strings.Join(parts, " ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}
