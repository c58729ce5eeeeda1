// Package aflserver runs the cases of programs that were compiled with afl-cc.
// Such a program has a fork server inside, which makes a process for each case,
// or runs many cases in one process (persistent mode), and counts which edges
// of the code each case took.
//
// The rules are those of AFL++'s fork server protocol, in its two dialects:
// the one of AFL++ up to 4.0x, whose first word holds flags, and the one since
// 4.20, whose first word holds a version. The rules of the two shared memory
// segments, one for edge counts and one for inputs, are the same in both.
//
// The package imports the standard library, golang.org/x/sys and forkline
// only. It knows nothing of cases, folders or results; it does no mutation and
// makes no judgement. Start reading at [Detect] and [Start].
package aflserver
