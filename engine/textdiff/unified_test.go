package textdiff_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/textdiff"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"equal", "a\n", "a\n", ""},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"from nothing", "", "a\n", "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n"},
		{"no line end", "a", "a\n", "--- x\n+++ y\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"two hunks", "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n", "--- x\n+++ y\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"},
		{"one hunk of two changes", "a\n1\n2\nb\n", "A\n1\n2\nB\n", "--- x\n+++ y\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n-b\n+B\n"},
	} {
		if got := textdiff.Format("x", "y", c.before, c.after); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// Of a long text that is changed in few places, those are shown.
func TestLongTexts(t *testing.T) {
	var before, after strings.Builder
	for i := range 20000 {
		old := fmt.Sprintln("line", i)
		if i%3 == 0 {
			old = "the same\n" // anchors are not everywhere
		}
		before.WriteString(old)
		switch i % 4000 {
		case 7:
			after.WriteString("another\n")
		case 1200: // gone
		case 2500:
			after.WriteString(old + "new\n")
		default:
			after.WriteString(old)
		}
	}
	d := textdiff.Format("x", "y", before.String(), after.String())
	if removed, added, hunks := strings.Count(d, "\n-"), strings.Count(d, "\n+"), strings.Count(d, "\n@@"); removed != 10 || added != 11 || hunks != 15 {
		t.Errorf("%d lines removed, %d added in %d hunks", removed, added, hunks)
	}
	if d := textdiff.Format("x", "y", strings.Repeat("a\n", 5000), strings.Repeat("b\n", 5000)); strings.Count(d, "\n") != 10003 {
		t.Errorf("%d lines", strings.Count(d, "\n"))
	}
}

// What is written, patch applies.
func TestPatchAppliesIt(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("needs patch")
	}
	dir := t.TempDir()
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n"}), 0, 30), func(l []string) string { return strings.Join(l, "") })
	old, diff := filepath.Join(dir, "old"), filepath.Join(dir, "diff")
	tries := 0
	rapid.Check(t, func(t *rapid.T) {
		if tries++; tries > 40 {
			return // a process each
		}
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		d := textdiff.Format("old", "new", before, after)
		if d == "" || before == "" || after == "" {
			return
		}
		if err := os.WriteFile(old, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(diff, []byte(d), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(patch, "--posix", "-u", old, diff).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, d)
		}
		got, err := os.ReadFile(old)
		if err != nil || string(got) != after {
			t.Fatalf("%q, want %q (%v)\n%s", got, after, err, d)
		}
	})
}
