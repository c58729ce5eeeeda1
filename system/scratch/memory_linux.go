package scratch

import (
	"os"

	"golang.org/x/sys/unix"
)

// roomNeeded is the free space, in bytes, below which tmpfs is not used.
const roomNeeded = 64 << 20

// Memory returns a folder in memory or, if none is usable, the folder for temporary files with the
// reason in why.
func Memory() (dir, why string) {
	const shm = "/dev/shm"
	var fs unix.Statfs_t
	switch {
	case unix.Access(shm, unix.W_OK|unix.X_OK) != nil || unix.Statfs(shm, &fs) != nil:
		why = "not writable"
	case fs.Type != unix.TMPFS_MAGIC:
		why = "not a tmpfs"
	case fs.Bavail*uint64(fs.Bsize) < roomNeeded:
		why = "nearly full"
	case fs.Flags&unix.ST_NOEXEC != 0:
		why = "mounted noexec"
	default:
		return shm, ""
	}
	return os.TempDir(), "/dev/shm is " + why
}
