// Package zygote saves a program its start-up: it starts the program once and
// forks it for each case. It stops the program before it reads its input, and
// writes a few instructions into it that fork it on demand: each case is then a
// copy of the started program. The program needs no preparation: no
// recompiling, no preloading. The kernel's ptrace interface does the work; the
// rules come from ptrace(2), clone(2) and the System V ABI of amd64. Linux on
// amd64 only; elsewhere [Start] says so.
//
// A forked case is our own direct child, because the program forks with
// CLONE_PARENT, and leads its own session like a spawned one.
//
// # Where it forks
//
// The latest of these that is safe, each tried on a fresh process:
//
//   - "input": before the first system call that names the input file, by
//     whatever path, or that can tell what is on standard input;
//   - "main": before the first instruction of main, where the C library's
//     start code calls it;
//   - "entry": before the first instruction of the program proper, after the
//     dynamic linker.
//
// A point is safe when nothing that happened before it would be shared between
// the copies or lost to them: no threads, processes, timers, sockets, pipes or
// shared memory; nothing written or changed on disk; no process id asked for;
// no filter on system calls. Files that are open for reading are safe, because
// their offsets are put back before every fork.
//
// # What a copy sees
//
// Fresh, as in a spawned process: process and thread id (also where the C
// library keeps it), session and process group, the robust futex list,
// processor time and the limits on it, pending signals. Inherited with the
// right content: signal dispositions and mask, working folder, environment,
// resource limits, open files, the registration for restartable sequences
// (the kernel keeps it over a fork that does not share memory, and the memory
// is at the same address).
//
// Frozen when the program was started, so that all cases share it: the layout
// of the address space, the stack protector's and hash tables' random values,
// time that was read before the point, a thread id that the program itself
// asked the kernel for. A program whose output shows these
// gives the same output in every case. Two small mappings are left in the
// address space, visible in /proc/self/maps.
//
// The package is an accelerator and no definition of truth: its caller checks
// samples of its results, and all failures, against spawned processes.
//
// It imports the standard library, golang.org/x/sys and forkline only, and
// knows nothing of cases, folders or results. Start reading at [Start].
package zygote
