package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A name of a file begins no line of what Thresh says and moves no cursor.
func TestNamesWithLineFeeds(t *testing.T) {
	dir := t.TempDir()
	const name = "a\nPASS all held\x1b[2J.spec.md"
	must(t, os.WriteFile(filepath.Join(dir, name), []byte("# A page\n\n```console run\n$ exit 3\n[3]\n```\n"), 0o600))
	for _, args := range [][]string{
		{"check", name}, {"check", "."}, {"run", name}, {"run", "."}, {"list"}, {"show", "latest"}, {"verify", "latest"},
		{"check", name + "x"}, {"run", "--report", "html=no/" + name, name}, {"run", "--system", name, name}, {"judge", name},
		{"merge", name}, {"verify", name}, {"replay", name}, {"--store", name, "list"}, {"mutate", "--op", name}, {"schema", name}, {name},
		{"worker", "--trust", name, "--fleet", "nats://127.0.0.1:1"}, {"run", "--var-file", name + "x", name}, {"fleet", "list", name},
	} {
		cmd := child(t, "thresh", args...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		if text := string(out); strings.Contains(text, "\nPASS all held\x1b") || strings.Contains(text, "\nPASS all held\uFFFD") || strings.ContainsRune(text, 0x1b) || text == "" {
			t.Errorf("thresh %q: %q", args, out)
		}
	}
}
