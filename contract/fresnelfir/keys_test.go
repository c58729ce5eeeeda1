package fresnelfir_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
)

// A key of another type is an error that names the types that take it.
func TestKeysThatDoNotBelong(t *testing.T) {
	contracttest.Keys{
		Of: ir.Format(), Unknown: diag.Warning, Contract: fresnelfir.New(nil), Path: "article.json",
		Base: read(t, "../../examples/fresnelfir/article.json"),
	}.Run(t)
}

// A model that is explored alone and says nothing that could be broken always
// holds, which is said.
func TestAloneWithoutProperties(t *testing.T) {
	text := read(t, "../../examples/fresnelfir/article.json")
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	says := func(level diag.Level) bool {
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, list := fresnelfir.New(nil).Compile(t.Context(), campaign.Spec{Path: "article.json", Data: data},
			campaign.Settings{Strict: level == diag.Error, Options: map[string][]string{"module": {"none"}}})
		return slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == "fresnelfir.vacuous" && d.Level == level })
	}
	if says(diag.Warning) {
		t.Error("the example has properties")
	}
	doc["properties"] = map[string]any{}
	if says(diag.Warning) {
		t.Error("a generator has a postcondition")
	}
	doc["generators"] = map[string]any{}
	if !says(diag.Warning) || !says(diag.Error) {
		t.Error("nothing that it says can be broken")
	}
}
