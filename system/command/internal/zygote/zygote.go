package zygote

import (
	"errors"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

// Rlimit is one resource limit.
type Rlimit = forkline.Rlimit

// Config describes the program to start and where its input will be.
type Config struct {
	Path  string   // absolute path of the executable
	Argv  []string // argv[0] included
	Env   []string // the whole environment
	Dir   string   // working folder
	Files [3]int   // descriptors that become 0, 1 and 2

	// InputPath is the absolute path of the file that holds a case's input; "" if none. The file
	// must exist and be rewritten in place for each case.
	InputPath string
	// Stdin means that Files[0] holds the case's input. The caller rewrites and rewinds it.
	Stdin bool
	// Limits apply to every case as to a spawned process.
	Limits []Rlimit
	// Timeout limits each attempt to reach a fork point and the answer to a Fork; 0 means 10
	// seconds.
	Timeout time.Duration
}

// ErrDied is wrapped by Fork's error if the started program is gone. The server is of no further
// use.
var ErrDied = errors.New("the program held at its fork point is gone")

// The fork points, as [Server.Point] names them.
const (
	PointInput = "input"
	PointMain  = "main"
	PointEntry = "entry"
)
