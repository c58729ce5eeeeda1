package spectest

import (
	"os"
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

// A path that cannot be read as a file fails, although many checks hold for an empty file.
func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int64{"most": maxSubject, "more": maxSubject + 1} { // of holes
		write(t, filepath.Join(dir, name), nil)
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := readFile(filepath.Join(dir, "most")); err != nil || len(data) != maxSubject {
		t.Errorf("of %d bytes %d are read: %v", maxSubject, len(data), err)
	}
	path := filepath.Join(dir, "a.spec.md")
	for name, want := range map[string]string{"folder": "it is a directory", "more": "it is larger than 64 MiB", "nowhere": "no such file or directory"} {
		write(t, path, []byte("```yaml spec-test\nid: F\ntype: text.file\npath: "+name+"\nassert: [{target: text, cannot: [{contain: [secret]}]}]\n```\n"))
		if got := strings.Join(runDocument(t, path), "|"); !strings.HasPrefix(got, "F fail runtime") {
			t.Errorf("%s: %s", name, got)
		}
		if _, err := readFile(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
