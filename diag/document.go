package diag

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// DocumentName returns a document's name for reports, digests and ids. It is the same however the
// path is typed: relative or absolute, with detours, with or without links to folders. Of a
// document below the working directory it is the path from there, with slashes. Of another one it is
// the path from the nearest folder above the working directory that holds it, as if it were typed
// there. The root and the folders in it, such as /tmp and /home, hold what is unrelated, so from
// these it is at most the last two elements: a run is then the same wherever the documents are.
func DocumentName(p string) string {
	if filepath.IsLocal(p) {
		return path.Clean(filepath.ToSlash(p))
	}
	typed := path.Join(filepath.Base(filepath.Dir(p)), filepath.Base(p))
	here, err := os.Getwd()
	if err != nil {
		return typed
	}
	if filepath.IsAbs(p) {
		if rel, err := filepath.Rel(here, p); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	// The system follows links before it goes up, so where the path leads is known only without them.
	here = withoutLinks(here)
	dir := withoutLinks(filepath.Dir(p))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(here, dir)
	}
	rel, err := filepath.Rel(here, filepath.Join(dir, filepath.Base(p)))
	if err != nil {
		return typed
	}
	above, rest := here, filepath.ToSlash(rel)
	for strings.HasPrefix(rest, "../") {
		above, rest = filepath.Dir(above), rest[len("../"):]
	}
	up := filepath.Dir(above)
	if above != here && up == filepath.Dir(up) && strings.Count(rest, "/") > 1 {
		return typed
	}
	return rest
}

// SamePath reports whether two paths, as typed in the working directory, are one.
func SamePath(a, b string) bool { return a == b || absolute(a) == absolute(b) }

func absolute(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

// withoutLinks returns a folder's path without symbolic links; a folder that is gone keeps them.
func withoutLinks(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
