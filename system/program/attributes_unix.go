//go:build unix && !linux

package program

import "syscall"

// attributes puts a child into its own process group.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
