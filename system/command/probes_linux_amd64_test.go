package command

import (
	"fmt"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/port/process"
	"golang.org/x/sys/unix"
)

// TestSandboxProbes tries, one by one, the ways out of a sandbox that a filter of
// system calls closes: each call fails with the error of a refusal, whatever its
// arguments are worth.
func TestSandboxProbes(t *testing.T) {
	b := openBench(t, func(p *process.Plan) { p.Sandbox = true })
	if b.ground().box == nil {
		t.Skip("this system grants no sandbox")
	}
	call := func(nr uintptr, args ...uintptr) string {
		s := fmt.Sprint("syscall ", nr)
		for _, a := range args {
			s += fmt.Sprint(" ", a)
		}
		return s
	}
	const stream = unix.SOCK_STREAM
	probes := map[string]string{
		"Unix socket":               call(unix.SYS_SOCKET, unix.AF_UNIX, stream),
		"Unix datagram socket":      call(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC),
		"socket to the host":        call(unix.SYS_SOCKET, unix.AF_VSOCK, stream),
		"packet socket":             call(unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW),
		"kernel crypto socket":      call(unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET),
		"Bluetooth socket":          call(unix.SYS_SOCKET, unix.AF_BLUETOOTH, unix.SOCK_RAW),
		"CAN socket":                call(unix.SYS_SOCKET, unix.AF_CAN, unix.SOCK_RAW),
		"TIPC socket":               call(unix.SYS_SOCKET, unix.AF_TIPC, unix.SOCK_SEQPACKET),
		"XDP socket":                call(unix.SYS_SOCKET, unix.AF_XDP, unix.SOCK_RAW),
		"family beyond the known":   call(unix.SYS_SOCKET, 200, stream),
		"user namespace":            call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		"mount namespace":           call(unix.SYS_UNSHARE, unix.CLONE_NEWNS),
		"network namespace":         call(unix.SYS_UNSHARE, unix.CLONE_NEWNET),
		"no namespace":              call(unix.SYS_UNSHARE, 0),
		"child in a user namespace": call(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD)),
		"child in a pid namespace":  call(unix.SYS_CLONE, unix.CLONE_NEWPID|uintptr(unix.SIGCHLD)),
		"clone3":                    call(unix.SYS_CLONE3),
		"another namespace":         call(unix.SYS_SETNS),
		"mount":                     call(unix.SYS_MOUNT),
		"unmount":                   call(unix.SYS_UMOUNT2),
		"bind by open_tree":         call(unix.SYS_OPEN_TREE),
		"move_mount":                call(unix.SYS_MOVE_MOUNT),
		"fsopen":                    call(unix.SYS_FSOPEN),
		"mount_setattr":             call(unix.SYS_MOUNT_SETATTR),
		"pivot_root":                call(unix.SYS_PIVOT_ROOT),
		"chroot":                    call(unix.SYS_CHROOT),
		"trace":                     call(unix.SYS_PTRACE, unix.PTRACE_ATTACH, uintptr(os.Getpid())),
		"read another's memory":     call(unix.SYS_PROCESS_VM_READV, uintptr(os.Getpid())),
		"write another's memory":    call(unix.SYS_PROCESS_VM_WRITEV, uintptr(os.Getpid())),
		"take a descriptor":         call(unix.SYS_PIDFD_GETFD),
		"open by handle":            call(unix.SYS_OPEN_BY_HANDLE_AT),
		"handle of a name":          call(unix.SYS_NAME_TO_HANDLE_AT),
		"watch the file system":     call(unix.SYS_FANOTIFY_INIT),
		"load a module":             call(unix.SYS_INIT_MODULE),
		"load a module's file":      call(unix.SYS_FINIT_MODULE),
		"unload a module":           call(unix.SYS_DELETE_MODULE),
		"another kernel":            call(unix.SYS_KEXEC_LOAD),
		"reboot":                    call(unix.SYS_REBOOT),
		"swap":                      call(unix.SYS_SWAPON),
		"accounting":                call(unix.SYS_ACCT),
		"quotas":                    call(unix.SYS_QUOTACTL),
		"the kernel's log":          call(unix.SYS_SYSLOG),
		"hang up a terminal":        call(unix.SYS_VHANGUP),
		"set the clock":             call(unix.SYS_CLOCK_SETTIME),
		"adjust the clock":          call(unix.SYS_ADJTIMEX),
		"host name":                 call(unix.SYS_SETHOSTNAME),
		"domain name":               call(unix.SYS_SETDOMAINNAME),
		"ports":                     call(unix.SYS_IOPL, 3),
		"some ports":                call(unix.SYS_IOPERM),
		"BPF":                       call(unix.SYS_BPF),
		"performance events":        call(unix.SYS_PERF_EVENT_OPEN),
		"user faults":               call(unix.SYS_USERFAULTFD),
		"keys":                      call(unix.SYS_KEYCTL),
		"add a key":                 call(unix.SYS_ADD_KEY),
		"request a key":             call(unix.SYS_REQUEST_KEY),
		"io_uring":                  call(unix.SYS_IO_URING_SETUP),
		"calls of 32 bits (x32)":    call(0x40000000 | unix.SYS_GETPID),
	}
	for name, input := range probes {
		switch code := b.run(input).ExitCode; unix.Errno(code) {
		case unix.EPERM, unix.EACCES, unix.ENOSYS:
		default:
			t.Errorf("%s: error %d, want a refusal", name, code)
		}
	}
	for _, input := range []string{"socketpair", call(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW), "linger plain", "print threads and children work"} {
		if res := b.run(input); res.ExitCode != 0 {
			t.Errorf("%s is refused: %d %s", input, res.ExitCode, res.Stderr)
		}
	}
}
