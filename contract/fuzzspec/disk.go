package fuzzspec

import (
	"io/fs"
	"os"
)

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
