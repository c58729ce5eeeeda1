package jsontree_test

import (
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Where pointers lead: %20 is a blank in a reference alone.
func TestPointer(t *testing.T) {
	d, err := jsontree.Parse([]byte(`{"a b": [1, {"c/d": 2, "~": 3}], "a%20b": 4, "": {"0": 5}}`), jsontree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{
		"#/a%20b/0": "1", "#/a b/1/c~1d": "2", "/a b/1/~0": "3", "/a%20b": "4", "#//0": "5", "#//0/": "", "/a b/2": "", "/a b/-1": "", "/a b/+0": "", "/a b/00": "", "/a b/x": "", "/x/y": "",
	} {
		got := ""
		if n := d.Root.Along(jsontree.Steps(pointer)); n != nil {
			got = n.Text
		}
		if got != want {
			t.Errorf("%s leads to %q, want %q", pointer, got, want)
		}
	}
	for _, whole := range []string{"", "#", "#/"} {
		if steps := jsontree.Steps(whole); !slices.Equal(steps, nil) {
			t.Errorf("%q leads along %q", whole, steps)
		}
	}
}
