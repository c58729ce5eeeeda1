package ir_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
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
