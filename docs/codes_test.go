package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/diag"
)

// Every code in the files of refused inputs is of the one vocabulary, and every
// word of it is shown by one of them.
func TestCodesAreOfOneVocabulary(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "contract/*/testdata/errors*"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(root, "contract/fresnelfir/ir/testdata/errors.json"))
	code := regexp.MustCompile(`\b(fuzzspec|operator|flakestorm|fresnelfir|spectest)\.([a-z]+(?:-[a-z0-9]+)*)\]`)
	said := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(text), -1) {
			format, word := m[1], m[2]
			if _, shared := diag.Codes[word]; !shared && !slices.Contains(diag.FormatCodes[format], word) {
				t.Errorf("%s: %s.%s is not in diag/codes.go", f, format, word)
			}
			said[word], said[format+"."+word] = true, true
		}
	}
	for word := range diag.Codes {
		if !said[word] {
			t.Errorf("no refused input shows %s", word)
		}
	}
	for format, words := range diag.FormatCodes {
		if !slices.IsSorted(words) {
			t.Errorf("the words of %s are not sorted", format)
		}
		for _, word := range words {
			if !said[format+"."+word] {
				t.Errorf("no refused input shows %s.%s", format, word)
			}
		}
	}
}
