package forkline

// Rlimit is one resource limit, in the units of setrlimit(2).
type Rlimit struct {
	Resource int // RLIMIT_AS, RLIMIT_CPU, ...; or Group
	Cur, Max uint64
}

// Group is the Resource of an Rlimit that enters a control group: Cur is the descriptor of its
// cgroup.procs file.
const Group = -1

// Program is a program to launch.
type Program struct {
	Path   string // absolute
	Argv   []string
	Env    []string
	Dir    string
	Files  [3]int // descriptors that become 0, 1 and 2; -1: closed
	Limits []Rlimit
	Leash  *Leash // inherited below the server's control pipe; nil: none
}

// Leash has the kernel kill a program's whole process group when this process ends for any reason,
// including processes that hang or are stopped waiting for their next case, whose parent is gone.
// It is a pipe that nobody writes to. The group inherits the read end, and the kernel signals the
// group when no writer is left.
type Leash struct{ near, far int }
