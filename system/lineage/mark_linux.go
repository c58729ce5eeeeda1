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

// Mark distinguishes the descendants of a process from all other processes on the machine, even
// after they have left its session and their parents have died: it is a value of RLIMIT_LOCKS that
// nothing else has. All descendants inherit it, and the limit has had no effect since Linux 2.4.
// The zero value marks nothing.
type Mark struct {
	limit uint64
	root  int // the marked process
}

const rlimitLocks = 10 // RLIMIT_LOCKS, which x/sys does not name on every platform

// sweepLimit is how long Sweep keeps trying to kill.
const sweepLimit = 10 * time.Second

// New marks a process, which should have no children yet: existing children are not marked.
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

// Sweep kills every process that bears the mark. It first stops all of them, so that none forks
// meanwhile. It returns when none is left, or after sweepLimit.
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

// processes returns the living processes that bear the mark, each with a pidfd.
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
		if !m.on(pid) { // the id has been reused meanwhile
			unix.Close(fd)
			continue
		}
		found[pid] = fd
	}
	return found
}

// dead reports whether a process is a zombie. It reaps an orphan if this process adopted it.
func (m Mark) dead(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	for i := len(stat) - 1; i > 0; i-- {
		if stat[i] == ')' { // the name before it may contain anything
			gone := i+2 < len(stat) && (stat[i+2] == 'Z' || stat[i+2] == 'X')
			if gone && pid != m.root {
				unix.Wait4(pid, nil, unix.WNOHANG|unix.WALL, nil)
			}
			return gone
		}
	}
	return false
}
