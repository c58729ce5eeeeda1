package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// orphanReaper finds and kills processes that a case leaves running, even if they have moved to
// another session or their parent has ended.
//
// A process whose parent dies becomes a child of its nearest ancestor that is a subreaper. This
// process is one; so if a case's main process ends and leaves anything running, we get a child that
// no lane started. Reading one line of /proc reveals it. Its lane is identified by a mark that all
// descendants inherit and nothing uses: RLIMIT_LOCKS, which has had no effect since Linux 2.4.
//
// In a sandbox with its own process ids the subreaper is the lane's keeper, which has no other
// children, so no mark is needed.
type orphanReaper struct {
	children int    // descriptor of the subreaper's list of children
	mark     uint64 // 0: every child of the subreaper is ours
	known    []int  // children that are no leftovers: fork servers
	buf      []byte
	quiet    []byte // the list in which the last hunt found no leftovers
	sweep    func() // kills all of the lane's processes at once; nil: cannot be done
	reap     bool   // this process is the subreaper
}

// rlimitLocks is RLIMIT_LOCKS, which x/sys does not name on every platform.
const rlimitLocks = 10

// huntLimit is how long a hunt may take before it fails.
const huntLimit = 20 * time.Second

func newOrphanReaper() (*orphanReaper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the reaper of orphans: %w", err)
	}
	h := &orphanReaper{reap: true, children: -1, buf: make([]byte, 4096)}
	// A mark must be below our own limit, which is itself a mark if another Thresh runs this
	// process.
	var own unix.Rlimit
	if err := unix.Prlimit(0, rlimitLocks, nil, &own); err != nil {
		return nil, fmt.Errorf("read the limit of locks: %w", err)
	}
	ceiling := min(own.Max, 1<<62)
	h.mark = ceiling - rand.Uint64N(1<<48) - 1
	if ceiling < 1<<48 {
		return nil, fmt.Errorf("the limit of locks is %d, too low to mark processes with", own.Max)
	}
	return h, h.watchChildrenOf(os.Getpid())
}

// watchChildrenOf makes the reaper watch the children of a process.
func (h *orphanReaper) watchChildrenOf(reaper int) error {
	// Orphans become children of the subreaper's first thread.
	fd, err := highFD(unix.Open(fmt.Sprintf("/proc/%d/task/%[1]d/children", reaper), unix.O_RDONLY|unix.O_CLOEXEC, 0))
	if err != nil {
		return fmt.Errorf("open the list of child processes: %w", err)
	}
	h.close()
	h.children = fd
	return nil
}

func (h *orphanReaper) close() {
	if h.children >= 0 {
		unix.Close(h.children)
		h.children = -1
	}
}

// hunt kills all processes that the case left and returns their number. The main process has ended
// but is not reaped yet.
func (h *orphanReaper) hunt(main int) (int, error) {
	n, err := h.read()
	if err != nil || n == 0 || bytes.Equal(h.buf[:n], h.quiet) {
		return 0, err
	}
	list := slices.Clone(h.buf[:n])
	killed, err := h.huntAll(main)
	if err == nil && killed == 0 {
		h.quiet = list
	}
	return killed, err
}

// read reads the list of children, which is usually empty.
func (h *orphanReaper) read() (int, error) {
	for {
		n, err := unix.Pread(h.children, h.buf, 0)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, fmt.Errorf("read the list of child processes: %w", err)
		case n == len(h.buf):
			h.buf = make([]byte, 2*len(h.buf))
		default:
			return n, nil
		}
	}
}

// laneProcesses returns this lane's processes among the first n bytes read.
func (h *orphanReaper) laneProcesses(n, main int) []int {
	var pids []int
	for _, pid := range fields(h.buf[:n]) {
		if pid != main && !slices.Contains(h.known, pid) && h.marked(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (h *orphanReaper) marked(pid int) bool {
	if h.mark == 0 {
		return true
	}
	var lim unix.Rlimit
	return unix.Prlimit(pid, rlimitLocks, nil, &lim) == nil && lim.Max == h.mark
}

// huntAll kills and reaps, generation by generation, until none is left.
func (h *orphanReaper) huntAll(main int) (int, error) {
	killed := map[int]bool{}
	pause := 50 * time.Microsecond
	for start := time.Now(); ; {
		n, err := h.read()
		if err != nil {
			return len(killed), err
		}
		pids := h.laneProcesses(n, main)
		if h.reap {
			pids = slices.DeleteFunc(pids, h.reapChild)
		}
		if len(pids) == 0 {
			if n, err = h.read(); err != nil || len(h.laneProcesses(n, main)) == 0 {
				return len(killed), err
			}
			continue // children of the reaped processes are ours now
		}
		if time.Since(start) > huntLimit {
			return len(killed), fmt.Errorf("%d processes that the program left behind cannot be killed", len(pids))
		}
		for _, pid := range h.listTree(pids) {
			killed[pid] = true
		}
		if h.sweep != nil {
			h.sweep()
		} else {
			// The main process's zombie keeps its group id taken, and only we can reap our
			// children.
			if main != 0 {
				unix.Kill(-main, unix.SIGKILL)
			}
			for _, pid := range pids {
				unix.Kill(pid, unix.SIGKILL)
			}
			// Processes that fork faster than we list them are caught by their mark.
			if len(killed) > 64 || time.Since(start) > 20*time.Millisecond {
				h.endMarked(main, killed)
			}
		}
		time.Sleep(pause)
		pause = min(2*pause, 5*time.Millisecond)
	}
}

// listTree returns the given processes and their descendants.
func (h *orphanReaper) listTree(pids []int) []int {
	const enough = 4096 // no count needs to be larger
	list := slices.Clone(pids)
	for i := 0; i < len(list) && len(list) < enough; i++ {
		threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", list[i]))
		for _, t := range threads {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", list[i], t.Name()))
			list = append(list, fields(line)...)
		}
	}
	return list
}

// reapChild reaps a child and reports whether it was dead.
func (h *orphanReaper) reapChild(pid int) bool {
	var ws unix.WaitStatus
	got, err := unix.Wait4(pid, &ws, unix.WNOHANG|unix.WALL, nil)
	return got == pid && err == nil
}

// endMarked stops every process on the machine that bears this lane's mark, then kills them. A
// stopped process cannot fork.
func (h *orphanReaper) endMarked(main int, killed map[int]bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == main || slices.Contains(h.known, pid) || !h.marked(pid) {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		// The process id may have been reused between the check and the opening.
		if h.marked(pid) {
			unix.PidfdSendSignal(fd, unix.SIGSTOP, nil, 0)
			pids = append(pids, fd)
			killed[pid] = true
		} else {
			unix.Close(fd)
		}
	}
	for _, fd := range pids {
		unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		unix.Close(fd)
	}
}

// fields returns the decimal numbers in a line.
func fields(line []byte) []int {
	var list []int
	n, in := 0, false
	for _, c := range line {
		if c >= '0' && c <= '9' {
			n, in = n*10+int(c-'0'), true
		} else if in {
			list, n, in = append(list, n), 0, false
		}
	}
	if in {
		list = append(list, n)
	}
	return list
}
