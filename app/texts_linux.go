package app

import (
	"os"
	"syscall"
)

// mapFile maps a part of a file into memory, to be read. The file may have less
// there yet; beyond its end nothing may be looked at.
func mapFile(f *os.File, from int64, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), from, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

// dropPages gives back the memory of a part of a file that begins on a page.
func dropPages(b []byte) {
	if len(b) > 0 {
		_ = syscall.Madvise(b, syscall.MADV_DONTNEED) // which is advice
	}
}
