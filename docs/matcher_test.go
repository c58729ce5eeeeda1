package docs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The patterns that docs/spectest.md gives editors find the places that check and run
// print.
func TestProblemMatchers(t *testing.T) {
	page, err := os.ReadFile("spectest.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "`.vscode/tasks.json`:\n\n```json\n")
	block, behind, found := strings.Cut(block, "```\n")
	var tasks struct {
		Tasks []struct {
			ProblemMatcher struct{ Pattern struct{ Regexp string } }
		}
	}
	if err := json.Unmarshal([]byte(block), &tasks); !found || err != nil || len(tasks.Tasks) != 1 {
		t.Fatalf("no tasks: %v", err)
	}
	ofRun := regexp.MustCompile("the pattern `([^`]+)`").FindStringSubmatch(behind)
	if ofRun == nil {
		t.Fatal("no pattern for runs")
	}
	dir := t.TempDir()
	text := "```yaml spec-test\nid: A\ntype: text.file\nasert: []\n```\n\n```console run\n$ echo a\nb\n```\n"
	if err := os.WriteFile(filepath.Join(dir, "a.spec.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ verb, pattern, want string }{
		{"check", tasks.Tasks[0].ProblemMatcher.Pattern.Regexp, "a.spec.md 4 1 warning"}, {"run", ofRun[1], "a.spec.md 8 transcript"},
	} {
		cmd := exec.CommandContext(t.Context(), thresh(t), c.verb, "a.spec.md")
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput() // it fails, as its exit code says
		var got []string
		for _, m := range regexp.MustCompile("(?m)"+c.pattern).FindAllStringSubmatch(string(out), -1) {
			got = append(got, strings.Join(m[1:], " "))
		}
		if !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s: %q finds %q in\n%s", c.verb, c.pattern, got, out)
		}
	}
}
