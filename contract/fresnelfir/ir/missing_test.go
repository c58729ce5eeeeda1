package ir_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
)

// Of a key that is missing only that is said, not also what is wrong with nothing in its place.
func TestMissingKeysSayNoMore(t *testing.T) {
	for _, name := range []string{"article", "bank"} {
		text, err := os.ReadFile("../../../examples/fresnelfir/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var whole any
		if err := json.Unmarshal(text, &whole); err != nil {
			t.Fatal(err)
		}
		var visit func(v any, path string)
		visit = func(v any, path string) {
			switch x := v.(type) {
			case []any:
				for _, item := range x {
					visit(item, path+"[]")
				}
			case map[string]any:
				for _, key := range slices.Sorted(maps.Keys(x)) {
					was := x[key]
					visit(was, path+"."+key)
					delete(x, key)
					text, err := json.Marshal(whole)
					if err != nil {
						t.Fatal(err)
					}
					d, src, list := ir.Decode("x.json", text)
					if d != nil {
						list = append(list, ir.Check(d, src)...)
					}
					for _, d := range list {
						if strings.Contains(d.Message, `""`) {
							t.Errorf("without %s.%s: %v", path, key, d)
						}
					}
					x[key] = was
				}
			}
		}
		visit(whole, "$")
	}
}

// A bound that is missing, or is no number, is not compared with the other one.
func TestBoundsThatAreNotThereAreNotCompared(t *testing.T) {
	for domain, want := range map[string]string{
		`{"type": "int", "min": 1}`:             "$.inputs.domains.n.max: must be given",
		`{"type": "int", "min": 1, "max": "9"}`: `$.inputs.domains.n.max: must be an integer, got "9"`,
		`{"type": "int", "max": -1}`:            "$.inputs.domains.n.min: must be given",
		`{"type": "int", "min": 1, "max": 0}`:   "$.inputs.domains.n: min must not be above max, got 1 and 0",
	} {
		_, list := load(small(map[string]string{"inputs": `{"domains": {"n": ` + domain + `}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}}`}))
		var got []string
		for _, d := range list {
			if d.Level == diag.Error {
				got = append(got, d.Path+": "+d.Message)
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", domain, got, want)
		}
	}
}
