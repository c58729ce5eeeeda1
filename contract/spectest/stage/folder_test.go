package stage

import (
	"os"
	"path/filepath"
	"testing"
)

func scratch(t *testing.T) func() (string, func() error, error) {
	return func() (string, func() error, error) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		return dir, func() error { return os.RemoveAll(dir) }, err
	}
}

// A page finds nothing of the one before it; a folder that was changed itself is not
// used again.
func TestFolder(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(f *Folder) error
		again bool
	}{
		{"nothing", func(*Folder) error { return nil }, true},
		{"files and folders", func(f *Folder) error {
			return Write(f.Top, []File{{Path: "page/in/a", Text: "a"}, {Path: "page/.hidden", Text: "b"}, {Path: "state-1", Text: "c"}})
		}, true},
		{"a link to the outside", func(f *Folder) error { return os.Symlink(t.TempDir(), filepath.Join(f.Page, "link")) }, true},
		{"another mode", func(f *Folder) error { return os.Chmod(f.Page, 0o700) }, false},
		{"removed", func(f *Folder) error { return os.RemoveAll(f.Page) }, false},
		{"replaced", func(f *Folder) error {
			return os.Rename(f.Page, f.Page+"-old")
		}, false},
		{"a link in its place", func(f *Folder) error {
			if err := os.RemoveAll(f.Page); err != nil {
				return err
			}
			return os.Symlink(f.Top, f.Page)
		}, false},
	} {
		f, err := NewFolder(scratch(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.do(f); err != nil {
			t.Fatal(err)
		}
		err = f.Clear()
		page, _ := os.ReadDir(f.Page)
		top, _ := os.ReadDir(f.Top)
		if (err == nil) != c.again || c.again && (len(page) > 0 || len(top) != 1) {
			t.Errorf("%s: %v, with %v and %v left", c.name, err, page, top)
		}
		if err := f.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := os.Lstat(f.Top); err == nil {
			t.Errorf("%s: the folder is still there", c.name)
		}
	}
}
