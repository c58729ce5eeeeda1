package spectest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// place is where a document lies, and where its commands start.
type place struct {
	dir string // absolute folder of the document
	cwd string // of this process
	// real is the folder with its links resolved, root the contract root, which
	// paths in the document must not leave.
	real func() (real, root string, err error)
}

// locate finds out where a document lies. The contract root is looked for when
// it is first needed.
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

// contractRoot is the folder that was named for it, else the nearest above a
// document's folder that has a .git, or that folder itself.
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

// isInside reports whether a path leads from a folder to a file in it without
// links or "..": then it leaves no folder that holds the first, and neither has
// to be looked for.
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
