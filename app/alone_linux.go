package app

import (
	"os/exec"
	"syscall"
)

// ownProcessGroup puts a command into its own process group, so that killing its group kills
// nothing else. The command dies with the thread that starts it.
func ownProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
