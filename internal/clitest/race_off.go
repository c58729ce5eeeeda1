//go:build !race

package clitest

// Raced reports whether the race detector is on.
const Raced = false
