package forkline

// Rlimit is one resource limit, in the units of setrlimit(2).
type Rlimit struct {
	Resource int // RLIMIT_AS, RLIMIT_CPU, ...; or Group
	Cur, Max uint64
}

// Group is the resource of a limit that is to enter a control group: Cur is the
// descriptor of the file that takes members.
const Group = -1

// Program is what is launched.
type Program struct {
	Path   string // absolute
	Argv   []string
	Env    []string
	Dir    string
	Files  [3]int // descriptors that become 0, 1 and 2; -1: closed
	Limits []Rlimit
	Leash  *Leash // inherited below the server's control pipe; nil: none
}

// Leash has all of a program's process group killed when this process ends,
// whichever way: also those that wait stopped for their next case, whose parent
// is gone, and those that hang. It is a pipe that nobody writes to. The group
// inherits its other end, of which the kernel says by a signal of our choice that
// there is no writer any more.
type Leash struct{ near, far int }
