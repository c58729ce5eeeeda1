// Package forkline connects a fork server and its client: a pair of pipes that
// carry 32-bit words, and the launch of the program at the other end.
//
// Two servers live behind such a line: the one that package zygote puts into
// a program that knows nothing of it, and the one that afl-cc compiles into a
// program (package aflserver). Both are asked for a case by a word on the
// control pipe and answer with words on the status pipe; that is all that
// they share, and all that is here. The package knows neither protocol. It
// imports the standard library and golang.org/x/sys only.
//
// Start reading at [Line].
package forkline
