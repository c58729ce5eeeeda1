package config_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/internal/golden"
)

// nothing stands for a folder without files but the datasets.
func nothing(path string) ([]byte, error) {
	if text, err := os.ReadFile(filepath.Join("../testdata/datasets", filepath.Base(path))); err == nil {
		return text, nil
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
}

// testdata/errors.md of the contract holds what all of it says of documents. What
// this package refuses is all that is said; the other sections hold a document
// that it takes.
func TestRefusals(t *testing.T) {
	text, err := os.ReadFile("../testdata/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := regexp.MustCompile("(?ms)^### ([^\n]*)\n\n~~~~~yaml\n(.*?)^~~~~~\n\n`````\n(.*?)^`````\n").FindAllStringSubmatch(string(text), -1)
	refused, warnings := 0, 0
	for _, m := range sections {
		_, list := config.Decode("doc.yaml", []byte(m[2]), config.Options{Check: true, Read: nothing})
		var said strings.Builder
		for _, d := range list {
			said.WriteString(d.String() + " [" + d.Code + "]\n")
		}
		if !list.HasErrors() { // the rest of the contract may say more
			for line := range strings.Lines(said.String()) {
				if warnings++; !strings.Contains(m[3], line) {
					t.Errorf("%s: also says %s", m[1], line)
				}
			}
			continue
		}
		refused++
		if said.String() != m[3] {
			t.Errorf("%s:\n%swant\n%s", m[1], said.String(), m[3])
		}
	}
	if refused != 57 || warnings != 24 {
		t.Errorf("this package refuses %d of %d sections and warns %d times in the others: if that is right, say so here", refused, len(sections), warnings)
	}
}

// A document with every section, and all that is read from it.
func TestEverySection(t *testing.T) {
	file := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join("testdata", name)) }
	text, err := file("whole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, list := config.Decode("whole.yaml", text, config.Options{Read: file})
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	got := list.Error() + "\n" + strings.ReplaceAll(string(b), `,"`, ",\n\"") + "\n"
	golden.Check(t, "testdata/whole.json", got)
}
