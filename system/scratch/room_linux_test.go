package scratch

import (
	"os"
	"path/filepath"
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
