package jsonpath_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/jsonpath"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

const garden = `{"beds": [{"id": 1, "name": "kale", "rows": [4, 5]}, {"id": 2, "name": "leek", "rows": []}, {"id": 3.0, "name": "it's", "done": null}],
	"rows": {"n": 7}, "odd name": true, "limit": 2}`

// Numbers are compared as what they are, not as the floats nearest to them.
func TestLargeNumbers(t *testing.T) {
	doc, err := jsontree.Parse([]byte(`[9007199254740992, 9007199254740993, 9007199254740992.0, 123456789012345678901234567890, 1e400, -1e400, NaN]`), jsontree.Options{NonFinite: true})
	if err != nil {
		t.Fatal(err)
	}
	for filter, want := range map[string]string{
		`@ == 9007199254740993`:                "[9007199254740993]",
		`@ == 9007199254740992`:                "[9007199254740992,9007199254740992.0]",
		`@ != 9007199254740992`:                "[9007199254740993,123456789012345678901234567890,1e400,-1e400,NaN]",
		`@ > 9007199254740992.0`:               "[9007199254740993,123456789012345678901234567890,1e400]",
		`@ < 9007199254740993`:                 "[9007199254740992,9007199254740992.0,-1e400]",
		`@ == 123456789012345678901234567891`:  "[]",
		`@ >= 123456789012345678901234567890`:  "[123456789012345678901234567890,1e400]",
		`@ <= -123456789012345678901234567890`: "[-1e400]",
		`@ == $[4]`:                            "[1e400]",
	} {
		e, err := jsonpath.Compile("$[?" + filter + "]")
		if err != nil {
			t.Fatal(err)
		}
		list, err := e.In(&doc.Root)
		var got []string
		for _, n := range list {
			got = append(got, n.Text)
		}
		if strings.Join(got, ",") != strings.Trim(want, "[]") || err != nil {
			t.Errorf("%s: %q, want %s (%v)", filter, got, want, err)
		}
	}
}

func TestPaths(t *testing.T) {
	doc, err := jsontree.Parse([]byte(garden), jsontree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{`$.limit`, `[2]`},
		{`$['odd name']`, `[true]`},
		{`$["odd name"]`, `[true]`},
		{`$.none`, `[]`},
		{`$.limit.deep`, `[]`},
		{`$.beds[0].id`, `[1]`},
		{`$.beds[-1].id`, `[3.0]`},
		{`$.beds[7]`, `[]`},
		{`$.beds[*].name`, `["kale","leek","it's"]`},
		{`$.beds.*.id`, `[1,2,3.0]`},
		{`$.beds[0,2].id`, `[1,3.0]`},
		{`$.beds[0]['id','name']`, `[1,"kale"]`},
		{`$.beds[1:].id`, `[2,3.0]`},
		{`$.beds[:1].id`, `[1]`},
		{`$.beds[-2:].id`, `[2,3.0]`},
		{`$.beds[::-1].id`, `[3.0,2,1]`},
		{`$.beds[::2].id`, `[1,3.0]`},
		{`$.beds[::0].id`, `[]`},
		{`$.beds[5:1].id`, `[]`},
		{`$..rows`, `[{"n":7},[4,5],[]]`},
		{`$..rows[0]`, `[4]`},
		{`$..[1]`, `[{"id":2,"name":"leek","rows":[]},5]`},
		{`$.rows.*`, `[7]`},
		{`$.beds[?(@.id==2)].name`, `["leek"]`},
		{`$.beds[?@.id == 3].name`, `["it's"]`},
		{`$.beds[?@.name == 'it\'s'].id`, `[3.0]`},
		{`$.beds[?@.id >= $.limit].id`, `[2,3.0]`},
		{`$.beds[?@.id < 2 || @.id > 2].id`, `[1,3.0]`},
		{`$.beds[?@.id > 1 && @.name != "leek"].id`, `[3.0]`},
		{`$.beds[?!(@.id > 1)].id`, `[1]`},
		{`$.beds[?@.rows].id`, `[1,2]`},
		{`$.beds[?@.rows[0]].id`, `[1]`},
		{`$.beds[?!@.rows].id`, `[3.0]`},
		{`$.beds[?@.done == null].id`, `[3.0]`},
		{`$.beds[?@.name < "l"].id`, `[1,3.0]`},
		{`$.beds[?@.name < 5].id`, `[]`},
		{`$.beds[?@.none == @.other].id`, `[1,2,3.0]`},
		{`$.beds[?@.rows[?@ > 4]].id`, `[1]`},
	} {
		e, err := jsonpath.Compile(c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		list, err := e.In(&doc.Root)
		if err != nil {
			t.Fatal(err)
		}
		var found []speclang.Value
		for _, n := range list {
			found = append(found, speclang.OfJSON(n))
		}
		got := strings.ReplaceAll(strings.ReplaceAll(speclang.ListValue(found).JSON(), ", ", ","), ": ", ":")
		if got != c.want {
			t.Errorf("%s finds %s, want %s", c.path, got, c.want)
		}
		if e.String() != c.path {
			t.Errorf("%s is written as %s", c.path, e)
		}
	}
}

func TestRefusedPaths(t *testing.T) {
	for path, want := range map[string]string{
		"": "expected $", "a": "expected $", "$x": `unknown syntax at "x"`, "$.": `unknown syntax at "."`, "$..": "after ..", "$[": "expected a number", "$[1": "expected ]", "$['a": "never closed",
		"$[?7]": "compare it", "$[?@.a == ]": "is not a value", "$[?@.a == yes]": `"yes" is not a value`, "$[?(@.a]": "expected )", "$[99999999999999999999]": "not an index",
		"$[?" + strings.Repeat("(", 200) + "@": "too deep", "$[-]": "not an index",
	} {
		if _, err := jsonpath.Compile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", path, err, want)
		}
	}
}

func TestSingle(t *testing.T) {
	for path, want := range map[string]bool{"$": true, "$.a[0]['b']": true, "$.a[-1]": true, "$..a": false, "$.a[0,1]": false, "$.*": false, "$.a[1:]": false, "$.a[?@.b]": false} {
		if e, err := jsonpath.Compile(path); err != nil || e.Single() != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"$.a[*]..b[?@.c == 'd' || !@.e]", "$[::-1]", "$[?(1 < @['x'])]"} {
		f.Add(s)
	}
	doc, err := jsontree.Parse([]byte(garden), jsontree.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := jsonpath.Compile(text)
		if err != nil {
			return
		}
		list, err := e.In(&doc.Root)
		if err == nil && e.Single() && len(list) > 1 {
			t.Errorf("%s finds %d", text, len(list))
		}
	})
}

func Example() {
	doc, _ := jsontree.Parse([]byte(`{"beds": [{"id": 1}, {"id": 2}]}`), jsontree.Options{})
	e, _ := jsonpath.Compile(`$.beds[?@.id > 1].id`)
	list, _ := e.In(&doc.Root)
	text, _ := json.Marshal(len(list))
	fmt.Println(string(text), speclang.OfJSON(list[0]).JSON())
	// Output: 1 2
}
