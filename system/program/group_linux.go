package program

import "syscall"

// attributes puts a child into its own process group and has the kernel kill it when Thresh ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
