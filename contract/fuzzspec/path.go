package fuzzspec

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// FS is the disk as validation needs it. [Disk] is the real one. Names are absolute.
type FS interface {
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	Executable(name string) bool // as access(2) with X_OK reports
}

// NormalizePath writes a path as Python's pathlib does: single slashes, no "." and no trailing
// slash. It keeps ".." and exactly two leading slashes, since neither can be dropped without
// looking at the disk.
func NormalizePath(p string) string {
	root := ""
	switch {
	case strings.HasPrefix(p, "//") && !strings.HasPrefix(p, "///"):
		root = "//"
	case strings.HasPrefix(p, "/"):
		root = "/"
	}
	parts := pathParts(p)
	if root == "" && len(parts) == 0 {
		return "."
	}
	return root + strings.Join(parts, "/")
}

// pathParts returns the components of a path that carry meaning.
func pathParts(p string) []string {
	var parts []string
	for part := range strings.SplitSeq(p, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}

// errNUL is the error for a path that no system call accepts.
var errNUL = errors.New("path holds a NUL byte")

// realPath resolves symbolic links of an absolute path as Python's os.path.realpath does when it is
// not strict: missing and unreadable parts stay, and so does a link that leads to itself.
func realPath(fsys FS, name string) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", errNUL
	}
	r := resolver{fs: fsys, seen: map[string]string{}}
	p, _ := r.join("/", name)
	return path.Clean(p), nil
}

type resolver struct {
	fs   FS
	seen map[string]string // link to its target; "" while it is being resolved
}

// join appends rest to the resolved path base; false means that a link leads
// to itself and the rest was appended unresolved.
func (r resolver) join(base, rest string) (string, bool) {
	if strings.HasPrefix(rest, "/") {
		base = "/"
	}
	parts := pathParts(rest)
	for i, name := range parts {
		if name == ".." {
			base = path.Dir(base)
			continue
		}
		next := path.Join(base, name)
		info, err := r.fs.Lstat(next)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			base = next
			continue
		}
		if to, ok := r.seen[next]; ok {
			if to == "" {
				return path.Join(append([]string{next}, parts[i+1:]...)...), false
			}
			base = to
			continue
		}
		link, err := r.fs.Readlink(next)
		if err != nil {
			base = next
			continue
		}
		r.seen[next] = ""
		to, ok := r.join(base, link)
		if !ok {
			return path.Join(append([]string{to}, parts[i+1:]...)...), false
		}
		r.seen[next] = to
		base = to
	}
	return base, true
}

// isWithin reports whether a resolved path is dir or inside it, by component.
func isWithin(name, dir string) bool {
	return name == dir || dir == "/" || strings.HasPrefix(name, dir+"/")
}

// Disk is the real file system as an [FS].
type Disk struct{}

// Stat implements [FS].
func (Disk) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Lstat implements [FS].
func (Disk) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// Readlink implements [FS].
func (Disk) Readlink(name string) (string, error) { return os.Readlink(name) }

// Executable implements [FS].
func (Disk) Executable(name string) bool { return accessExecute(name) }
