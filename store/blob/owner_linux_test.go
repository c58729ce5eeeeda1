package blob

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// A blob that another user has stored in a shared folder is stored again: only its owner may set its
// time.
func TestBlobOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can act as another user")
	}
	dir, err := os.MkdirTemp(filepath.Dir(filepath.Dir(t.TempDir())), "blobs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := Open(dir)
	if _, err := d.Put([]byte("of root")); err != nil {
		t.Fatal(err)
	}
	if l, err := os.OpenFile(filepath.Join(dir, sweepLock), os.O_CREATE, 0o666); err == nil {
		l.Close()
	}
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error { return os.Chmod(path, 0o777) }); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		err := syscall.Setfsuid(65534)
		if err == nil {
			_, err = d.Put([]byte("of root"))
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
