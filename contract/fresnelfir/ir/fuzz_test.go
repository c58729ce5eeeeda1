package ir_test

import (
	"os"
	"testing"
)

// Whatever a document holds, reading it ends, every diagnostic has a place, and
// a document comes back if and only if none of them is an error.
func FuzzLoad(f *testing.F) {
	b, err := os.ReadFile("../../../examples/fresnelfir/article.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Add(small(nil))
	f.Add(small(map[string]string{"protocols": `{"p": {"root": {"type": "ref", "protocol": "p"}}}`}))
	f.Add(small(map[string]string{"properties": `{"p": {"type": "temporal", "rule": ["after", {"tag": "x"}, ["never", 1, {"same": ""}]]}}`}))
	f.Fuzz(func(t *testing.T, text string) {
		doc, list := load(text)
		if (doc == nil) != list.HasErrors() {
			t.Errorf("document %t, errors %t", doc != nil, list.HasErrors())
		}
		for _, d := range list {
			if d.Pos.Line < 1 || d.Pos.Col < 1 || d.Code == "" || d.Message == "" {
				t.Errorf("without place, code or message: %+v", d)
			}
		}
	})
}
