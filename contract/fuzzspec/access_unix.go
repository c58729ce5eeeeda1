//go:build unix

package fuzzspec

import "syscall"

// accessExecute asks the kernel, which knows of users, groups and read-only
// mounts what mode bits alone do not say.
func accessExecute(name string) bool {
	const xOK = 1
	return syscall.Access(name, xOK) == nil
}
