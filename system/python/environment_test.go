package python

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stub is an interpreter that makes environments of itself, and says True once packages
// were installed in them.
const stub = `#!/bin/sh
case "$2 $3" in
venv*) mkdir -p "$3/bin" && exec cp "$0" "$3/bin/python" ;;
"pip install") for file; do :; done; exec cp "$file" "$0.packages" ;;
*) test -f "$0.packages" && echo True ;;
esac
`

// An environment is made once for a file's text, and another call finds it.
func TestEnvironment(t *testing.T) {
	interpreter := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(interpreter, []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("THRESH_CI") != "" { // to make a real one takes seconds
		interpreter = ""
	}
	cache := t.TempDir()
	t.Setenv("THRESH_CACHE", cache)
	file := filepath.Join(t.TempDir(), "requirements.txt")
	var said []string
	note := func(line string) { said = append(said, line) }
	first, err := Environment(context.Background(), interpreter, file, "# none\n", note)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(first, "bin", "python"), "-c", "import sys; print(sys.prefix != sys.base_prefix)").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "True" {
		t.Errorf("its interpreter says %s %v", out, err)
	}
	if again, err := Environment(context.Background(), interpreter, file, "# none\n", note); err != nil || again != first {
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
