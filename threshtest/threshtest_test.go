package threshtest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh"
	"github.com/thresh-dev/thresh/threshtest"
)

const document = "# Facts\n\n```yaml spec-test\nid: %s\ntype: text.file\npath: fact.txt\nassert:\n  - target: text\n    must:\n      - contain: [\"seven\"]\n```\n"

// folder is one in which the documents of that name are.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"fact.txt": "five and two are seven\n", "holds.spec.md": document, "fails.spec.md": strings.Replace(document, "seven", "eight", 1)} {
		if filepath.Ext(name) == ".md" && !strings.Contains(strings.Join(names, " "), name) {
			continue
		}
		text = strings.Replace(text, "%s", strings.TrimSuffix(name, ".spec.md"), 1)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestHolds(t *testing.T) {
	dir := folder(t, "holds.spec.md")
	t.Chdir(dir)
	threshtest.Run(t, ".")
	if _, err := os.Stat(filepath.Join(dir, ".thresh")); err != nil {
		t.Errorf("the run is not kept: %v", err)
	}
}

// inner names the variable by which a test is run as another process.
const inner = "THRESHTEST_INNER"

// TestInner runs what is to fail; TestFailures looks at it from outside.
func TestInner(t *testing.T) {
	dir := os.Getenv(inner)
	if dir == "" {
		t.Skip("started by TestFailures")
	}
	t.Chdir(dir)
	threshtest.RunJob(t, thresh.Job{Paths: []string{"."}, Workers: 1})
}

func TestFailures(t *testing.T) {
	for _, x := range []struct {
		name, want string
		documents  []string
	}{
		{"a finding", "reproduce: thresh replay --store ", []string{"holds.spec.md", "fails.spec.md"}},
		{"no document", "holds no document", nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := folder(t, x.documents...)
			c := exec.Command(os.Args[0], "-test.run=^TestInner$", "-test.v")
			c.Env = append(os.Environ(), inner+"="+dir)
			out, err := c.CombinedOutput()
			var failed *exec.ExitError
			if !errors.As(err, &failed) || !strings.Contains(string(out), x.want) {
				t.Fatalf("%v; want %q in\n%s", err, x.want, out)
			}
			if len(x.documents) == 0 {
				return
			}
			for _, line := range []string{"--- PASS: TestInner/spectest/holds.spec.md", "--- FAIL: TestInner/spectest/fails.spec.md"} {
				if !strings.Contains(string(out), line) {
					t.Errorf("no line %q in\n%s", line, out)
				}
			}
		})
	}
}

// What its context ends is an error that says so, never a verdict and no fault of the document.
func TestInterruptedIsAnError(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"fails.spec.md", "campaign.json"} { // one is cut while it is compiled, the other while it runs
		dir := folder(t, name)
		if err := os.WriteFile(filepath.Join(dir, "campaign.json"), []byte(`{"schema_version": "thresh.operators.v1", "seeds": ["fact.txt"], "children": 1}`), 0o644); err != nil {
			t.Fatal(err)
		}
		job := thresh.Job{Paths: []string{filepath.Join(dir, name)}, Store: t.TempDir()}
		if rec, err := thresh.Run(done, job); !errors.Is(err, context.Canceled) || rec != nil && rec.Complete {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
		if checked, err := thresh.Check(done, job); checked == nil && !errors.Is(err, context.Canceled) {
			t.Errorf("checking %s: %v", name, err)
		}
	}
}
