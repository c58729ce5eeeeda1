package spectest

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe that nobody writes to is not a file to look at, and is not waited for.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skipf("no pipe can be made: %v", err)
	}
	path := filepath.Join(dir, "a.spec.md")
	write(t, path, []byte("```yaml spec-test\nid: PIPE\ntype: text.file\npath: pipe\n```\n"))
	if got := strings.Join(runDocument(t, path), "|"); !strings.HasPrefix(got, "PIPE fail runtime") {
		t.Error(got)
	}
}
