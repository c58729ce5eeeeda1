// Package command runs programs: it executes the cases of a process.Plan and returns
// process.Results. Its [Open] is a process.Opener.
//
// A case runs in a private folder on tmpfs that is wiped before the next case. Its input is a file
// there, its output goes to memory files, and it has its own session and limits. The case is over
// when its main process ends; processes it left running are found and killed. The child's path from
// clone3 to execve is a table of system calls that Go prepares and a few lines of assembly execute
// (see step), so limits and containment cost table entries and no helper process.
//
// Spawn is the reference. The accelerators (zygote, afl) implement the same small interface
// (executor), and the lane continually cross-checks them against spawn. Time limits work the same
// way: a short limit learnt by calibration avoids waiting, but only the plan's own limit, applied
// by spawn, yields "timed out".
//
// Note two effects of the kernel: MaxRSS is never below this process's own resident size, because
// the kernel carries it over execve; and writing beyond the file size limit ends a program with
// SIGXFSZ, also on standard output.
//
// The rules for cross-checking executors are in lane.go; the contracts specify the environment of
// command lines. The package imports process, its own internal fork servers and golang.org/x/sys;
// it must not import a contract, run, store or report. Start reading at lane.go.
package command
