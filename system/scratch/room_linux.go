package scratch

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// blockSize is what the kernel counts blocks in.
const blockSize = 512

// allocated is the room that a file takes; one of two names takes it once.
func allocated(info fs.FileInfo) int64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size()
	}
	return st.Blocks * blockSize / int64(max(st.Nlink, 1))
}

// born is when a file was made; on file systems that do not say so, the beginning of time.
func born(path string, _ fs.FileInfo) time.Time {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}
