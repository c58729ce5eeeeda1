package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/internal/testproc"
)

// root is the module's folder as seen from here.
const root = ".."

// page is one Markdown file.
type page struct {
	path string // from the module's folder, slash-separated
	text string
}

// pages is every page for users: what lies in the module's folder, docs/, and
// the examples' and benchmarks' READMEs.
func pages(t *testing.T) []page {
	t.Helper()
	var list []page
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/tutorials/*.md", "examples/*/README.md", "bench/README.md"} {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(root, name)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, page{filepath.ToSlash(rel), string(text)})
		}
	}
	return list
}

// pageNamed is one page, which must exist.
func pageNamed(t *testing.T, path string) page {
	t.Helper()
	for _, p := range pages(t) {
		if p.path == path {
			return p
		}
	}
	t.Fatalf("there is no page %s", path)
	return page{}
}

var fence = regexp.MustCompile("(?ms)^```([^\n`]*)\n(.*?)^```$")

// built is the folder of the program, once it has been built.
var built string

// binary is the program that the pages speak of, built once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "thresh-docs-")
	if err != nil {
		return "", err
	}
	built = dir
	bin := filepath.Join(dir, "thresh")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-o", bin, filepath.Join(root, "cmd", "thresh")).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return bin, nil
})

// thresh is the path of the built program.
func thresh(t *testing.T) string {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatalf("building thresh: %v", err)
	}
	return bin
}

func TestMain(m *testing.M) {
	testproc.Ready(4)
	code := m.Run()
	if built != "" {
		if err := os.RemoveAll(built); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}
