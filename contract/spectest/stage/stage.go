// Package stage prepares the folders in which cases of documents run, and reads what a case leaves
// there. It is the edge of the Spec-Test contract: no other part of the contract writes or removes
// a file. It knows files but no cases, and imports nothing of Thresh.
package stage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file to create before a case begins.
type File struct{ Path, Text string }

// Write writes files to a folder and makes the folders on their paths.
func Write(dir string, files []File) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(f.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Limits on a folder that is copied for a case.
const (
	maxEntries = 20_000
	maxBytes   = 512 << 20
)

// IsStore reports whether a folder holds runs; cases do not touch it.
func IsStore(dir string) bool {
	for _, part := range []string{"runs", "blobs", "lock"} {
		if _, err := os.Lstat(filepath.Join(dir, part)); err != nil {
			return filepath.Base(dir) == ".thresh"
		}
	}
	return true
}

// Copy copies the content of a folder, except stored runs, to a folder for one case. Links stay
// links; anything that is not a file, folder or link is an error.
func Copy(to, from string) error {
	entries, bytes := 0, int64(0)
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != from && IsStore(p) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(from, p)
		if err != nil || rel == "." {
			return err
		}
		if entries++; entries > maxEntries {
			return fmt.Errorf("it holds more than %d files and folders", maxEntries)
		}
		n, err := copyEntry(p, filepath.Join(to, rel), d)
		if bytes += n; bytes > maxBytes {
			return fmt.Errorf("it holds more than %d MiB", maxBytes>>20)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("copying the folder for an isolated case: %w", err)
	}
	return nil
}

func copyEntry(from, to string, d fs.DirEntry) (int64, error) {
	switch {
	case d.IsDir():
		return 0, os.Mkdir(to, 0o755)
	case d.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return 0, err
		}
		return 0, os.Symlink(target, to)
	case !d.Type().IsRegular():
		return 0, fmt.Errorf("%s is not a file, folder or link", d.Name())
	}
	info, err := d.Info()
	if err != nil {
		return 0, err
	}
	if info.Size() > maxBytes {
		return info.Size(), nil
	}
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o200)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, in)
	return n, errors.Join(err, out.Close())
}
