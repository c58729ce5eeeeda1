//go:build unix

package fuzzspec

import "syscall"

// accessExecute asks the kernel, which also considers users, groups and read-only mounts.
func accessExecute(name string) bool {
	const xOK = 1
	return syscall.Access(name, xOK) == nil
}
