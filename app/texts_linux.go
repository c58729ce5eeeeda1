package app

import (
	"os"
	"syscall"
)

// mapFile maps a part of a file for reading. The part may reach beyond the end of the file; nothing
// may be read there until the file has grown.
func mapFile(f *os.File, from int64, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), from, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

// dropPages gives back the memory of a part of the file that begins on a page boundary.
func dropPages(b []byte) {
	if len(b) > 0 {
		_ = syscall.Madvise(b, syscall.MADV_DONTNEED) // only a hint
	}
}
