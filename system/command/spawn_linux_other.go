//go:build linux && !amd64

package command

import "golang.org/x/sys/unix"

// canLaunch is false because there is no assembly for this processor; programs are started by
// syscall.ForkExec.
const canLaunch = false

func launch(*launchpad) (pid, errno uintptr) { return 0, uintptr(unix.ENOSYS) }
