package diag

import (
	"slices"
	"testing"
)

// A path is taken apart into names of keys and numbers of items, whatever they hold.
func TestKeys(t *testing.T) {
	for path, want := range map[string][]string{
		"$.a[0].b":        {"a", "0", "b"},
		`judges[12].id`:   {"judges", "12", "id"},
		`$["a.b"][1].c`:   {"a.b", "1", "c"},
		`x["\"q\"]"].y`:   {"x", `"q"]`, "y"},
		`"quoted".plain`:  {`"quoted"`, "plain"},
		`["only"]["two"]`: {"only", "two"},
		"":                nil,
	} {
		if got := (Diagnostic{Path: path}).Keys(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"seeds", "children"}
	for name, want := range map[string]string{"childern": "did you mean children?", "zone": "there is seeds, children"} {
		if got := Suggest(name, names); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
