package testproc

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFilesInMemory(t *testing.T) {
	t.Setenv("TMPDIR", "/elsewhere")
	if filesInMemory(); os.TempDir() != "/elsewhere" {
		t.Errorf("a folder that was asked for became %s", os.TempDir())
	}
	t.Setenv("TMPDIR", "")
	filesInMemory()
	want := "/tmp"
	var fs unix.Statfs_t
	if unix.Statfs(memory, &fs) == nil && fs.Type == unix.TMPFS_MAGIC && fs.Flags&unix.ST_NOEXEC == 0 && fs.Bavail*uint64(fs.Bsize) >= 2*room {
		want = memory
	} else if os.TempDir() == memory {
		return // just enough
	}
	if os.TempDir() != want {
		t.Errorf("files are in %s, want %s", os.TempDir(), want)
	}
}
