package lineage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Mark distinguishes the processes below one process from all others on the machine,
// also when they have left its session and their parents have died: a limit of
// file locks that nothing else has. All descendants inherit it, and the limit
// means nothing since Linux 2.4. The zero value marks nothing.
type Mark struct {
	limit uint64
	root  int // the process that was marked
}

const rlimitLocks = 10 // RLIMIT_LOCKS, which x/sys has no name for on every platform

// sweepLimit is how long processes that resist being killed are hunted.
const sweepLimit = 10 * time.Second

// New marks a process, which should have no children yet: those that it has
// already are not found.
func New(pid int) (Mark, error) {
	var own unix.Rlimit
	if err := unix.Prlimit(pid, rlimitLocks, nil, &own); err != nil {
		return Mark{}, fmt.Errorf("read the limit of locks: %w", err)
	}
	ceiling := min(own.Max, 1<<62)
	if ceiling < 1<<48 {
		return Mark{}, errors.New("the limit of locks is too low to mark processes with")
	}
	m := ceiling - rand.Uint64N(1<<47) - 1
	if err := unix.Prlimit(pid, rlimitLocks, &unix.Rlimit{Cur: m, Max: m}, nil); err != nil {
		return Mark{}, fmt.Errorf("set the limit of locks: %w", err)
	}
	return Mark{limit: m, root: pid}, nil
}

func (m Mark) on(pid int) bool {
	var lim unix.Rlimit
	return unix.Prlimit(pid, rlimitLocks, nil, &lim) == nil && lim.Max == m.limit
}

// Sweep kills every process that bears the mark: first all are stopped, so that
// none makes another meanwhile. It returns when there is none left, or only
// such as cannot be killed.
func (m Mark) Sweep() {
	if m.limit == 0 {
		return
	}
	for start := time.Now(); time.Since(start) < sweepLimit; time.Sleep(time.Millisecond) {
		found := m.processes()
		for _, fd := range found {
			unix.PidfdSendSignal(fd, unix.SIGSTOP, nil, 0)
		}
		for _, fd := range found {
			unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			unix.Close(fd)
		}
		if len(found) == 0 {
			return
		}
	}
}

// Living counts the processes that bear the mark.
func (m Mark) Living() int {
	if m.limit == 0 {
		return 0
	}
	found := m.processes()
	for _, fd := range found {
		unix.Close(fd)
	}
	return len(found)
}

// processes returns the living processes with the mark and a descriptor each.
func (m Mark) processes() map[int]int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	found := make(map[int]int)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || !m.on(pid) || m.dead(pid) {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if !m.on(pid) { // the number has changed hands meanwhile
			unix.Close(fd)
			continue
		}
		found[pid] = fd
	}
	return found
}

// dead reports whether a process is a zombie that only waits to be reaped. An
// orphan is reaped here if this process is the reaper that it came to.
func (m Mark) dead(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	for i := len(stat) - 1; i > 0; i-- {
		if stat[i] == ')' { // the name before it may hold anything
			gone := i+2 < len(stat) && (stat[i+2] == 'Z' || stat[i+2] == 'X')
			if gone && pid != m.root {
				unix.Wait4(pid, nil, unix.WNOHANG|unix.WALL, nil)
			}
			return gone
		}
	}
	return false
}
