package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/port/process"
	"golang.org/x/sys/unix"
)

// Where a lane may make its control groups, by what the kernel says of a process.
func TestHomesOfGroups(t *testing.T) {
	const (
		two    = "25 20 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
		within = "25 20 0:22 /box/7 /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup rw\n"
		other  = "20 1 8:1 / / rw - ext4 /dev/root rw\n21 20 0:5 / /proc rw - proc proc rw\n"
		one    = "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	)
	for _, c := range []struct {
		name, groups, mounts, controller string
		homes                            []string
		file                             string
		err                              string
	}{
		{"version 2", "0::/user/a\n", other + two, "memory", []string{"/sys/fs/cgroup/user/a", "/sys/fs/cgroup/user"}, "new", ""},
		{"at its top", "0::/\n", two, "memory", []string{"/sys/fs/cgroup"}, "new", ""},
		{"mounted from a part", "0::/box/7/sub\n", within, "pids", []string{"/sys/fs/cgroup/sub", "/sys/fs/cgroup"}, "new", ""},
		{"outside of that part", "0::/elsewhere\n", within, "pids", []string{"/sys/fs/cgroup"}, "new", ""},
		{"version 1", "12:cpu,cpuacct:/a\n5:memory:/b\n0::/c\n", two + one, "memory", []string{"/sys/fs/cgroup/memory/b"}, "old", ""},
		{"one of two controllers", "12:cpu,cpuacct:/a\n0::/c\n", two + one, "cpu", []string{"/sys/fs/cgroup/cpu,cpuacct/a"}, "old", ""},
		{"the other of two", "12:cpu,cpuacct:/a\n", one, "cpuacct", []string{"/sys/fs/cgroup/cpu,cpuacct/a"}, "old", ""},
		{"beside version 1", "12:cpu:/a\n0::/c/d\n", one + two, "memory", []string{"/sys/fs/cgroup/c/d", "/sys/fs/cgroup/c"}, "new", ""},
		{"a name that contains it", "5:memory2:/b\n", one, "memory", nil, "", "this kernel has no control groups"},
		{"a hierarchy that is not mounted", "5:pids:/b\n", one, "pids", nil, "", "no control groups are mounted"},
		{"nothing mounted", "0::/c\n", other, "memory", nil, "", "no control groups are mounted"},
		{"lines that are cut", "0:\n", "25 20 0:22 / - cgroup2 cgroup2\n25 20 0:22 / /x rw - cgroup2 y\n25 20\n", "memory", nil, "", "this kernel has no control groups"},
		{"mounts that are cut", "0::/c\n", "25 20 0:22 / - cgroup2 cgroup2 rw\n25 20 0:22 / /x rw - cgroup2 y\n25 20 0:22 / /x rw\n", "memory", nil, "", "no control groups are mounted"},
		{"nothing", "", "", "memory", nil, "", "this kernel has no control groups"},
	} {
		homes, file, err := bound{controller: c.controller, two: "new", one: "old"}.homes(c.groups, c.mounts)
		if err == nil != (c.err == "") || err != nil && err.Error() != c.err || !slices.Equal(homes, c.homes) || file != c.file {
			t.Errorf("%s: %q, %q, %v, want %q, %q", c.name, homes, file, err, c.homes, c.file)
		}
	}
}

// groupFolder is a folder with the files of a control group.
func groupFolder(t *testing.T, taken string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"cgroup.procs": "", "memory.current": taken, "memory.usage_in_bytes": taken} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A group takes its bound in the file of its version, and swap does not put it off; what
// fork servers take of its memory is not what a case has left.
func TestBoundsOfAGroup(t *testing.T) {
	for _, version := range []int{1, 2} {
		dir := groupFolder(t, "1000\n")
		b := bound{controller: "memory", two: "memory.max", one: "memory.limit_in_bytes", value: 3200}
		file, none := b.two, "memory.current"
		if version == 1 {
			file, none = b.one, "memory.usage_in_bytes"
		}
		g := &cgroup{memory: -1, bound: b.value}
		if err := g.enforce(dir, file, b, false); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{file: "3200", "memory.swap.max": "0", "memory.memsw.limit_in_bytes": "3200"} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want && !errors.Is(err, os.ErrPermission) {
				t.Errorf("version %d: %s holds %q, %v", version, name, got, err)
			}
		}
		if !slices.Equal(g.dirs, []string{dir}) || len(g.procs) != 1 || g.procs[0] < 3 {
			t.Errorf("version %d: %q, %v", version, g.dirs, g.procs)
		}
		if n, err := unix.Write(g.procs[0], []byte("0")); n != 1 || err != nil {
			t.Errorf("version %d: nothing can enter: %v", version, err)
		}
		use := func(text string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, none), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			taken  string
			served string // what was taken when a fork server began; "": none has since
			filled bool
		}{
			{"1000\n", "", true}, {"101\n", "", true}, {"100\n", "", false}, {"0\n", "", false}, {"", "", false},
			{"1100\n", "1000\n", false}, {"1101\n", "1000\n", true}, {"50\n", "1000\n", false},
		} {
			if g.served = 0; c.served != "" {
				use(c.served)
				g.serves()
			}
			use(c.taken)
			if g.filled() != c.filled {
				t.Errorf("version %d: %q taken, %q by servers: filled %t", version, c.taken, c.served, !c.filled)
			}
		}
		// Of a group that another controller has made nobody enters twice.
		if err := g.enforce(dir, "pids.max", bound{controller: "pids", value: 7}, true); err != nil || len(g.procs) != 1 || len(g.dirs) != 1 {
			t.Errorf("version %d: one more bound: %v, %v", version, g.procs, err)
		}
		held := append(slices.Clone(g.procs), g.memory)
		if g.remove() || len(g.dirs) != 1 || g.procs != nil || g.memory != -1 || g.filled() {
			t.Errorf("version %d: a folder that is not empty was removed: %+v", version, g)
		}
		for _, fd := range held {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != unix.EBADF {
				t.Errorf("version %d: a file is still open: %v", version, err)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if !g.remove() || len(g.dirs) != 0 {
			t.Errorf("version %d: a folder that is gone is still held", version)
		}
	}
	var none *cgroup
	if none.serves(); none.filled() {
		t.Error("what has no bound is filled")
	}
	if err := (&cgroup{memory: -1}).enforce(filepath.Join(t.TempDir(), "none"), "pids.max", bound{}, false); err == nil {
		t.Error("a bound in a folder that there is not")
	}
}

// The next run removes the groups of one that was killed, and no others.
func TestGroupsThatWereLeft(t *testing.T) {
	home := t.TempDir()
	dead, own := fmt.Sprintf("thresh-%d-3", 1<<30), fmt.Sprintf("thresh-%d-3", os.Getpid()) // no kernel counts so far
	for _, name := range []string{dead, own, "thresh-x-3", "others"} {
		if err := os.Mkdir(filepath.Join(home, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sweepCgroups(home)
	entries, err := os.ReadDir(home)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"others", own, "thresh-x-3"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q are left, want %q, %v", names, want, err)
	}
}

func TestKernelsWithOwnBounds(t *testing.T) {
	for release, want := range map[string]bool{
		"6.14.0": true, "6.13.9-generic": false, "6.18.44-x": true, "7.0.1": true, "5.15.0": false, "6": false, "": false, "x.y": false, "10.1": true,
	} {
		if pidMaxIsOwn(release) != want {
			t.Errorf("%q: %t", release, !want)
		}
	}
	if n := kernelRelease(); !strings.Contains(n, ".") {
		t.Errorf("this kernel is %q", n)
	}
}

// filtered runs a filter of system calls, which knows four instructions, as the kernel does.
func filtered(t *testing.T, f []unix.SockFilter, nr, arch uint32, args [6]uint32) uint32 {
	t.Helper()
	data := map[uint32]uint32{0: nr, 4: arch}
	for i, a := range args {
		data[16+8*uint32(i)] = a
	}
	a := uint32(0)
	for pc := 0; pc < len(f); pc++ {
		x, yes := f[pc], false
		switch x.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			v, ok := data[x.K]
			if !ok {
				t.Fatalf("call %d: instruction %d reads at %d", nr, pc, x.K)
			}
			a = v
			continue
		case unix.BPF_RET | unix.BPF_K:
			return x.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			yes = a == x.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			yes = a >= x.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			yes = a&x.K != 0
		default:
			t.Fatalf("instruction %d is %#x", pc, x.Code)
		}
		if yes {
			pc += int(x.Jt)
		} else {
			pc += int(x.Jf)
		}
	}
	t.Fatalf("call %d: the filter has no answer", nr)
	return 0
}

// What each call gets in each kind of sandbox, also in one that this machine does not grant.
func TestFilterOfCalls(t *testing.T) {
	const amd64 = 0xc000003e
	for _, kind := range []struct{ noInternet, seesOthers bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		f := filter(kind.noInternet, kind.seesOthers)
		inet := unix.Errno(0)
		if kind.noInternet {
			inet = unix.EACCES
		}
		others := unix.Errno(0)
		if kind.seesOthers {
			others = unix.EPERM
		}
		type try struct {
			nr   uint32
			args [6]uint32
			want unix.Errno
		}
		tries := []try{
			{unix.SYS_CLONE3, [6]uint32{}, unix.ENOSYS},
			{unix.SYS_CLONE, [6]uint32{uint32(unix.SIGCHLD)}, 0},
			{unix.SYS_CLONE, [6]uint32{unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND}, 0},
			{unix.SYS_PRLIMIT64, [6]uint32{0, 7}, 0}, {unix.SYS_PRLIMIT64, [6]uint32{17}, others},
			{unix.SYS_SETPRIORITY, [6]uint32{17, 0}, 0}, {unix.SYS_SETPRIORITY, [6]uint32{0, 17}, others},
			{unix.SYS_SOCKET, [6]uint32{unix.AF_NETLINK}, 0}, {unix.SYS_SOCKET, [6]uint32{unix.AF_INET}, inet}, {unix.SYS_SOCKET, [6]uint32{unix.AF_INET6}, inet},
			{unix.SYS_SOCKET, [6]uint32{unix.AF_UNIX}, unix.EACCES}, {unix.SYS_SOCKET, [6]uint32{unix.AF_VSOCK}, unix.EACCES}, {unix.SYS_SOCKET, [6]uint32{200}, unix.EACCES},
			{unix.SYS_SOCKETPAIR, [6]uint32{unix.AF_UNIX}, 0},
			{0x40000000, [6]uint32{}, unix.ENOSYS}, {0x40000000 | unix.SYS_GETPID, [6]uint32{}, unix.ENOSYS},
		}
		for _, flag := range []uint32{unix.CLONE_NEWNS, unix.CLONE_NEWCGROUP, unix.CLONE_NEWUTS, unix.CLONE_NEWIPC, unix.CLONE_NEWUSER, unix.CLONE_NEWPID, unix.CLONE_NEWNET} {
			tries = append(tries, try{unix.SYS_CLONE, [6]uint32{flag | uint32(unix.SIGCHLD)}, unix.EPERM})
		}
		special := []uint32{unix.SYS_CLONE3, unix.SYS_CLONE, unix.SYS_PRLIMIT64, unix.SYS_SETPRIORITY, unix.SYS_SOCKET}
		for nr := range uint32(500) {
			switch {
			case slices.Contains(deniedCalls, nr):
				tries = append(tries, try{nr, [6]uint32{}, unix.EPERM})
			case !slices.Contains(special, nr):
				tries = append(tries, try{nr, [6]uint32{unix.CLONE_NEWUSER, 17}, 0})
			}
		}
		for _, x := range tries {
			want := uint32(unix.SECCOMP_RET_ALLOW)
			if x.want != 0 {
				want = unix.SECCOMP_RET_ERRNO | uint32(x.want)
			}
			if got := filtered(t, f, x.nr, amd64, x.args); got != want {
				t.Errorf("%+v: call %d %v gets %#x, want %#x", kind, x.nr, x.args, got, want)
			}
			if got := filtered(t, f, x.nr, 0x40000003, x.args); got != unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS) {
				t.Errorf("%+v: call %d of 32 bits gets %#x", kind, x.nr, got)
			}
		}
	}
}

// Rules that cannot be made are an error, so that nobody believes in them.
func TestRulesThatAreRefused(t *testing.T) {
	if err := allow(-1, -1, 0); err == nil || !strings.HasPrefix(err.Error(), "add a landlock rule: ") {
		t.Errorf("a rule of no set: %v", err)
	}
	fd, err := landlock(-1)
	if err == nil || fd != -1 {
		t.Errorf("rules for no folder: %d, %v", fd, err)
	}
}

// Whether a process goes on after a signal is read from the kernel's masks, bit by bit.
func TestSignalsThatAreCaught(t *testing.T) {
	sleeper := exec.Command("sh", "-c", `trap '' USR1; trap : TERM; echo; read x`)
	in, err := sleeper.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := sleeper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sleeper.Start(); err != nil {
		t.Skip(err)
	}
	defer sleeper.Wait()
	defer in.Close()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for sig, want := range map[unix.Signal]bool{
		unix.SIGUSR1: true, unix.SIGTERM: true, unix.SIGKILL: false, unix.SIGSEGV: false, unix.SIGUSR2: false, unix.SIGALRM: false, unix.SIGSTKFLT: false, unix.SIGPIPE: false,
	} {
		if got := catches(sleeper.Process.Pid, sig); got != want {
			t.Errorf("%s: %t", unix.SignalName(sig), got)
		}
	}
	if catches(-1, unix.SIGTERM) {
		t.Error("no process catches a signal")
	}
}

// What each version of Landlock is asked for.
func TestRulesOfVersions(t *testing.T) {
	const first = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | 0x1fc0 // what makes files
	const tcp, scopes = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	for abi, want := range map[uintptr]struct {
		rules  ruleset
		size   uintptr
		device uint64
	}{
		1: {ruleset{first, 0, 0}, 8, 2}, 2: {ruleset{first | 1<<13, 0, 0}, 8, 2}, 3: {ruleset{first | 3<<13, 0, 0}, 8, 2 | 1<<14},
		4: {ruleset{first | 3<<13, tcp, 0}, 16, 2 | 1<<14}, 5: {ruleset{first | 3<<13, tcp, 0}, 16, 2 | 1<<14}, 6: {ruleset{first | 3<<13, tcp, scopes}, 24, 2 | 1<<14}, 7: {ruleset{first | 3<<13, tcp, scopes}, 24, 2 | 1<<14},
	} {
		if rules, size, device := rulesOf(abi); rules != want.rules || size != want.size || device != want.device {
			t.Errorf("version %d: %x, %d bytes, devices %x, want %x", abi, rules, size, device, want)
		}
	}
}

// A group is made in the first folder that takes it, and nothing is left in another.
func TestGroupsInFolders(t *testing.T) {
	top := t.TempDir()
	b := bound{controller: "pids", value: 7}
	home := func(name string, files ...string) string {
		dir := filepath.Join(top, name, "group")
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return filepath.Dir(dir)
	}
	none, bare, good, known := filepath.Join(top, "none"), home("bare"), home("good", "cgroup.procs"), home("known", "cgroup.procs")
	for _, c := range []struct {
		homes []string
		dirs  []string // that are entered
		file  string   // that has the bound
	}{
		{[]string{none}, nil, ""},
		{[]string{none, good}, nil, filepath.Join(good, "group", "pids.max")},
		{[]string{good, known}, nil, filepath.Join(good, "group", "pids.max")},
	} {
		g := &cgroup{memory: -1}
		err := g.addIn(c.homes, "pids.max", "group", b)
		if (err == nil) != (c.file != "") || !slices.Equal(g.dirs, c.dirs) {
			t.Errorf("%q: %q, %v", c.homes, g.dirs, err)
		}
		if text, err := os.ReadFile(c.file); c.file != "" && (err != nil || string(text) != "7") {
			t.Errorf("%q: the bound is %q, %v", c.homes, text, err)
		}
	}
	if _, err := os.Stat(filepath.Join(known, "group", "pids.max")); err == nil {
		t.Error("a bound was set in two folders")
	}
	// A folder that was just made, and lets nobody in, is not kept.
	g := &cgroup{memory: -1}
	if err := g.addIn([]string{bare}, "../pids.max", "group", b); err == nil || len(g.dirs)+len(g.procs) > 0 {
		t.Errorf("a folder without members: %q, %v", g.dirs, err)
	}
	if _, err := os.Stat(filepath.Join(bare, "group")); err == nil {
		t.Error("a folder that is of no use is kept")
	}
}

// What the kernel grants is all there: a sandbox without one of its parts looks like one that
// was refused, and no other test tells.
func TestSandboxIsWhole(t *testing.T) {
	probe := exec.Command("sh", "-c", "mount --make-rprivate / && mount -t tmpfs tmpfs /mnt && mount -t proc proc /proc")
	probe.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS}
	if text, err := probe.CombinedOutput(); err != nil {
		t.Skipf("this system grants no namespaces: %v\n%s", err, text)
	}
	for written, want := range map[int64]string{0: "1024 MiB", 1 << 20: "64 MiB"} {
		open := openFiles(t)
		b := openBench(t, func(p *process.Plan) { p.Sandbox, p.Limits.Written, p.Limits.AddressSpace = true, written, 0 })
		if notes := strings.Join(b.lane.Notes(), "\n"); !strings.Contains(notes, "a private file system for the run folder, "+want) {
			t.Errorf("with a bound of %d: %s", written, notes)
		}
		if err := b.lane.Close(); err != nil {
			t.Error(err)
		}
		if now := openFiles(t); now > open {
			t.Errorf("%d files are open, before it were %d", now, open)
		}
	}
	b := openBench(t, func(p *process.Plan) { p.Sandbox, p.Limits.Written, p.Limits.Processes = true, 40<<20, 50 })
	for _, name := range []string{"net", "ipc", "uts", "mnt", "pid"} {
		link := "/proc/self/ns/" + name
		own, err := os.Readlink(link)
		if res := b.run("shell readlink " + link); err != nil || !strings.HasPrefix(string(res.Stdout), name+":[") || strings.TrimSpace(string(res.Stdout)) == own {
			t.Errorf("its namespace %s is %s, our own is %s, %v", name, res.Stdout, own, err)
		}
	}
	notes := strings.Join(b.lane.Notes(), "\n")
	wants := []string{"no network (namespace)", "read-only file system", "a private file system for the run folder, 80 MiB", "own process ids (namespace)", "(seccomp)", "capabilities dropped"}
	if pidMaxIsOwn(kernelRelease()) {
		wants = append(wants, "at most 351 process ids")
	}
	for _, want := range wants {
		if !strings.Contains(notes, want) {
			t.Errorf("without %q:\n%s", want, notes)
		}
	}
	// Of root's capabilities a program keeps those that it needs for its own files.
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	field := func(status, name string) (n uint64) {
		_, rest, _ := strings.Cut(status, name+":\t")
		if _, err := fmt.Sscanf(rest, "%x", &n); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return n
	}
	inside := string(b.run("read /proc/self/status").Stdout)
	const files = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID
	for name, want := range map[string]uint64{"CapPrm": files & field(string(own), "CapPrm"), "CapEff": files & field(string(own), "CapPrm"), "CapInh": 0, "NoNewPrivs": 1, "Seccomp": 2} {
		if got := field(inside, name); got != want {
			t.Errorf("%s is %x, want %x", name, got, want)
		}
	}
	if pid := field(inside, "Pid"); pid < 2 || pid > 0x351 {
		t.Errorf("its process id is %x", pid)
	}
	keeper := b.state().box.keeper
	if err := unix.Kill(keeper, 0); err != nil {
		t.Errorf("the keeper does not run: %v", err)
	}
	if threads, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", keeper)); err != nil || !strings.Contains(string(threads), "Threads:\t1\n") {
		t.Errorf("the keeper: %v\n%s", err, threads)
	}
	if open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", keeper)); err != nil || len(open) > 2 {
		t.Errorf("the keeper has open %v, %v", open, err)
	}
	if err := b.lane.Close(); err != nil {
		t.Error(err)
	}
	if err := unix.Kill(keeper, 0); err != unix.ESRCH {
		t.Errorf("the keeper runs on: %v", err)
	}
}
