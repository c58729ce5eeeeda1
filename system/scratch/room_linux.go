package scratch

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// blockSize is the unit of st_blocks, in bytes.
const blockSize = 512

// allocated returns the bytes that a file occupies, divided among its names.
func allocated(info fs.FileInfo) int64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size()
	}
	return st.Blocks * blockSize / int64(max(st.Nlink, 1))
}

// born returns when a file was created; the zero time if the file system does not say.
func born(path string, _ fs.FileInfo) time.Time {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}
