//go:build unix

package stage

import (
	"io/fs"
	"syscall"
)

func sameOwner(a, b fs.FileInfo) bool {
	x, y := a.Sys().(*syscall.Stat_t), b.Sys().(*syscall.Stat_t) // true on all of these systems
	return x.Uid == y.Uid && x.Gid == y.Gid
}
