package python

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An environment is made once for a file's text, and another call finds it.
func TestEnvironment(t *testing.T) {
	if err := exec.Command("python3", "-c", "import venv, ensurepip").Run(); err != nil {
		t.Skip("no python3 with venv")
	}
	cache := t.TempDir()
	t.Setenv("THRESH_CACHE", cache)
	file := filepath.Join(t.TempDir(), "requirements.txt")
	var said []string
	note := func(line string) { said = append(said, line) }
	first, err := Environment(context.Background(), "", file, "# none\n", note)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(first, "bin", "python"), "-c", "import sys; print(sys.prefix != sys.base_prefix)").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "True" {
		t.Errorf("its interpreter says %s %v", out, err)
	}
	if again, err := Environment(context.Background(), "", file, "# none\n", note); err != nil || again != first {
		t.Errorf("made again: %s %v, want %s", again, err, first)
	}
	if len(said) != 1 || !strings.Contains(said[0], file) {
		t.Errorf("it said %q, and installed once", said)
	}
	list, err := os.ReadDir(filepath.Join(cache, "python"))
	if err != nil || len(list) != 2 {
		t.Errorf("left behind: %v %v", list, err)
	}
}
