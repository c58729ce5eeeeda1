package spectest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// place is the folder of a document and the start folder of its commands.
type place struct {
	dir string // absolute folder of the document
	cwd string // of this process
	// real returns the folder with links resolved, and the contract root, which paths in the document
	// must not leave.
	real func() (real, root string, err error)
}

// locate finds the place of a document. It searches for the contract root only when needed.
func locate(document, root string) (*place, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	p := &place{dir: filepath.Dir(document), cwd: cwd}
	if !filepath.IsAbs(p.dir) {
		p.dir = filepath.Join(cwd, p.dir)
	}
	var real, top string
	var once sync.Once
	p.real = func() (string, string, error) {
		once.Do(func() {
			if real, err = filepath.EvalSymlinks(p.dir); err == nil {
				top, err = contractRoot(real, root)
			}
		})
		return real, top, err
	}
	return p, nil
}

// contractRoot is the folder named as root; else the nearest folder at or above the document's that
// has a .git; else the document's folder.
func contractRoot(dir, named string) (string, error) {
	if named != "" {
		root, err := filepath.Abs(named)
		if err == nil {
			root, err = filepath.EvalSymlinks(root)
		}
		if err != nil {
			return "", fmt.Errorf("--%s: %w", optRoot, err)
		}
		return root, nil
	}
	for p := dir; ; p = filepath.Dir(p) {
		if _, err := os.Lstat(filepath.Join(p, ".git")); err == nil {
			return p, nil
		}
		if p == filepath.Dir(p) {
			return dir, nil
		}
	}
}

// isInside reports whether a path leads from a folder to a file in it without links or "..". Such a
// path cannot leave the contract root, so the root need not be searched.
func isInside(dir, name string) bool {
	if !filepath.IsLocal(name) || strings.Contains(name, "..") {
		return false
	}
	at := dir
	for part := range strings.SplitSeq(name, string(filepath.Separator)) {
		at += string(filepath.Separator) + part
		if info, err := os.Lstat(at); err != nil || info.Mode()&os.ModeSymlink != 0 {
			return false
		}
	}
	return true
}
