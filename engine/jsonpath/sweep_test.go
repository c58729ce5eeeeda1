package jsonpath_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/jsonpath"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/internal/golden"
)

// What paths find, changed in every place, and in what words they are refused.
func TestEverySmallChange(t *testing.T) {
	doc, err := jsontree.Parse([]byte(garden), jsontree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	golden.Sweep(t, "paths", golden.Changed(".[@*'1- ", []string{
		`$.beds[0,2].id`, `$..rows[-1:]`, `$.beds[?(@.id >= $.limit && !@.done)]['name', "id"]`, `$['odd name']`, `$.beds[::-2].rows.*`, `$.beds[?@.name < "l" || @.rows[0] == 4].id`, `$.beds[?@.done == null].id`,
		`$.beds[ 5 : 0 : -1 ].id`, `$.beds[?@.id <= 2 && !(@.id > 1)].id`, `$['odd name',"limit"]`, `$[?@ == true]`, `$[?@ != false]`, `$.beds[?@.name >= "kale" || @.id == 3.0].id`, `$.beds[2147483648]`,
	}...), func(text string) string {
		e, n, err := jsonpath.Prefix(text)
		if err != nil {
			return err.Error()
		}
		var b strings.Builder
		list, err := e.In(&doc.Root)
		fmt.Fprint(&b, n, e, e.Single(), err)
		for _, x := range list {
			b.WriteString(" " + jsontree.Compact.Format(x))
		}
		_, err = jsonpath.Compile(text)
		fmt.Fprint(&b, " ", err)
		return b.String()
	})
}
