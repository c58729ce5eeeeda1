package command

import "golang.org/x/sys/unix"

// deniedCalls are system calls that a program under test has no business making: they change the
// machine, inspect other processes or bypass the rules.
var deniedCalls = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_IOPL, unix.SYS_IOPERM,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_IO_URING_SETUP,
}

const (
	auditArchX8664 = 0xc000003e
	x32Bit         = 0x40000000
	// offsets in struct seccomp_data
	dataNr, dataArch, dataArg0 = 0, 4, 16
)

// newNamespaces are the clone flags that create namespaces, in which a program may be root and
// mount file systems.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// filter returns the seccomp program. It allows netlink sockets, through which programs list their
// network interfaces, and internet sockets unless noInternet says that no network namespace
// contains them. A Unix socket is a way out through its path (docker, dbus, a key agent), whatever
// its owner's namespace, and so is a socket to the hypervisor; socket pairs lead nowhere and are
// allowed. If the program sees outside processes (seesOthers), it may change only its own limits
// and priority.
func filter(noInternet, seesOthers bool) []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	jump := func(op uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	refuse := func(e unix.Errno) unix.SockFilter { return ret(unix.SECCOMP_RET_ERRNO | uint32(e)) }

	f := []unix.SockFilter{
		load(dataArch),
		jump(unix.BPF_JEQ, auditArchX8664, 1, 0),
		refuse(unix.ENOSYS),
		load(dataNr),
		jump(unix.BPF_JGE, x32Bit, 0, 1),
		refuse(unix.ENOSYS),
	}
	for _, nr := range deniedCalls {
		f = append(f, jump(unix.BPF_JEQ, nr, 0, 1), refuse(unix.EPERM))
	}
	// The flags of clone3 are in memory, which a filter cannot read. Libraries fall back to clone
	// if clone3 is unavailable.
	f = append(f, jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), refuse(unix.ENOSYS),
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4), load(dataArg0), jump(unix.BPF_JSET, newNamespaces, 0, 1), refuse(unix.EPERM), load(dataNr))
	if seesOthers {
		for _, c := range []struct{ nr, process uint32 }{{unix.SYS_PRLIMIT64, dataArg0}, {unix.SYS_SETPRIORITY, dataArg0 + 8}} {
			f = append(f, jump(unix.BPF_JEQ, c.nr, 0, 4), load(c.process), jump(unix.BPF_JEQ, 0, 1, 0), refuse(unix.EPERM), load(dataNr))
		}
	}
	families := []uint32{unix.AF_NETLINK, unix.AF_INET, unix.AF_INET6}
	if noInternet {
		families = families[:1]
	}
	f = append(f, jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, uint8(len(families)+2)), load(dataArg0))
	for i, family := range families {
		f = append(f, jump(unix.BPF_JEQ, family, uint8(len(families)-i), 0))
	}
	return append(f, refuse(unix.EACCES), ret(unix.SECCOMP_RET_ALLOW))
}
