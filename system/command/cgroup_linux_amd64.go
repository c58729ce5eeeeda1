package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// cgroup limits what the programs of one lane use together, which no per-process limit can: their
// memory, including files in memory, and the number of processes. Each child enters the group by
// itself.
type cgroup struct {
	dirs  []string // one; with version 1, one per controller
	procs []int    // cgroup.procs of each

	memory int   // the file that reports memory use; -1: memory is not limited
	bound  int64 // memory limit in bytes
	served int64 // memory used by fork servers, in bytes
}

// notEmpty is the fraction (1/notEmpty) of the memory limit that may be in use when a case begins.
const notEmpty = 32

// cgroups numbers the groups of this process.
var cgroups atomic.Int64

// bound is a limit that a controller enforces, with the names of its file in version 2 and version
// 1.
type bound struct {
	controller, two, one string
	value                int64
	what                 string
}

// newCgroup limits the number of processes and threads, memory (bytes), and how many processors
// they use at once; 0 means no limit. It returns the limits in force and those refused.
func newCgroup(memory, processes, processors int64) (_ *cgroup, have, refused []string) {
	const period = 100_000 // microseconds; the default in both versions
	if memory > 0 {
		// A child shares our memory until execve: without room for that, the kernel would kill us
		// with it.
		memory = max(memory, 4<<20)
	}
	bounds := slices.DeleteFunc([]bound{
		{"pids", "pids.max", "pids.max", processes, fmt.Sprintf("at most %d processes and threads together (cgroup)", processes)},
		{"memory", "memory.max", "memory.limit_in_bytes", memory, fmt.Sprintf("at most %d MiB of memory together (cgroup)", memory>>20)},
		{"cpu", "cpu.max", "cpu.cfs_quota_us", processors * period, fmt.Sprintf("at most the time of %d processors together (cgroup)", processors)},
	}, func(b bound) bool { return b.value == 0 })
	g, err := &cgroup{memory: -1, bound: memory}, error(nil)
	name := fmt.Sprintf("thresh-%d-%d", os.Getpid(), cgroups.Add(1))
	for _, b := range bounds {
		if e := g.add(name, b); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", b.controller, e))
		} else {
			have = append(have, b.what)
		}
	}
	if len(g.dirs) > 0 {
		if e := g.try(); e != nil {
			g.close()
			have, err = nil, errors.Join(err, e)
		}
	}
	if err != nil {
		refused = []string{fmt.Sprintf("bounds on all processes together (cgroup: %v)", err)}
	}
	if len(g.dirs) == 0 {
		return nil, nil, refused
	}
	return g, have, refused
}

// filled reports whether a new case would find memory in use beyond what fork servers need: files
// in memory left by an earlier case, or memory of killed processes that the kernel frees with a
// delay.
func (g *cgroup) filled() bool {
	return g != nil && g.memory >= 0 && g.taken()-g.served > g.bound/notEmpty
}

// serves attributes the memory in use now to the fork servers.
func (g *cgroup) serves() {
	if g != nil && g.memory >= 0 {
		g.served = g.taken()
	}
}

func (g *cgroup) taken() int64 {
	var text [32]byte
	n, _ := unix.Pread(g.memory, text[:], 0)
	taken, _ := strconv.ParseInt(strings.TrimSpace(string(text[:max(n, 0)])), 10, 64)
	return taken
}

// add enforces another limit.
func (g *cgroup) add(name string, b bound) error {
	homes, file, err := cgroupHomes(b)
	if err != nil {
		return err
	}
	return g.addIn(homes, file, name, b)
}

// addIn makes a group in the first folder that accepts the limit.
func (g *cgroup) addIn(homes []string, file, name string, b bound) (err error) {
	for _, home := range homes {
		sweepCgroups(home)
		dir := filepath.Join(home, name)
		if err = os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			continue
		}
		known := err != nil
		if err = g.enforce(dir, file, b, known); err == nil {
			return nil
		}
		if !known {
			_ = os.Remove(dir)
		}
	}
	return err
}

func (g *cgroup) enforce(dir, file string, b bound, known bool) error {
	value := []byte(strconv.FormatInt(b.value, 10))
	if err := os.WriteFile(filepath.Join(dir, file), value, 0); err != nil {
		return err
	}
	if b.controller == "memory" {
		// Swap would only postpone the limit. Without swap the files do not exist.
		_ = os.WriteFile(filepath.Join(dir, "memory.swap.max"), []byte("0"), 0)
		_ = os.WriteFile(filepath.Join(dir, "memory.memsw.limit_in_bytes"), value, 0)
		usage := "memory.current"
		if file == b.one {
			usage = "memory.usage_in_bytes"
		}
		fd, err := highFD(unix.Open(filepath.Join(dir, usage), unix.O_RDONLY|unix.O_CLOEXEC, 0))
		if err != nil {
			return err
		}
		g.memory = fd
	}
	if known {
		return nil
	}
	fd, err := highFD(unix.Open(filepath.Join(dir, "cgroup.procs"), unix.O_WRONLY|unix.O_CLOEXEC, 0))
	if err != nil {
		return err
	}
	g.dirs, g.procs = append(g.dirs, dir), append(g.procs, fd)
	return nil
}

// cgroupHomes returns the folders in which a group with the controller may be made, best first, and
// the name of the limit's file. In version 2 a group with processes of its own delegates no
// controller, so a sibling of our group may be allowed where a child is not.
func cgroupHomes(b bound) (homes []string, file string, err error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, "", err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, "", err
	}
	return b.homes(string(groups), string(mounts))
}

// homes is cgroupHomes for a process with the given group list and mount table.
func (b bound) homes(groups, mounts string) (homes []string, file string, err error) {
	version, group, err := ownCgroup(groups, b.controller)
	if err != nil {
		return nil, "", err
	}
	mount, root, err := cgroupMount(mounts, version, b.controller)
	if err != nil {
		return nil, "", err
	}
	within, err := filepath.Rel(root, group)
	if err != nil || strings.HasPrefix(within, "..") {
		within = "."
	}
	own := filepath.Join(mount, within)
	if version == 1 {
		return []string{own}, b.one, nil
	}
	homes = []string{own}
	if own != mount {
		homes = append(homes, filepath.Dir(own))
	}
	return homes, b.two, nil
}

// ownCgroup returns the process's group for a controller, from the text of /proc/self/cgroup.
func ownCgroup(groups, controller string) (version int, group string, err error) {
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) < 3 {
			continue
		}
		if f[1] == "" {
			version, group = 2, f[2]
		}
		for c := range strings.SplitSeq(f[1], ",") {
			if c == controller {
				return 1, f[2], nil
			}
		}
	}
	if version == 0 {
		return 0, "", errors.New("this kernel has no control groups")
	}
	return version, group, nil
}

// cgroupMount returns a hierarchy's mount point and the group at its root.
func cgroupMount(mounts string, version int, controller string) (mount, root string, err error) {
	for line := range strings.Lines(mounts) {
		// 36 35 98:0 /root /mount options - type source options
		place, kind, ok := strings.Cut(line, " - ")
		at, what := strings.Fields(place), strings.Fields(kind)
		if !ok || len(at) < 5 || len(what) < 3 {
			continue
		}
		if version == 2 && what[0] == "cgroup2" || version == 1 && what[0] == "cgroup" && strings.Contains(","+what[2]+",", ","+controller+",") {
			return at[4], at[3], nil
		}
	}
	return "", "", errors.New("no control groups are mounted")
}

// sweepCgroups removes the groups of runs that were killed.
func sweepCgroups(home string) {
	left, _ := filepath.Glob(filepath.Join(home, "thresh-*-*"))
	for _, dir := range left {
		var pid, n int
		if _, err := fmt.Sscanf(filepath.Base(dir), "thresh-%d-%d", &pid, &n); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			_ = os.Remove(dir)
		}
	}
}

// try has a child enter the groups and exit: a group may accept a limit and still accept no member,
// and then no case would start.
func (g *cgroup) try() error {
	p := newLaunchpad()
	for _, fd := range g.procs {
		p.add(stepContain, false, unix.SYS_WRITE, uintptr(fd), pin(p, &[]byte("0")[0]), 1)
	}
	p.add(stepExit, false, unix.SYS_EXIT_GROUP, 0)
	if _, err := p.run(); err != nil {
		return err
	}
	if _, errno := p.failure(); errno != 0 {
		return fmt.Errorf("enter a group: %w", errno)
	}
	return nil
}

// close removes the groups. Their processes have ended.
func (g *cgroup) close() {
	// A killed process remains in its group for a moment.
	for try := 0; !g.remove() && try < 100; try++ {
		time.Sleep(time.Millisecond)
	}
	g.dirs = nil
}

// remove closes the groups' files, removes groups without processes, and reports whether all are
// gone.
func (g *cgroup) remove() bool {
	for _, fd := range append(g.procs, g.memory) {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	g.procs, g.memory = nil, -1
	g.dirs = slices.DeleteFunc(g.dirs, func(dir string) bool {
		return os.Remove(dir) == nil || errors.Is(unix.Access(dir, unix.F_OK), unix.ENOENT)
	})
	return len(g.dirs) == 0
}
