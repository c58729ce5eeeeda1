package docs_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The project's own Spec-Test documents hold, run by the program that they
// speak of, and are in their authoring form.
func TestSpecDocuments(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the documents run POSIX programs")
	}
	var list []string
	for _, pattern := range []string{"docs/*.spec.md", "examples/spectest/*.spec.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, f := range found {
			if _, err := exec.LookPath("python3"); err != nil && (strings.HasSuffix(f, "python.spec.md") || strings.HasSuffix(f, "flow.spec.md")) {
				t.Logf("%s is not run: %v", f, err)
				continue
			}
			rel, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, rel)
		}
	}
	for _, argv := range [][]string{
		{"check", "--strict"}, {"spectest", "fmt", "--check"}, {"run", "--quiet", "--store", t.TempDir()},
	} {
		cmd := exec.CommandContext(t.Context(), thresh(t), append(argv, list...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("thresh %s: %v\n%s", strings.Join(argv, " "), err, out)
		}
	}
}
