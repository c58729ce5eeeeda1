// Package systemtest is the suite that every edge that runs programs for campaigns must pass: every
// process.Opener. Its program does what a case's input says. It exists in Go, as the test binary
// itself (see [Main]), and in C, for executors that need a program compiled in their own way.
// [RunSystem] is the suite for systems under test.
//
// The package is for tests only. It imports ports and knows no executor.
package systemtest
