package command

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/port/process"
	"golang.org/x/sys/unix"
)

// TestSandboxProbes tries, one by one, the ways out of a sandbox that a filter of
// system calls closes: each call fails with the error of a refusal, whatever its
// arguments are worth.
func TestSandboxProbes(t *testing.T) {
	b := openBench(t, func(p *process.Plan) { p.Sandbox = true })
	if b.state().box == nil {
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
	others := uintptr(os.Getpid())
	probes["raw socket"] = call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
	probes["signal another"] = call(unix.SYS_KILL, others, uintptr(unix.SIGCONT))
	probes["signal another's thread"] = call(unix.SYS_TGKILL, others, others, uintptr(unix.SIGCONT))
	if b.state().box.ownPIDs { // a descriptor alone is no use: what could be done with it is refused
		probes["hold another"] = call(unix.SYS_PIDFD_OPEN, others)
	}
	probes["priority of another"] = call(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, others, 5)
	probes["limits of another"] = call(unix.SYS_PRLIMIT64, others, unix.RLIMIT_NOFILE)
	for name, input := range probes {
		switch code := b.run(input).ExitCode; unix.Errno(code) {
		case unix.EPERM, unix.EACCES, unix.ENOSYS, unix.ESRCH:
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

// TestSandboxProbesOfFiles tries what needs no call of its own: each command
// does its harm without a sandbox, which shows that the probe is one, and none
// inside.
func TestSandboxProbesOfFiles(t *testing.T) {
	free, b := openBench(t, nil), openBench(t, func(p *process.Plan) { p.Sandbox = true })
	if b.state().box == nil {
		t.Skip("this system grants no sandbox")
	}
	pid := strconv.Itoa(os.Getpid())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	abstract, err := net.Listen("unix", "@thresh-probe-"+pid)
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	probes := map[string]string{
		"write a file":                  "shell echo x >DIR/file",
		"append to a file":              "shell echo x >>DIR/file",
		"truncate a file":               "shell : >DIR/file",
		"make a file":                   "shell echo x >DIR/new",
		"remove a file":                 "shell rm DIR/file",
		"rename a file":                 "shell mv DIR/file DIR/moved",
		"make a folder":                 "shell mkdir DIR/folder",
		"change a file's mode":          "shell chmod 777 DIR/file",
		"change a file's time":          "shell touch -d 2000-01-01 DIR/file",
		"write through a symbolic link": "shell ln -s DIR/file out/link && echo x >out/link",
		"write through the root":        "shell echo x >/proc/self/root/DIR/file",
		"write through the folder":      "shell cd DIR && echo x >file",
		"write from a child":            "shell (echo x >DIR/file)",
		"leave a file in memory":        "shell f=/dev/shm/probe-" + pid + " && echo x >$f && rm $f",
		"leave a file in /tmp":          "shell f=/tmp/probe-" + pid + " && echo x >$f && rm $f",
		"run what was left":             "shell cp /bin/true DIR/run && DIR/run",
		"named pipe":                    "shell mkfifo DIR/pipe",
		"device":                        "shell mknod out/null c 1 3 && echo x >out/null",
		"signal the tester":             "shell kill -0 " + pid,
		"memory of the tester":          "shell exec 3<>/proc/" + pid + "/mem",
		"variables of the tester":       "shell test -n \"$(tr -d '\\0' </proc/" + pid + "/environ)\"",
		"files that the tester opened":  "shell ls /proc/" + pid + "/fd/0",
		"loopback":                      "connect " + l.Addr().String(),
		"datagram":                      "connect udp " + l.Addr().String(),
		"abstract socket":               "connect unix @thresh-probe-" + pid,
	}
	// These would harm this machine: they are tried inside alone.
	inside := map[string]string{
		"magic keys":           "shell exec 3>/proc/sysrq-trigger",
		"pattern of dumps":     "shell exec 3>>/proc/sys/kernel/core_pattern",
		"host name":            "shell exec 3>>/proc/sys/kernel/hostname",
		"memory of the kernel": "shell exec 3<>/dev/mem || exec 3<>/dev/kmem",
		"disks":                "shell for d in /dev/sd? /dev/vd? /dev/nvme?n?; do exec 3<>$d && exit 0; done; exit 1",
		"capabilities":         "shell ! grep -Eq 'CapEff:.00000000000000[0-9a-f]{2}$' /proc/self/status", /* those of a user over files */
		"new privileges":       "shell ! grep -q 'NoNewPrivs:.1' /proc/self/status",
		"higher limit":         "shell ulimit -S -n $(($(ulimit -H -n)+1)) || ulimit -H -n $(($(ulimit -H -n)+1))",
	}
	if os.Geteuid() != 0 { // there it fails without a sandbox, too
		inside["device"] = probes["device"]
		delete(probes, "device")
	}
	try := func(b *bench, input string) int {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("kept"), 0o644); err != nil {
			t.Fatal(err)
		}
		code := b.run(strings.ReplaceAll(input, "DIR", dir)).ExitCode
		entries, err := os.ReadDir(dir)
		info, infoErr := os.Stat(filepath.Join(dir, "file"))
		data, readErr := os.ReadFile(filepath.Join(dir, "file"))
		if code != 0 && (err != nil || infoErr != nil || readErr != nil || len(entries) != 1 || string(data) != "kept" || info.Mode() != 0o644) {
			t.Errorf("%s fails and leaves %v, %q", input, entries, data)
		}
		return code
	}
	for name, input := range probes {
		if code := try(free, input); code != 0 {
			t.Errorf("%s: the probe fails without a sandbox (%d): it shows nothing", name, code)
		}
		inside[name] = input
	}
	for name, input := range inside {
		if code := try(b, input); code == 0 {
			t.Errorf("%s: goes through", name)
		}
	}
	t.Log(len(inside), "probes")
}

// Without privilege the kernel grants another sandbox: the same attempts fail there.
func TestSandboxProbesWithoutPrivilege(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this user has no privilege: the other tests are this one")
	}
	binary, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "probes") // not t.TempDir, which is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const nobody = 65534
	program := filepath.Join(dir, "command.test")
	if err := errors.Join(os.WriteFile(program, binary, 0o755), os.Chown(dir, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "-test.v", "-test.run", "^(TestSandbox|TestSandboxProbes|TestSandboxProbesOfFiles|TestOwnFileSystem)$")
	c.Dir, c.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := c.CombinedOutput()
	if strings.Contains(string(out), "refused namespaces (") {
		t.Skip("this system grants no namespaces without privilege")
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestSandbox ") {
		t.Errorf("%v\n%s", err, out)
	}
}
