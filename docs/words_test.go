package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/golden"
)

// refused is phrases that pages, help texts and messages do not use, with what a
// reader expects in their place.
var refused = map[string]string{
	"to be had":                       "unavailable, available",
	"(is|are|be|was|were) told":       "is reported, knows",
	"told (what|apart)":               "is given, distinguished",
	"(come|comes|came) to":            "results in, reaches, ends",
	"in vain":                         "without effect, fails",
	"of (theirs|yours|ours|its own)":  "their own, your own, its own NOUN",
	"(is|are|not) taken for":          "is mistaken for, is treated as",
	"taken over from":                 "detached from",
	"(left|leave|leaves|leaving) out": "skipped, omitted",
	"goes? on with":                   "continues",
	"(speaks?|spoken) of":             "names, describes",
	"bears? up":                       "copes with",
	"stands? (?:there )?twice":        "is given twice, is repeated",
	"as of old":                       "as before",
	"that is none":                    "invalid, unknown",
}

// wordsList holds how many refused phrases each file still has. Counts go down
// only: go test ./docs -run TestWords -update lowers them and never raises one.
const wordsList = "testdata/words.txt"

var refusedWords = regexp.MustCompile(`(?i)\b(` + strings.Join(slices.Sorted(maps.Keys(refused)), "|") + `)\b`)

// phrases is the refused phrases of a text, which may run over line ends.
func phrases(text string) []string {
	return refusedWords.FindAllString(strings.Join(strings.Fields(text), " "), -1)
}

// instead is what a reader expects in place of a refused phrase.
func instead(phrase string) string {
	for pattern, better := range refused {
		if regexp.MustCompile(`(?i)^(` + pattern + `)$`).MatchString(phrase) {
			return better
		}
	}
	return ""
}

// literals is the texts within the string literals of a Go file that a person
// could read, one a line.
func literals(t *testing.T, path string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				b.WriteString(text + " \x00 ")
			}
		}
		return true
	})
	return b.String()
}

// spoken is every text that users read, by the file that holds it.
func spoken(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	for _, p := range pages(t) {
		texts[p.path] = p.text
	}
	for _, dir := range []string{"app", "contract", "diag", "face", "fleet", "report", "run", "store", "system"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			rel, err := filepath.Rel(root, path)
			texts[filepath.ToSlash(rel)] = literals(t, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// Pages, help texts and messages use the usual words.
func TestWords(t *testing.T) {
	list, err := os.ReadFile(wordsList)
	if err != nil {
		t.Fatal(err)
	}
	allowed := make(map[string]int)
	for line := range strings.Lines(string(list)) {
		n, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if allowed[path], err = strconv.Atoi(n); err != nil {
			t.Fatalf("%s: %v", wordsList, err)
		}
	}
	texts := spoken(t)
	if len(texts) < 100 {
		t.Errorf("only %d files with words found", len(texts))
	}
	var lower strings.Builder
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		met := phrases(texts[path])
		if len(met) > allowed[path] {
			for _, phrase := range met {
				t.Errorf("%s: %q: use words such as: %s", path, phrase, instead(phrase))
			}
			t.Errorf("%s: %d refused phrases, %s allows %d", path, len(met), wordsList, allowed[path])
		}
		if n := min(len(met), allowed[path]); n > 0 {
			fmt.Fprintf(&lower, "%d %s\n", n, path)
		}
	}
	if golden.Update() && lower.String() != string(list) {
		if err := os.WriteFile(wordsList, []byte(lower.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefusedPhrases(t *testing.T) {
	for text, want := range map[string]int{
		"what was not to be\n  had":            1,
		"What is left out is told.":            2,
		"A hook that asserts in vain comes to": 2,
		"A hook reports what it skips.":        0,
		"the shelf of theirselves":             0,
	} {
		if met := phrases(text); len(met) != want {
			t.Errorf("%q: %q, want %d", text, met, want)
		}
	}
	for _, phrase := range []string{"to be had", "Is told", "goes on with", "of its own"} {
		if instead(phrase) == "" {
			t.Errorf("%q has no better word", phrase)
		}
	}
}
