//go:build unix && !linux

package program

import "syscall"

// attributes make a child a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
