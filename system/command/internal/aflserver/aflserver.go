package aflserver

import (
	"errors"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

// Rlimit is one resource limit.
type Rlimit = forkline.Rlimit

// Config says what to start and how its cases get their input.
type Config struct {
	Path  string   // absolute path of the executable
	Argv  []string // argv[0] included
	Env   []string // the whole environment; what the protocol needs is added
	Dir   string   // working folder
	Files [3]int   // descriptors that become 0, 1 and 2

	// Stdin says that cases read their input from Files[0], unless they take
	// it from shared memory. Run rewinds it.
	Stdin bool
	// Limits are laid on cases as on spawned processes, with two differences.
	// The limit on the number of processes takes hold a moment after the case
	// has started. The one on processor time is kept to within two seconds in
	// persistent mode, for each case, and acts by its soft value alone.
	Limits []Rlimit
	// Features is what Detect said of the program.
	Features Features
	// MaxInput bounds the size of inputs in shared memory; 0 means 1 MiB.
	MaxInput int
	// Reaper says that this process is the reaper of orphans (see prctl(2),
	// PR_SET_CHILD_SUBREAPER), so that processes can be taken over from their
	// server. Changed is then called when there is another process that is the
	// server's or took its place.
	Reaper  bool
	Changed func()
	// Timeout bounds the start of the server and its answers, not the cases;
	// 0 means 10 seconds.
	Timeout time.Duration
}

// ErrServerDied is wrapped by an error of Run that says that the fork server
// is gone, or does not answer, which is the same. The Server is of no further
// use.
var ErrServerDied = errors.New("the program's fork server is gone")

// ErrKilled is wrapped by the error of a Run that [Server.Kill] has ended.
var ErrKilled = errors.New("the case was killed")
