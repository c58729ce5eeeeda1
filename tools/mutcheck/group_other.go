//go:build !unix

package main

import "os/exec"

// alone does nothing on systems without process groups.
func alone(*exec.Cmd) {}
