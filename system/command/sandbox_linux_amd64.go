package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"unsafe"

	"github.com/thresh-dev/thresh/port/process"
	"golang.org/x/sys/unix"
)

// sandbox contains the programs of one lane as far as the kernel allows: namespaces held open by a
// keeper process, a read-only view of the file system, a Landlock rule set, a seccomp filter, fewer
// capabilities. All of it is made once and costs each case a few entries in the child's table.
type sandbox struct {
	keeper   int // process id, as seen from here; 0: no namespaces
	keeperFD int
	alive    int // our end of the pipe; the keeper exits when it closes
	homePIDs int // our own PID namespace
	ownPIDs  bool
	join     uintptr // namespaces that a child enters by itself
	folder   string  // the child's working directory after it enters the mount namespace
	view     string  // path to the sandbox's private file system; "": none
	rules    int     // Landlock
	filter   []unix.SockFilter
	caps     *[2]unix.CapUserData
	killAll  *launchpad
}

// sandboxProcesses limits the processes in a PID namespace if the plan sets no limit. The kernel
// accepts no value below lowestPIDMax.
const (
	sandboxProcesses = 2048
	lowestPIDMax     = 301
)

// roomAtLeast is the minimum size, in bytes, of a sandbox's private file system.
const roomAtLeast = 64 << 20

// newSandbox sets up as much containment as possible and returns what is in force and what was
// refused. The folder with the given descriptor stays writable, or a private file system is mounted
// there.
func newSandbox(folderFD int, run string, l process.Limits) (*sandbox, []string, []string) {
	b := &sandbox{keeperFD: -1, alive: -1, homePIDs: -1, rules: -1, folder: run}
	var have, refused []string
	note := func(err error, what string) bool {
		if err != nil {
			refused = append(refused, fmt.Sprintf("%s (%v)", what, err))
			return false
		}
		have = append(have, what)
		return true
	}
	folder, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(folderFD))
	if err == nil {
		b.startKeepers(folder, l, note)
	} else {
		note(err, "namespaces")
	}
	if b.view != "" {
		if fd, err := openDir(unix.AT_FDCWD, b.view+folder); err == nil {
			defer unix.Close(fd)
			folderFD = fd
		}
	}
	b.rules, err = landlock(folderFD)
	note(err, "no writing outside the run folder, no TCP (Landlock)")
	b.filter = filter(b.join&unix.CLONE_NEWNET == 0, !b.ownPIDs)
	note(nil, "no Unix sockets, no new namespaces, no dangerous system calls (seccomp)")
	note(b.dropCaps(), "capabilities dropped")
	return b, have, refused
}

// sandboxGroup makes the control group of a lane's programs in a sandbox. Each of several lanes
// gets its share of the processors.
func sandboxGroup(l process.Limits, lanes int) (g *cgroup, have, refused []string) {
	return newCgroup(l.AddressSpace, cmp.Or(l.Processes, sandboxProcesses), int64(max(1, runtime.NumCPU()/lanes)))
}

// startKeepers tries sets of namespaces from the fullest to the smallest.
func (b *sandbox) startKeepers(folder string, l process.Limits, note func(error, string) bool) {
	const base, pids = unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS, unix.CLONE_NEWPID
	room := max(cmp.Or(2*l.Written, l.AddressSpace, 1<<30), roomAtLeast)
	var first error
	for _, try := range []struct {
		flags  uintptr
		bounds bool
		room   int64
	}{
		{base | pids | unix.CLONE_NEWNS, pidMaxIsOwn(kernelRelease()), room},
		{base | pids | unix.CLONE_NEWNS, false, room},
		{base | pids | unix.CLONE_NEWNS, false, 0},
		{base | pids, false, 0},
		// Without privilege our threads cannot put a child into a PID namespace; a child may enter
		// the other namespaces by itself.
		{base | unix.CLONE_NEWNS | unix.CLONE_NEWUSER, false, room},
		{base | unix.CLONE_NEWNS | unix.CLONE_NEWUSER, false, 0},
		{base | unix.CLONE_NEWUSER, false, 0},
	} {
		bound := int64(0)
		if try.bounds {
			bound = max(l.Processes+lowestPIDMax, lowestPIDMax)
			if l.Processes == 0 {
				bound = sandboxProcesses
			}
		}
		err := b.startKeeper(try.flags, folder, bound, try.room)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		b.join = try.flags &^ unix.CLONE_NEWPID
		note(nil, "no network (namespace)")
		if try.flags&unix.CLONE_NEWNS != 0 {
			note(nil, "read-only file system")
		} else {
			note(first, "read-only file system")
		}
		if try.room > 0 {
			note(nil, fmt.Sprintf("a private file system for the run folder, %d MiB", try.room>>20))
		} else {
			note(first, "a private file system for the run folder")
		}
		err = unix.EPERM
		if try.flags&pids != 0 {
			err = b.tryPIDs()
		}
		b.ownPIDs = note(err, "own process ids (namespace)")
		if b.ownPIDs && bound > 0 {
			note(nil, fmt.Sprintf("at most %d process ids", bound))
		} else {
			note(errors.New("not granted"), "bound on process ids")
		}
		return
	}
	note(first, "namespaces")
}

// pidMaxIsOwn reports whether each PID namespace has its own limit. Before Linux 6.14 there was one
// for the whole machine, which we must not change.
func pidMaxIsOwn(release string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor)
	return n == 2 && (major > 6 || major == 6 && minor >= 14)
}

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// startKeeper starts a process that holds the namespaces open; in a PID namespace it is process 1.
// It has none of our memory. It ends when we do, and the kernel then kills everything left in the
// PID namespace.
func (b *sandbox) startKeeper(flags uintptr, folder string, bound, room int64) error {
	program, err := keeperProgram()
	if err != nil {
		return fmt.Errorf("make the keeper: %w", err)
	}
	defer unix.Close(program)
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return fmt.Errorf("make the keeper's pipe: %w", err)
	}
	input, err := highFD(pipe[0], nil)
	if err != nil {
		unix.Close(pipe[1])
		return fmt.Errorf("make the keeper's pipe: %w", err)
	}
	defer unix.Close(input)

	p := keeperSteps(flags, input, program, folder, bound, room)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	keeper, errno := p.start()
	if errno != 0 {
		unix.Close(pipe[1])
		return errno
	}
	pid := keeper.pid
	abandon := func(err error) error {
		unix.Close(pipe[1])
		unix.Close(keeper.fd)
		unix.Kill(pid, unix.SIGKILL)
		reap(pid, nil)
		return err
	}
	if _, errno := p.failure(); errno != 0 {
		return abandon(errno)
	}
	if flags&unix.CLONE_NEWUSER != 0 {
		if err := mapUser(pid); err != nil {
			return abandon(err)
		}
	}
	if room > 0 {
		view := fmt.Sprintf("/proc/%d/root", pid)
		var fs unix.Statfs_t
		if err := unix.Statfs(view+folder, &fs); err != nil {
			return abandon(err)
		}
		if fs.Type != unix.TMPFS_MAGIC || fs.Blocks*uint64(fs.Bsize) > uint64(room)+1<<20 {
			return abandon(errors.New("the mounted file system cannot be seen"))
		}
		b.view = view
	}
	b.keeper, b.keeperFD, b.alive = pid, keeper.fd, pipe[1]
	return nil
}

// keeperSteps returns the keeper's steps from clone3 to its program. Once all other descriptors are
// closed, 0 is the pipe, 1 the program, and the next one opened is 2.
func keeperSteps(flags uintptr, input, program int, folder string, bound, room int64) *launchpad {
	const here = ^uintptr(99) // AT_FDCWD
	p := newLaunchpad()
	p.clone.flags |= uint64(flags) | unix.CLONE_VFORK
	text := func(s string) uintptr { return pin(p, &cstring(s)[0]) }
	add := func(nr uintptr, args ...uintptr) { p.add(stepContain, false, nr, args...) }
	add(unix.SYS_SETSID)
	add(unix.SYS_DUP3, uintptr(input), 0, 0)
	add(unix.SYS_DUP3, uintptr(program), 1, 0)
	add(unix.SYS_CLOSE_RANGE, 2, ^uintptr(0)>>32, 0)
	root, none := text("/"), text("none")
	add(unix.SYS_CHDIR, root)
	if bound > 0 {
		value := strconv.FormatInt(bound, 10)
		add(unix.SYS_OPENAT, here, text("/proc/sys/kernel/pid_max"), unix.O_WRONLY, 0)
		add(unix.SYS_WRITE, 2, text(value), uintptr(len(value)))
		add(unix.SYS_CLOSE, 2)
	}
	if flags&unix.CLONE_NEWNS != 0 {
		readOnly := pin(p, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
		writable := pin(p, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		size := unsafe.Sizeof(unix.MountAttr{})
		at := text(folder)
		add(unix.SYS_MOUNT, none, root, none, unix.MS_REC|unix.MS_PRIVATE, 0)
		if room > 0 {
			tmpfs := text("tmpfs")
			add(unix.SYS_MOUNT, tmpfs, at, tmpfs, unix.MS_NOSUID|unix.MS_NODEV, text(fmt.Sprintf("mode=755,size=%d", room)))
		} else {
			add(unix.SYS_MOUNT, at, at, none, unix.MS_BIND, 0)
		}
		if flags&unix.CLONE_NEWPID != 0 {
			// A /proc that matches the new PID namespace.
			proc := text("proc")
			add(unix.SYS_MOUNT, proc, text("/proc"), proc, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, 0)
		}
		add(unix.SYS_MOUNT_SETATTR, here, root, unix.AT_RECURSIVE, readOnly, size)
		add(unix.SYS_MOUNT_SETATTR, here, at, 0, writable, size)
	}
	// Ignoring SIGCHLD has the kernel reap orphans.
	type sigaction struct {
		handler, flags, restorer uintptr
		mask                     uint64
	}
	add(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), pin(p, &sigaction{handler: 1}), 0, 8)
	add(unix.SYS_EXECVEAT, 1, text(""), pin(p, &[1]uintptr{}), pin(p, &[1]uintptr{}), unix.AT_EMPTY_PATH)
	return p
}

// mapUser maps our user and group to themselves in the keeper's user namespace.
func mapUser(pid int) error {
	for _, m := range []struct{ file, line string }{
		{"setgroups", "deny"},
		{"uid_map", fmt.Sprintf("%d %[1]d 1", os.Geteuid())},
		{"gid_map", fmt.Sprintf("%d %[1]d 1", os.Getegid())},
	} {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/%s", pid, m.file), []byte(m.line), 0); err != nil {
			return err
		}
	}
	return nil
}

// tryPIDs checks whether children can be put into the keeper's PID namespace. The thread that
// starts them has to do that.
func (b *sandbox) tryPIDs() (err error) {
	if b.homePIDs, err = highFD(unix.Open("/proc/self/ns/pid", unix.O_RDONLY|unix.O_CLOEXEC, 0)); err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Setns(b.keeperFD, unix.CLONE_NEWPID); err != nil {
		return err
	}
	p := newLaunchpad()
	p.add(stepContain, true, unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGKILL))
	p.add(stepExit, false, unix.SYS_EXIT_GROUP, 0)
	b.killAll = p
	return unix.Setns(b.homePIDs, unix.CLONE_NEWPID)
}

func (b *sandbox) dropCaps() error {
	// What a program run by root needs to keep reading and writing its own files: CHOWN,
	// DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID, SETGID, SETUID.
	const keep = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<6 | 1<<7
	b.caps = new([2]unix.CapUserData)
	if b.join&unix.CLONE_NEWUSER != 0 {
		return nil // no capabilities are needed in a user namespace
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&hdr, &b.caps[0]); err != nil {
		b.caps = nil
		return err
	}
	held := b.caps[0].Permitted & keep
	*b.caps = [2]unix.CapUserData{{Permitted: held, Effective: held}}
	return nil
}

// addSteps adds the system calls by which a child contains itself.
func (b *sandbox) addSteps(p *launchpad) {
	add := func(nr uintptr, args ...uintptr) { p.add(stepContain, false, nr, args...) }
	if b.join != 0 {
		add(unix.SYS_SETNS, uintptr(b.keeperFD), b.join)
	}
	if b.join&unix.CLONE_NEWNS != 0 {
		// The run folder's descriptor leads to the old, writable mount.
		add(unix.SYS_CHDIR, pin(p, &cstring(b.folder)[0]))
	}
	add(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if b.rules >= 0 {
		add(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(b.rules), 0)
	}
	if b.caps != nil {
		hdr := pin(p, &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3})
		add(unix.SYS_CAPSET, hdr, pin(p, b.caps))
	}
	prog := pin(p, &unix.SockFprog{Len: uint16(len(b.filter)), Filter: &b.filter[0]})
	add(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, prog, 0, 0)
}

// enter has the calling thread's next children start in the sandbox; leave undoes it. The caller
// must be locked to its thread.
func (b *sandbox) enter() error {
	if !b.ownPIDs {
		return nil
	}
	if err := unix.Setns(b.keeperFD, unix.CLONE_NEWPID); err != nil {
		return fmt.Errorf("enter the sandbox: %w", err)
	}
	return nil
}

func (b *sandbox) leave() error {
	if !b.ownPIDs {
		return nil
	}
	if err := unix.Setns(b.homePIDs, unix.CLONE_NEWPID); err != nil {
		return fmt.Errorf("leave the sandbox: %w", err)
	}
	return nil
}

// sweep kills all processes in the sandbox except the keeper. The kernel does it in one operation
// that no fork can escape.
func (b *sandbox) sweep() {
	if b.enter() != nil {
		return
	}
	b.killAll.run()
	b.leave()
}

func (b *sandbox) close() {
	for _, fd := range []int{b.alive, b.keeperFD, b.homePIDs, b.rules} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	b.alive, b.keeperFD, b.homePIDs, b.rules = -1, -1, -1, -1
	if b.keeper != 0 {
		unix.Kill(b.keeper, unix.SIGKILL)
		reap(b.keeper, nil)
		b.keeper = 0
	}
}

// keeperProgram returns a memory file with a program that reads standard input to its end, then
// exits.
func keeperProgram() (int, error) {
	code := []byte{
		0x31, 0xff, // xor edi, edi
		0x48, 0x8d, 0x74, 0x24, 0xf8, // lea rsi, [rsp-8]
		0xba, 0x01, 0x00, 0x00, 0x00, // mov edx, 1
		0x31, 0xc0, // xor eax, eax          read(0, rsp-8, 1)
		0x0f, 0x05, // syscall
		0xb8, 0xe7, 0x00, 0x00, 0x00, // mov eax, 231
		0x31, 0xff, // xor edi, edi          exit_group(0)
		0x0f, 0x05, // syscall
	}
	const base, headers = 0x400000, 64 + 56
	le := func(b []byte, width int, v uint64) []byte {
		for range width {
			b, v = append(b, byte(v)), v>>8
		}
		return b
	}
	elf := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	for _, f := range []struct {
		width int
		v     uint64
	}{
		{2, 2}, {2, 62}, {4, 1}, {8, base + headers}, {8, 64}, {8, 0}, {4, 0}, {2, 64}, {2, 56}, {2, 1}, {2, 0}, {2, 0}, {2, 0}, // header
		{4, 1}, {4, 5}, {8, 0}, {8, base}, {8, base}, {8, uint64(headers + len(code))}, {8, uint64(headers + len(code))}, {8, 0x1000}, // segment
	} {
		elf = le(elf, f.width, f.v)
	}
	fd, err := highFD(unix.MemfdCreate("keeper", unix.MFD_CLOEXEC))
	if err != nil {
		return -1, err
	}
	if _, err := unix.Write(fd, append(elf, code...)); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
