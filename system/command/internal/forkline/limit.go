package forkline

// Rlimit is one resource limit, in the units of setrlimit(2).
type Rlimit struct {
	Resource int // RLIMIT_AS, RLIMIT_CPU, ...
	Cur, Max uint64
}

// Program is what is launched.
type Program struct {
	Path   string // absolute
	Argv   []string
	Env    []string
	Dir    string
	Files  [3]int // descriptors that become 0, 1 and 2; -1: closed
	Limits []Rlimit
}
