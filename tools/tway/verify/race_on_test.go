//go:build race

package verify_test

// raced says that the race detector watches, which makes long searches ten times
// as long.
const raced = true
