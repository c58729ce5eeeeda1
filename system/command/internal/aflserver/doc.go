// Package aflserver runs the cases of programs that were compiled with afl-cc. Such a program
// contains a fork server, which makes a process for each case or runs many cases in one process
// (persistent mode), and counts the edges of the code that each case takes.
//
// The rules are those of AFL++'s fork server protocol in its two dialects: up to AFL++ 4.0x the
// first word holds flags, since 4.20 it holds a version. Both share the rules of the two shared
// memory segments, one for edge counts and one for inputs.
//
// The package imports only the standard library, golang.org/x/sys, port/process and forkline. It
// knows nothing of folders or results; it neither mutates nor judges. Start reading at [Detect] and
// [Start].
package aflserver
