//go:build !unix

package program

import "os"

func terminate(pid int) { killGroup(pid) }

// killGroup kills the process alone: there are no groups here.
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}
