// Package golden compares results of tests with files of expected results. With the flag -update
// tests write these files instead; review the difference before committing it. Only tests import
// it.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the files of expected output")

// here is the folder of the package: a test may change the working directory.
var here, _ = os.Getwd()

// Update reports whether to write files instead of comparing them.
func Update() bool { return *update }

// Check fails the test, with a diff, if got is not the content of the file. File names are relative
// to the folder of the package.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if want := Read(t, file, got); got != want {
		t.Errorf("%s differs; -update writes it (-expected +got):\n%s", file, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
}

// Read returns the content of the file; with -update, it writes got first.
func Read(t testing.TB, file, got string) string {
	t.Helper()
	if !filepath.IsAbs(file) {
		file = filepath.Join(here, file)
	}
	if Update() {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	return string(want)
}
