// Package cli is the command line: one file per verb, over the use cases of
// package app.
//
// Results go to standard output, progress and diagnostics to standard error.
// Exit codes are those of package diag, for every verb.
package cli
