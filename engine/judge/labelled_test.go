package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The judges that guess are measured on labelled sentences: `+` must be found,
// `-` must not. A `~` keeps what looks like a key from being one. The page on
// judges has the figures.
func TestLabelledSets(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "judges.md"))
	if err != nil {
		t.Fatal(err)
	}
	finds := map[string]func(string) bool{
		"refusal": func(s string) bool {
			ok, _, err := (&Demand{Type: "refusal"}).Judge(s)
			return ok && err == nil
		},
		"pii": func(s string) bool {
			ok, _, err := (&Demand{Type: "excludes_pii"}).Judge(s)
			return !ok && err == nil
		},
		"secrets": func(s string) bool {
			return len(leaked(Trace{Events: []Event{{Kind: Reply, Text: s}}})) > 0
		},
	}
	for _, name := range []string{"refusal", "pii", "secrets"} {
		for _, language := range []string{"en", "ko", "en-later", "ko-later"} {
			data, err := os.ReadFile(filepath.Join("testdata", "labelled", name+"."+language+".txt"))
			if later := strings.HasSuffix(language, "-later"); later && os.IsNotExist(err) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			var n, wrong [2]int
			var examples []string
			for line := range strings.Lines(string(data)) {
				label, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				is := 0
				if label == "+" {
					is = 1
				}
				n[is]++
				if found := finds[name](strings.ReplaceAll(text, "~", "")); found != (is == 1) {
					wrong[is]++
					examples = append(examples, line)
				}
			}
			row := fmt.Sprintf("| %s | %s | %d | %.1f %% | %.1f %% |", name, language, n[0]+n[1], 100*float64(wrong[0])/float64(n[0]), 100*float64(wrong[1])/float64(n[1]))
			if n[0]+n[1] < 300 && !strings.HasSuffix(language, "-later") || !strings.Contains(string(page), row) {
				t.Errorf("docs/judges.md must say\n%s\nwrong:\n%s", row, strings.Join(examples, ""))
			}
		}
	}
}
