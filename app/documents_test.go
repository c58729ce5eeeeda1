package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// TestBundle: what a document names is read once, so that what is kept with a
// run is what it was compiled from.
func TestBundle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seed")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	b := NewBundle()
	set := b.Fill(campaign.Settings{})
	data, err := set.Read(path)
	if string(data) != "first" || err != nil {
		t.Fatalf("%q, %v", data, err)
	}
	digest, err := set.Digest(path)
	if digest != "a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e" || err != nil {
		t.Fatalf("%s, %v", digest, err)
	}
	write("second")
	if again, err := set.Read(path); string(again) != "first" || err != nil {
		t.Errorf("read again: %q, %v", again, err)
	}
	if again, err := set.Digest(path); again != digest || err != nil {
		t.Errorf("digest again: %s, %v", again, err)
	}
	missing := path + ".gone"
	if _, err := set.Read(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := set.Digest(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the digest of a file that is not there: %v", err)
	}
	if len(b.files) != 1 || len(b.digests) != 1 {
		t.Errorf("kept: %d files, %d digests", len(b.files), len(b.digests))
	}
}

// TestSearch: the documents of a folder, in path order.
func TestSearch(t *testing.T) {
	root := t.TempDir()
	doc := `{"schema_version": "llmfuzz.fuzzspec.v1"}`
	for name, text := range map[string]string{
		"b.json": doc, "a/z.json": doc, "a.yaml": doc, // the content says what a document is
		"c.txt": doc, ".hidden/d.json": doc, "e.json": "{}", "f.md": "# no document",
		"work/runs/x/llmfuzz/fuzzspec.json": doc,                                                                                           // left by a run
		"README.md":                         "```console run\n$ echo hi\nhi\n```\n", "deep/s.spec.md": "```yaml spec-test\nid: X-1\n```\n", // run only when they are named
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := &App{Contracts: builtin(nil)}
	for want, search := range map[string]func(string, campaign.Settings) ([]Document, diag.List, error){
		"a.yaml a/z.json b.json":                          a.Search,
		"README.md a.yaml a/z.json b.json deep/s.spec.md": a.everyDocument,
	} {
		docs, _, err := search(root, campaign.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range docs {
			rel, err := filepath.Rel(root, d.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("found %s, want %s", got, want)
		}
	}
}

// The name of a second campaign of one name does not depend on where the documents lie, and is
// recognized by its document.
func TestNameBeside(t *testing.T) {
	for _, c := range []struct{ other, path, want string }{
		{"a/spec.json", "b/spec.json", "x (b/spec.json)"},
		{"/srv/a/spec.json", "/srv/b/spec.json", "x (b/spec.json)"},
		{"spec.json", "twin.json", "x (twin.json)"},
		{"/srv/one.json", "/srv/deep/er/two.json", "x (deep/er/two.json)"},
		{"/srv/deep/er/one.json", "/srv/two.json", "x (two.json)"},
		{"/one/a.json", "/two/a.json", "x (two/a.json)"},
	} {
		got := nameBeside("x", c.path, c.other)
		if got != c.want {
			t.Errorf("%s beside %s: %s, want %s", c.path, c.other, got, c.want)
		}
		if !isNameBeside(got, "x", c.path) || isNameBeside(got, "x", "/else/where.json") || isNameBeside(got, "y", c.path) {
			t.Errorf("%s is not recognized by its document alone", got)
		}
	}
}
