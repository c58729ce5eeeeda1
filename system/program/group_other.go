//go:build !unix

package program

import "os"

func terminate(pid int) { killGroup(pid) }

// killGroup kills only the process: this system has no groups.
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}
