package article_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/examples/fresnelfir/article"
)

var update = flag.Bool("update", false, "write the module")

// The module that stands beside the model is the one that this package writes.
func TestModule(t *testing.T) {
	const path = "../article.wasm"
	want := article.Module(article.None)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("article.wasm is not what Module writes; go test -update writes it anew")
	}
	for _, f := range article.Faults() {
		if bytes.Equal(article.Module(f), want) {
			t.Errorf("%s: the module has no such fault", f)
		}
	}
}
