//go:build !linux

package testproc

// filesInMemory does nothing: there is no folder in memory.
func filesInMemory() {}
