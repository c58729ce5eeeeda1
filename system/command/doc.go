// Package command runs programs: it executes the cases of a process.Plan and
// returns process.Results. Its [Open] is a process.Opener.
//
// A case runs in a private folder on tmpfs that is wiped before the next one,
// with its input as a file there, its output caught in memory files, in its
// own session, under limits. When the main process has ended the case is over:
// what it left running is hunted down and killed. How a process is started is
// decided by one idea: the child's path from clone3 to execve is a table of
// system calls made in Go and walked by a few lines of assembly (see step), so
// that limits and containment cost a table entry and no helper process.
//
// Spawn is the truth. The accelerators (zygote, afl) sit behind the same small
// interface (executor), and the lane checks them against spawn all the time.
// Time limits have the same shape: a short limit learnt by calibration spares
// waiting, but only the plan's own limit, applied by spawn, says "timed out".
//
// Two things that the kernel reports are worth knowing: MaxRSS is never below
// this process's own resident size, because the kernel carries it over execve;
// and a program's writes beyond the file size limit end it with SIGXFSZ, also
// on standard output.
//
// The rules of honesty between executors stand in lane.go, those of the command
// line's environment with the contracts. The package imports process, its own
// internal fork servers and golang.org/x/sys; it must not import a contract,
// run, store or report. Start reading at lane.go.
package command
