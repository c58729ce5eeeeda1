//go:build !unix

package agent

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
