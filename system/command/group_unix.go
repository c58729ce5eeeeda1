//go:build unix && !linux

package command

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/thresh-dev/thresh/port/process"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// killGroup kills the program and the rest of its process group.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func setEnd(res *process.Result, state *os.ProcessState) {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		res.Status, res.Signal, res.CoreDumped = process.Signaled, int(ws.Signal()), ws.CoreDump()
		return
	}
	res.ExitCode = state.ExitCode()
}
