package spectest

import (
	"syscall"
	"time"
)

// rusageThread is RUSAGE_THREAD, which package syscall does not define.
const rusageThread = 1

// threadTime is the processor time that the calling thread has used.
func threadTime() (time.Duration, bool) {
	var u syscall.Rusage
	if syscall.Getrusage(rusageThread, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
