package command

import (
	"golang.org/x/sys/unix"
	"os"
	"runtime"
	"unsafe"
)

func init() {
	if os.Getenv("XSIG") != "" {
		var sa struct {
			h, f, r uintptr
			m       uint64
		}
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(&sa)), 0, 8, 0, 0)
	}
}
func xpin(w int) {
	if os.Getenv("XPIN") != "" {
		runtime.LockOSThread()
		var s unix.CPUSet
		s.Set(w % 2)
		unix.SchedSetaffinity(0, &s)
	}
}
