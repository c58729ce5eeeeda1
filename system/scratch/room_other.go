//go:build !linux

package scratch

import (
	"io/fs"
	"time"
)

func allocated(info fs.FileInfo) int64 { return info.Size() }

// born returns when a file was last written; creation times are not queried here.
func born(_ string, info fs.FileInfo) time.Time { return info.ModTime() }
