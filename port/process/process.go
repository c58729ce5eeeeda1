// Package process holds the values that describe how a program is run for a
// case, and the result. Contracts that test programs build a [Plan] and judge a
// [Result]; package system/command executes the plan. No process is started
// here: the package is pure values, so that contracts can describe programs
// without importing an edge.
package process

import (
	"context"
	"errors"
	"time"

	"github.com/thresh-dev/thresh/port/sut"
)

// Plan is how a program is run, the same for every case of a campaign.
type Plan struct {
	// Command builds the command line and environment for one case. It is pure.
	Command func(Paths) Command
	// PerCase says that Command gives its own command for each case, which
	// is known only when the case is run; an accelerator that starts a program
	// once cannot serve such a plan. Command is then called before every start,
	// when the run folder is as the case finds it, and may put files there.
	PerCase bool
	// Shell says that the commands of PerCase are a POSIX shell's: Argv is NAME,
	// -c, SCRIPT, NAME. Unless the lane is cold, they may be forked from a shell
	// that was started before and has run nothing. A script gives what may fail
	// to eval: what a shell says of other errors names where the script stands.
	Shell bool
	// Input is the file name of the case's input inside the run folder,
	// slash-separated, such as "input/original.pdf".
	Input string
	// OutDir is the folder for outputs inside the run folder, such as "out".
	OutDir string
	// Dirs are further folders made inside the run folder.
	Dirs []string
	// Stdin delivers the input on standard input as well; otherwise standard
	// input is empty.
	Stdin   bool
	Timeout time.Duration // the limit that a case's verdict rests on; > 0
	Limits  Limits
	Executor
	Sandbox bool // contain the program as far as the kernel grants it
	// Coverage asks for edge coverage in Result.Edges; only the afl executor
	// of an instrumented program can give it. Cases that take long are then
	// [SetAside] rather than run again.
	Coverage bool
	// Listen is another build of the program, which runs the cases of [Comparer]; "":
	// the program itself does.
	Listen string
	// Calibrate is an input that the program takes the usual way (the seed);
	// it is run a few times to learn how long a case takes. nil: no calibration.
	Calibrate []byte
}

// Executor names how processes are made.
type Executor string

// The executors. Spawn defines the truth; the others are accelerators, checked
// against it.
const (
	Auto   Executor = "auto"
	Spawn  Executor = "spawn"
	Zygote Executor = "zygote"
	AFL    Executor = "afl"
)

// Paths is where one case lives. All are absolute.
type Paths struct {
	RunID     string
	RunDir    string // working directory of the program
	InputPath string
	OutDir    string
}

// Command is what is executed: no shell is involved.
type Command struct {
	Path string   // absolute path of the executable
	Argv []string // argv[0] included
	Env  []string // the whole environment, KEY=value
	Dir  string   // absolute working directory; "": the run folder
}

// Limits bound what one case may use. Zero means no limit of that kind.
type Limits struct {
	AddressSpace int64 // bytes; not applied to a program built with a sanitizer that reserves address space
	Together     bool  // AddressSpace bounds all processes of a case and their files in memory, where the kernel lets it
	FileSize     int64 // bytes of any one file the program writes
	Written      int64 // bytes in all that the program writes to its run folder and streams
	Output       int64 // bytes kept of each of stdout and stderr
	Processes    int64 // processes and threads at once; 0: no limit
}

// Status is how a process ended.
type Status uint8

// The ways to end.
const (
	Exited     Status = iota // by itself, with Result.ExitCode
	Signaled                 // by Result.Signal
	TimedOut                 // killed at the full timeout
	OverBudget               // by itself, when it had taken as many edges as it may
	SetAside                 // killed at a short limit of processor time: only a run at the full timeout says how it ends
)

func (s Status) String() string {
	return [...]string{"exited", "signaled", "timed out", "over budget", "set aside"}[s]
}

// Result is what came of one case. Byte slices and Dir are valid until the
// runner's next Run.
type Result struct {
	Status     Status
	ExitCode   int // meaningful if Status is Exited
	Signal     int // meaningful if Status is Signaled
	CoreDumped bool
	// OutputLimit says that the program was stopped because it wrote more than
	// the limits allow.
	OutputLimit bool
	// Leftovers counts processes that were still alive when the main process
	// had ended, and were killed.
	Leftovers int
	// NoOutputs says that the output folder is known to be as it was when the
	// case began: empty.
	NoOutputs bool

	Stdout, Stderr         []byte // at most Limits.Output bytes each
	StdoutSize, StderrSize int64  // bytes that the program wrote, where known; else len
	Elapsed                time.Duration
	UserTime, SystemTime   time.Duration
	MaxRSS                 int64 // bytes
	Started                time.Time
	Executor               Executor // which executor gave this result
	// Observed is what came of a system that was called in the program's place;
	// nil: a program was run.
	Observed *sut.Observation

	Dir string // run folder of the case; wiped before the next case
	// Edges is the coverage map's hit edges with bucketed counts, as
	// edge<<8|bucket, ascending; nil without coverage.
	Edges []uint32
	// Work is how many edges the case took in all, of a program that counts them.
	Work uint64
	Kept bool // its process was kept for the next case, or would have been
}

// Case is one input to run.
type Case struct {
	Index int64 // place in the campaign; decides which cases are cross-checked
	RunID string
	Input []byte
	// Confirm asks for spawn at the full timeout, without accelerators.
	Confirm bool
	// Budget is how many edges the case may take; 0: no limit. Only programs that
	// count them keep to it.
	Budget uint64
}

// Runner runs cases on one lane; it is used by one goroutine at a time.
type Runner interface {
	Run(ctx context.Context, c Case) (Result, error)
	// Notes says how cases are run, for the report: executor used and why,
	// cross-checks made, what the sandbox could not do. Call before Close.
	Notes() []string
	// Close may be called again.
	Close() error
}

// Settler is implemented by runners that run a stretch of cases faster if they
// may prepare the calling goroutine for it: it alone calls Run until it has
// called leave.
type Settler interface{ Settle() (leave func()) }

// Opener opens a runner for a lane. cold asks for spawn alone.
type Opener func(ctx context.Context, plan Plan, lane, lanes int, cold bool) (Runner, error)

// ErrGone says that the program is no longer there to be started. Errors of a
// runner wrap it.
var ErrGone = errors.New("the program no longer exists")

// MismatchError says that an accelerator and spawn disagreed on a case.
type MismatchError struct {
	Case     int64
	Executor Executor
	What     string // "exit status: 0, spawn says 1"
}

func (e *MismatchError) Error() string {
	return string(e.Executor) + " executor disagrees with spawn: " + e.What
}

// Crash is what a program that a fatal signal had stopped said of it.
type Crash struct {
	Kind   string   // "null pointer read", "stack overflow", "abort: double free or corruption"
	Fault  string   // the kind without what chance or the input decides: "read", "heap damage"; "": Kind
	Layers []string // the places that distinguish it from other crashes of the kind; none: it has no code of its own
	Frames []string // the program's own calls, innermost first
	By     string   // what named them
	Vague  bool     // libraries cannot be distinguished from the program
	Hint   string   // guess at what it could be used for: one of the constants below
}

// What a crash could be used for, by its kind alone: a heuristic, no proof.
const (
	Exploitable      = "likely exploitable"
	MaybeExploitable = "possibly exploitable"
	NotExploitable   = "probably not exploitable"
)

// Tracer is implemented by runners that can run a case once more, cold, and stop
// it at its crash. A nil crash means that it did not crash again, or not by a
// fault of its own; the error says why stacks cannot be read here at all.
type Tracer interface {
	Trace(ctx context.Context, c Case) (*Crash, error)
}

// Comparison is two operands that a program held against each other and found
// different.
type Comparison struct {
	Kind     ComparisonKind
	Constant bool   // A stands in the program
	A, B     []byte // numbers in the machine's byte order
}

// ComparisonKind says what the operands are.
type ComparisonKind uint8

// The kinds, as the coverage runtime numbers them.
const (
	Numbers ComparisonKind = iota + 1 // of 1 to 8 bytes
	Bytes                             // of equal length, perhaps cut
	Texts                             // without their zero byte, perhaps cut
	Areas                             // of equal length, of which only some first bytes may be compared
)

// Comparer is implemented by runners that can run a case of a program once more and
// listen to what it compares. Programs that cannot say so give none.
type Comparer interface {
	Compare(ctx context.Context, c Case) ([]Comparison, error)
}

// Batcher is implemented by runners that can run several cases at once.
type Batcher interface {
	// RunBatch runs the first of the cases as Run would and calls each for them, in
	// order; each may call Run. It returns how many they were: none if the first needs
	// Run. Byte slices in a result are valid until each calls Run or returns.
	RunBatch(ctx context.Context, cases []Case, each func(i int, res Result) error) (int, error)
}

// Glossary is implemented by runners that know tokens of the program: texts and
// constants that it may hold its input against.
type Glossary interface{ Words() [][]byte }
