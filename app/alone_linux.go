package app

import (
	"os/exec"
	"syscall"
)

// ownProcessGroup puts a command into its own group, so that what kills its group
// kills nothing else; it ends with the thread that starts it.
func ownProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
