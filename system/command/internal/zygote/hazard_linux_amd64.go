package zygote

import (
	"golang.org/x/sys/unix"
)

// A copy of a process differs from a new process. The tables here list the system calls that, made
// before the fork point, would make a program's copies share or lose something, or act outside
// their own case.

// Reasons, phrased to follow the word "it".
const (
	startsThreads   = "starts threads"
	startsProcesses = "starts other processes"
	executes        = "executes another program"
	setsTimer       = "sets a timer"
	usesNetwork     = "talks over a socket"
	usesQueues      = "sets up input and output in the background"
	sharesMemory    = "shares memory"
	writes          = "writes output"
	changesFiles    = "opens a file for writing or changes the file system"
	asksIdentity    = "asks for its process id"
	filters         = "restricts its own system calls"
	changesWorld    = "changes its name spaces, root or process group"
	tracesItself    = "uses ptrace"
	locks           = "locks files or memory"
	pinsMemory      = "keeps memory back from its children"
	changesProcess  = "sets a property that its children do not get"
)

var hazards = map[uint64]string{
	unix.SYS_FORK: startsProcesses, unix.SYS_VFORK: startsProcesses,

	unix.SYS_SETITIMER: setsTimer, unix.SYS_ALARM: setsTimer, unix.SYS_TIMER_CREATE: setsTimer,

	// Descriptors with a state of their own (pipes, sockets, epoll, ...) do harm only if they are
	// still open at the fork point, which rewinds checks. The C library opens sockets tentatively.
	unix.SYS_BIND: usesNetwork, unix.SYS_LISTEN: usesNetwork, unix.SYS_SENDTO: usesNetwork,
	unix.SYS_SENDMSG: usesNetwork, unix.SYS_SENDMMSG: usesNetwork,

	unix.SYS_IO_URING_SETUP: usesQueues, unix.SYS_IO_SETUP: usesQueues, unix.SYS_USERFAULTFD: usesQueues,

	unix.SYS_SHMGET: sharesMemory, unix.SYS_SHMAT: sharesMemory,
	unix.SYS_SEMGET: sharesMemory, unix.SYS_MSGGET: sharesMemory,

	unix.SYS_WRITE: writes, unix.SYS_WRITEV: writes, unix.SYS_PWRITE64: writes, unix.SYS_PWRITEV: writes,
	unix.SYS_PWRITEV2: writes, unix.SYS_SENDFILE: writes, unix.SYS_SPLICE: writes, unix.SYS_TEE: writes,
	unix.SYS_VMSPLICE: writes, unix.SYS_COPY_FILE_RANGE: writes,

	unix.SYS_CREAT: changesFiles, unix.SYS_MKDIR: changesFiles, unix.SYS_MKDIRAT: changesFiles,
	unix.SYS_RMDIR: changesFiles, unix.SYS_UNLINK: changesFiles, unix.SYS_UNLINKAT: changesFiles,
	unix.SYS_RENAME: changesFiles, unix.SYS_RENAMEAT: changesFiles, unix.SYS_RENAMEAT2: changesFiles,
	unix.SYS_LINK: changesFiles, unix.SYS_LINKAT: changesFiles, unix.SYS_SYMLINK: changesFiles,
	unix.SYS_SYMLINKAT: changesFiles, unix.SYS_MKNOD: changesFiles, unix.SYS_MKNODAT: changesFiles,
	unix.SYS_CHMOD: changesFiles, unix.SYS_FCHMOD: changesFiles, unix.SYS_FCHMODAT: changesFiles,
	unix.SYS_CHOWN: changesFiles, unix.SYS_FCHOWN: changesFiles, unix.SYS_LCHOWN: changesFiles,
	unix.SYS_FCHOWNAT: changesFiles, unix.SYS_TRUNCATE: changesFiles, unix.SYS_FTRUNCATE: changesFiles,
	unix.SYS_FALLOCATE: changesFiles, unix.SYS_UTIME: changesFiles, unix.SYS_UTIMES: changesFiles,
	unix.SYS_FUTIMESAT: changesFiles, unix.SYS_UTIMENSAT: changesFiles, unix.SYS_SETXATTR: changesFiles,
	unix.SYS_FSETXATTR: changesFiles, unix.SYS_LSETXATTR: changesFiles,

	// Not gettid: interpreters call it routinely, and the kernel refuses to signal a thread by one
	// process's stale thread id and another process's id.
	unix.SYS_GETPID: asksIdentity, unix.SYS_GETPGRP: asksIdentity, unix.SYS_GETPGID: asksIdentity,
	unix.SYS_GETSID: asksIdentity,

	unix.SYS_SECCOMP: filters, unix.SYS_LANDLOCK_RESTRICT_SELF: filters,

	unix.SYS_UNSHARE: changesWorld, unix.SYS_SETNS: changesWorld, unix.SYS_CHROOT: changesWorld,
	unix.SYS_PIVOT_ROOT: changesWorld, unix.SYS_MOUNT: changesWorld, unix.SYS_UMOUNT2: changesWorld,
	unix.SYS_SETPGID: changesWorld, unix.SYS_SETSID: changesWorld,

	unix.SYS_PTRACE: tracesItself,

	unix.SYS_FLOCK: locks, unix.SYS_MLOCK: locks, unix.SYS_MLOCK2: locks, unix.SYS_MLOCKALL: locks,
}

// hazard returns why no copy may be made after the system call that is about to be made; "" if the
// call is harmless.
func (t *tracee) hazard(info syscallInfo) string {
	a := info.args
	switch info.nr {
	case unix.SYS_CLONE, unix.SYS_CLONE3:
		flags := a[0]
		if info.nr == unix.SYS_CLONE3 {
			flags, _ = t.word(a[0]) // the first field of struct clone_args
		}
		if flags&unix.CLONE_THREAD != 0 {
			return startsThreads
		}
		return startsProcesses
	case unix.SYS_OPEN:
		return t.openHazard(a[0], a[1])
	case unix.SYS_OPENAT:
		return t.openHazard(a[1], a[2])
	case unix.SYS_OPENAT2:
		flags, _ := t.word(a[2]) // the first field of struct open_how
		return t.openHazard(a[1], flags)
	case unix.SYS_MMAP:
		// A shared mapping that the program only reads, such as a locale archive, does not change.
		if kind := a[3] & unix.MAP_TYPE; kind != unix.MAP_PRIVATE && a[2]&unix.PROT_WRITE != 0 {
			return sharesMemory
		}
	case unix.SYS_MADVISE:
		if a[2] == unix.MADV_DONTFORK || a[2] == unix.MADV_WIPEONFORK {
			return pinsMemory
		}
	case unix.SYS_FCNTL:
		switch a[1] {
		case unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_SETLK, unix.F_OFD_SETLKW, unix.F_SETLEASE:
			return locks
		case unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_NOTIFY:
			return asksIdentity
		}
	case unix.SYS_PRCTL:
		switch a[0] {
		case unix.PR_SET_SECCOMP:
			return filters
		case unix.PR_SET_PDEATHSIG, unix.PR_SET_DUMPABLE, unix.PR_SET_CHILD_SUBREAPER:
			return changesProcess
		}
	}
	return hazards[info.nr]
}

// openHazard is hazard for an open with the given flags. The null device may be open for writing.
func (t *tracee) openHazard(path, flags uint64) string {
	if flags&unix.O_PATH != 0 {
		return ""
	}
	const changing = unix.O_CREAT | unix.O_TRUNC | (unix.O_TMPFILE &^ unix.O_DIRECTORY)
	if flags&unix.O_ACCMODE == unix.O_RDONLY && flags&changing == 0 {
		return ""
	}
	if name, ok := t.text(path); ok && name == "/dev/null" {
		return ""
	}
	return changesFiles
}
