package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is a folder in which pages run, one after another: each finds it as if it were new.
// Emptying a folder is cheap; making and removing one can wait for the disk.
type Folder struct {
	Top    string // files that belong to the page but are not visible in it
	Page   string // the page's own folder, in Top
	remove func() error
	clean  fs.FileInfo // Page, when it was new
}

// pageName is the name of a page's own folder.
const pageName = "page"

// NewFolder makes a folder within a temporary one.
func NewFolder(scratch func() (dir string, remove func() error, err error)) (*Folder, error) {
	top, remove, err := scratch()
	if err != nil {
		return nil, err
	}
	f := &Folder{Top: top, Page: filepath.Join(top, pageName), remove: remove}
	if err = os.Mkdir(f.Page, 0o755); err == nil {
		f.clean, err = os.Lstat(f.Page)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a folder for the case: %w", err), remove())
	}
	return f, nil
}

// Clear empties the folder for the next page. After an error the folder cannot be reused and must
// be closed.
func (f *Folder) Clear() error {
	if now, err := os.Lstat(f.Page); err != nil || !sameFolder(f.clean, now) {
		return errors.New("the folder itself was changed")
	}
	for _, dir := range []string{f.Page, f.Top} {
		list, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range list {
			if dir == f.Top && e.Name() == pageName {
				continue
			}
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close removes the folder.
func (f *Folder) Close() error { return f.remove() }

// sameFolder reports whether a folder is unchanged, apart from its content.
func sameFolder(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Mode() == b.Mode() && a.Size() == b.Size() && sameOwner(a, b)
}
