package scratch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A file is as old as its file system says; where it does not say so, older than any run.
func TestWhenAFileWasMade(t *testing.T) {
	if at := born("/proc/version", nil); !at.IsZero() {
		t.Errorf("a file of the kernel was made at %s", at)
	}
	path := filepath.Join(t.TempDir(), "file")
	if at := born(path, nil); !at.IsZero() {
		t.Errorf("a file that is not there was made at %s", at)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	// The clock of a file system is some ticks behind.
	if at := born(path, nil); !at.IsZero() && time.Since(at).Abs() > time.Hour {
		t.Errorf("a new file was made at %s", at)
	}
}

// A folder in memory is one that can be used; where there is none, files go where temporary
// ones are kept, and it is said why.
func TestMemory(t *testing.T) {
	dir, why := Memory()
	if (dir != "/dev/shm" || why != "") && (dir != os.TempDir() || !strings.HasPrefix(why, "/dev/shm is ")) {
		t.Errorf("%q, %q", dir, why)
	}
	f, err := Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := Remove("no name\x00"); err == nil || !strings.Contains(err.Error(), "remove a temporary folder: ") {
		t.Error(err)
	}
}
