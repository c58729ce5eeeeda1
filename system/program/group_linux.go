package program

import "syscall"

// attributes make a child a group of its own that does not outlive Thresh.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
