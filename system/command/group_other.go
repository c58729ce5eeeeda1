//go:build !unix

package command

import (
	"os"
	"os/exec"

	"github.com/thresh-dev/thresh/port/process"
)

func ownGroup(*exec.Cmd) {}

// killGroup kills the program alone; what it started lives on.
func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }

func setEnd(res *process.Result, state *os.ProcessState) { res.ExitCode = state.ExitCode() }
