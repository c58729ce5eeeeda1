package fuzzspec_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/contract/fuzzspec"
)

// host is a file system in memory that looks like a small Debian machine, so
// that what a document may run does not depend on where the tests run. Folders
// listed in disk are those of the real machine.
type host struct {
	entries map[string]entry
	disk    []string
}

type entry struct {
	mode fs.FileMode
	link string
	size int64
}

const executable = 0o755

func debian(disk ...string) host {
	dir := entry{mode: fs.ModeDir | 0o755}
	program := entry{mode: executable, size: 1}
	return host{disk: disk, entries: map[string]entry{
		"/": dir, "/usr": dir, "/usr/bin": dir, "/usr/local": dir, "/usr/local/bin": dir, "/usr/lib": dir, "/etc": dir,
		"/dev": dir, "/tmp": dir, "/srv": dir, "/srv/fuzz": dir, "/opt": dir, "/opt/hostedtoolcache": dir, "/secret": dir,
		"/bin":                      {mode: fs.ModeSymlink, link: "usr/bin"},
		"/etc/hosts":                {mode: executable, size: 1}, // as it was where the vectors were measured
		"/etc/alternatives":         dir,
		"/etc/alternatives/awk":     {mode: fs.ModeSymlink, link: "/usr/bin/mawk"},
		"/usr/bin/true":             program,
		"/usr/bin/cat":              program,
		"/usr/bin/mawk":             program,
		"/usr/bin/awk":              {mode: fs.ModeSymlink, link: "/etc/alternatives/awk"},
		"/usr/bin/gcc":              {mode: fs.ModeSymlink, link: "gcc-12"},
		"/usr/bin/gcc-12":           program,
		"/usr/bin/python3":          {mode: fs.ModeSymlink, link: "python3.11"},
		"/usr/bin/python3.11":       program,
		"/usr/bin/java":             {mode: fs.ModeSymlink, link: "/usr/lib/java"},
		"/usr/lib/java":             program,
		"/usr/bin/notes":            {mode: 0o644, size: 1},
		"/usr/local/bin/mine":       program,
		"/usr/local/bin/open":       {mode: 0o775, size: 1},
		"/opt/hostedtoolcache/node": program,
		"/opt/tool":                 program,
		"/opt/loop":                 {mode: fs.ModeSymlink, link: "loop"},
		"/dev/null":                 {mode: fs.ModeDevice | fs.ModeCharDevice | 0o666},
		"/dev/zero":                 {mode: fs.ModeDevice | fs.ModeCharDevice | 0o666},
		"/dev/pipe":                 {mode: fs.ModeNamedPipe | 0o666},
		"/dev/log":                  {mode: fs.ModeSocket | 0o666},
		"/srv/fuzz/seed.bin":        {mode: 0o644, size: 4},
		"/srv/fuzz/empty.bin":       {mode: 0o644},
		"/srv/fuzz/locked.bin":      {mode: 0, size: 4},
	}}
}

func (h host) real(name string) bool {
	for _, d := range h.disk {
		if name == d || strings.HasPrefix(name, d+"/") {
			return true
		}
	}
	return false
}

func (h host) Lstat(name string) (fs.FileInfo, error) {
	if h.real(name) {
		return os.Lstat(name)
	}
	if strings.HasPrefix(name, "/secret/") {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrPermission}
	}
	e, ok := h.entries[filepath.Clean(name)]
	if !ok {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	return info{filepath.Base(name), e}, nil
}

func (h host) Readlink(name string) (string, error) {
	if h.real(name) {
		return os.Readlink(name)
	}
	return h.entries[name].link, nil
}

// Stat follows links component by component, as a kernel does.
func (h host) Stat(name string) (fs.FileInfo, error) {
	if h.real(name) {
		return os.Stat(name)
	}
	at, rest := "/", strings.Split(name, "/")
	for hops := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		i, err := h.Lstat(next)
		if err != nil {
			return nil, err
		}
		if i.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if hops++; hops > 40 {
			return nil, &fs.PathError{Op: "stat", Path: name, Err: os.ErrInvalid}
		}
		link, _ := h.Readlink(next)
		if strings.HasPrefix(link, "/") {
			at = "/"
		}
		rest = append(strings.Split(link, "/"), rest...)
	}
	return h.Lstat(at)
}

func (h host) Executable(name string) bool {
	if h.real(name) {
		return fuzzspec.Disk{}.Executable(name)
	}
	i, err := h.Stat(name)
	return err == nil && i.Mode()&0o111 != 0
}

type info struct {
	name string
	entry
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

// fixtures makes the folder that @FIXTURES@ stands for in the vectors.
func fixtures(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(dir+"/seed.bin", []byte("seed"), 0o644))
	must(os.WriteFile(dir+"/x.sh", []byte("#!/bin/sh\n"), 0o755))
	must(os.Chmod(dir+"/x.sh", 0o755))
	must(os.WriteFile(dir+"/nx.sh", []byte("#!/bin/sh\n"), 0o644))
	must(os.Symlink("/bin/true", dir+"/lt"))
	must(os.MkdirAll(dir+"/rt/work", 0o755))
	must(os.Symlink("rt", dir+"/lnk"))
	must(os.Mkdir(dir+"/wr", 0o755))
	return dir
}
