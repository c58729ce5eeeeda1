//go:build !unix

package command

import (
	"os"
	"os/exec"

	"github.com/thresh-dev/thresh/port/process"
)

func ownGroup(*exec.Cmd) {}

// killGroup kills only the program; its children live on.
func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }

func setEnd(res *process.Result, state *os.ProcessState) { res.ExitCode = state.ExitCode() }
