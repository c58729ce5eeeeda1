//go:build !unix

package program

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
