package zygote

import (
	"errors"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

// Rlimit is one resource limit.
type Rlimit = forkline.Rlimit

// Config says what to start and where its input will be.
type Config struct {
	Path  string   // absolute path of the executable
	Argv  []string // argv[0] included
	Env   []string // the whole environment
	Dir   string   // working folder
	Files [3]int   // descriptors that become 0, 1 and 2

	// InputPath is the absolute path of the file that holds a case's input; ""
	// if there is none. It must exist, and be rewritten in place for each case.
	InputPath string
	// Stdin says that Files[0] holds the case's input. It is rewritten and
	// rewound by the caller.
	Stdin bool
	// Limits are laid on every case as on a spawned process.
	Limits []Rlimit
	// Timeout bounds each attempt to reach a fork point, and the answer to a
	// Fork; 0 means 10 seconds.
	Timeout time.Duration
}

// ErrDied is wrapped by an error of Fork that says that the started program is
// gone. The server is of no further use.
var ErrDied = errors.New("the program held at its fork point is gone")

// The fork points, as [Server.Point] names them.
const (
	PointInput = "input"
	PointMain  = "main"
	PointEntry = "entry"
)
