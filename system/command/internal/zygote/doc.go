// Package zygote saves a program its start-up: it starts the program once and forks it for each
// case. It stops the program before it reads its input and writes a few instructions into it that
// fork it on demand; each case is then a copy of the started program. The program needs no
// recompiling or preloading. The work is done through ptrace; the rules come from ptrace(2),
// clone(2) and the System V ABI of amd64. It supports only Linux on amd64; elsewhere [Start]
// returns an error.
//
// A forked case is our direct child, because the program forks with CLONE_PARENT, and leads its own
// session like a spawned one.
//
// # Where it forks
//
// At the latest of these points that is safe, each tried in a new process:
//
//   - "input": before the first system call that names the input file, by
//     whatever path, or that can reveal what is on standard input;
//   - "main": before the first instruction of main, where the C library's
//     start code calls it;
//   - "entry": before the first instruction of the program itself, after the
//     dynamic linker.
//
// A point is safe if nothing that happened before it would be shared between the copies or lost to
// them: no threads, processes, timers, sockets, pipes or shared memory; nothing written or changed
// on disk; no request for the process id; no system call filter. Files open for reading are safe,
// because their offsets are restored before every fork.
//
// # What a copy sees
//
// Fresh, as in a spawned process: process and thread id (also where the C library stores it),
// session and process group, the robust futex list, processor time and its limits, pending signals.
// Inherited with the right content: signal dispositions and mask, working folder, environment,
// resource limits, open files, the registration for restartable sequences (the kernel keeps it
// across a fork that does not share memory, and the memory is at the same address).
//
// Fixed when the program was started, and therefore shared by all cases: the address space layout,
// the random values of the stack protector and of hash tables, times read before the point, a
// thread id that the program itself requested from the kernel. A program whose output depends on
// these gives the same output in every case. Two small mappings remain in the address space,
// visible in /proc/self/maps.
//
// The package is an accelerator, not the reference: its caller checks samples of its results, and
// all failures, against spawned processes.
//
// It imports only the standard library, golang.org/x/sys and forkline, and knows nothing of cases,
// folders or results. Start reading at [Start].
package zygote
