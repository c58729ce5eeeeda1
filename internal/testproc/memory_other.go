//go:build !linux

package testproc

// filesInMemory does nothing: here is no folder in memory.
func filesInMemory() {}
