package fuzzspec

import (
	"io/fs"
	"path"
	"time"
)

// keptFile stands for a file that is no longer on the disk but in the store: a
// regular file that can be run.
type keptFile string

// Name implements [fs.FileInfo].
func (f keptFile) Name() string { return path.Base(string(f)) }

// Size implements [fs.FileInfo].
func (keptFile) Size() int64 { return 1 }

// Mode implements [fs.FileInfo].
func (keptFile) Mode() fs.FileMode { return 0o755 }

// ModTime implements [fs.FileInfo].
func (keptFile) ModTime() time.Time { return time.Time{} }

// IsDir implements [fs.FileInfo].
func (keptFile) IsDir() bool { return false }

// Sys implements [fs.FileInfo].
func (keptFile) Sys() any { return nil }
