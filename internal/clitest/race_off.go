//go:build !race

package clitest

// Raced says that the race detector watches.
const Raced = false
