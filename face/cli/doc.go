// Package app is the composition root and the command line: the explicit list
// of contracts, what each is given to touch its targets with, and one file a
// verb. Nothing registers itself; what is not named in compose.go is not in
// the program.
//
// Results go to standard output, progress and diagnostics to standard error.
// Exit codes are those of package diag, for every verb.
package cli
