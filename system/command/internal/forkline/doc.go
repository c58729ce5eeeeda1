// Package forkline connects a fork server and its client: a pair of pipes that carry 32-bit words,
// and the launch of the program at the other end.
//
// Two kinds of server use such a line: the one that package zygote injects into an unprepared
// program, and the one that afl-cc compiles into a program (package aflserver). A word on the
// control pipe requests a case; words on the status pipe answer. They share no more than that, so
// the package knows neither protocol. It imports only the standard library and golang.org/x/sys.
//
// Start reading at [Line].
package forkline
