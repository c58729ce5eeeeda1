// Package process holds the values that describe how to run a program for a case, and the result.
// Contracts that test programs build a [Plan] and judge a [Result]; package system/command executes
// the plan. It starts no process: the package is pure values, so that contracts can describe
// programs without importing an edge.
package process

import (
	"context"
	"errors"
	"time"

	"github.com/thresh-dev/thresh/port/sut"
)

// Plan says how to run a program. It is the same for every case of a campaign.
type Plan struct {
	// Command builds the command line and environment for one case. It is pure.
	Command func(Paths) Command
	// PerCase says that Command returns a different command for each case, known only when the case
	// runs. An accelerator that starts a program once cannot serve such a plan. Command is then
	// called before every start, when the run folder is prepared, and may put files there.
	PerCase bool
	// Shell says that the commands of PerCase are a POSIX shell's: Argv is NAME, -c, SCRIPT, NAME.
	// Unless the lane is cold, they may be forked from a shell that was started earlier and has run
	// nothing. A script should pass whatever may fail to eval, because other error messages of a
	// shell contain the script's position.
	Shell bool
	// Input is the file name of the case's input inside the run folder,
	// slash-separated, such as "input/original.pdf".
	Input string
	// OutDir is the folder for outputs inside the run folder, such as "out".
	OutDir string
	// Dirs are further folders to create inside the run folder.
	Dirs []string
	// Stdin also delivers the input on standard input, which is otherwise empty.
	Stdin   bool
	Timeout time.Duration // the limit that a case's verdict is based on; > 0
	Limits  Limits
	Executor
	Sandbox bool // contain the program as far as the kernel allows
	// Coverage requests edge coverage in Result.Edges. Only the afl executor of an instrumented
	// program can provide it. Cases that take long are then [SetAside] instead of run again.
	Coverage bool
	// Listen is another build of the program, which runs the cases of [Comparer]; "": the program
	// itself runs them.
	Listen string
	// Calibrate is an input that the program handles in the usual way (the seed). It is run a few
	// times to learn how long a case takes. nil: no calibration.
	Calibrate []byte
}

// Executor is a way to create processes.
type Executor string

// The executors. Spawn is the reference; the others are accelerators that are checked against it.
const (
	Auto   Executor = "auto"
	Spawn  Executor = "spawn"
	Zygote Executor = "zygote"
	AFL    Executor = "afl"
)

// Paths are the places of one case. All are absolute.
type Paths struct {
	RunID     string
	RunDir    string // working directory of the program
	InputPath string
	OutDir    string
}

// Command is what is executed, without a shell.
type Command struct {
	Path string   // absolute path of the executable
	Argv []string // argv[0] included
	Env  []string // the whole environment, KEY=value
	Dir  string   // absolute working directory; "": the run folder
}

// Limits bound what one case may use. Zero means no limit of that kind.
type Limits struct {
	AddressSpace int64 // bytes; not applied to a program built with a sanitizer that reserves address space
	Together     bool  // AddressSpace limits all processes of a case together, with their files in memory, if the kernel supports it
	FileSize     int64 // bytes of each file that the program writes
	Written      int64 // total bytes that the program writes to its run folder and streams
	Output       int64 // bytes kept of each of stdout and stderr
	Processes    int64 // processes and threads at once; 0: no limit
}

// Status is how a process ended.
type Status uint8

// The ways to end.
const (
	Exited     Status = iota // on its own, with Result.ExitCode
	Signaled                 // by Result.Signal
	TimedOut                 // killed at the full timeout
	OverBudget               // on its own, after as many edges as it may execute
	SetAside                 // killed at a short limit of processor time; only a run with the full timeout shows how it ends
)

func (s Status) String() string {
	return [...]string{"exited", "signaled", "timed out", "over budget", "set aside"}[s]
}

// Result is the result of one case. Byte slices and Dir are valid until the runner's next Run.
type Result struct {
	Status     Status
	ExitCode   int // meaningful if Status is Exited
	Signal     int // meaningful if Status is Signaled
	CoreDumped bool
	// OutputLimit says that the program was stopped because it wrote more than the limits allow.
	OutputLimit bool
	// Leftovers counts processes that were still alive after the main process had ended, and were
	// killed.
	Leftovers int
	// NoOutputs says that the output folder is known to be empty, as at the beginning of the case.
	NoOutputs bool

	Stdout, Stderr         []byte // at most Limits.Output bytes each
	StdoutSize, StderrSize int64  // bytes that the program wrote, if known; else len
	Elapsed                time.Duration
	UserTime, SystemTime   time.Duration
	MaxRSS                 int64 // bytes
	Started                time.Time
	Executor               Executor // the executor that produced this result
	// Observed is the result of a system that was called instead of a program; nil: a program was
	// run.
	Observed *sut.Observation

	Dir string // run folder of the case; wiped before the next case
	// Edges lists the hit edges of the coverage map with bucketed counts, as edge<<8|bucket,
	// ascending; nil without coverage.
	Edges []uint32
	// Work is how many edges the case executed in total, if the program counts them.
	Work uint64
	Kept bool // the process was kept for the next case, or would have been
}

// Case is one input to run.
type Case struct {
	Index int64 // index in the campaign; decides which cases are cross-checked
	RunID string
	Input []byte
	// Confirm requests spawn with the full timeout, without accelerators.
	Confirm bool
	// Budget is how many edges the case may execute; 0: no limit. Only programs that count edges
	// observe it.
	Budget uint64
}

// Runner runs cases on one lane. Only one goroutine uses it at a time.
type Runner interface {
	Run(ctx context.Context, c Case) (Result, error)
	// Notes returns how cases were run, for the report: the executor used and why, cross-checks
	// made, and what the sandbox could not do. Call it before Close.
	Notes() []string
	// Close may be called more than once.
	Close() error
}

// Settler is implemented by runners that run a series of cases faster if they may prepare the
// calling goroutine for it. Only that goroutine may call Run until it has called leave.
type Settler interface{ Settle() (leave func()) }

// Opener opens a runner for a lane. cold requests spawn only.
type Opener func(ctx context.Context, plan Plan, lane, lanes int, cold bool) (Runner, error)

// ErrGone says that the program no longer exists. Errors of a runner wrap it.
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

// Crash is what is known about a program that a fatal signal stopped.
type Crash struct {
	Kind   string   // "null pointer read", "stack overflow", "abort: double free or corruption"
	Fault  string   // the kind without what depends on chance or the input: "read", "heap damage"; "": Kind
	Layers []string // the places that distinguish it from other crashes of the kind; none: no code of the program is involved
	Frames []string // the program's own calls, innermost first
	By     string   // the tool that named the calls
	Vague  bool     // libraries cannot be distinguished from the program
	Hint   string   // a guess at what an attacker could use it for: one of the constants below
}

// What an attacker could use a crash for, judged only by its kind: a heuristic, not a proof.
const (
	Exploitable      = "likely exploitable"
	MaybeExploitable = "possibly exploitable"
	NotExploitable   = "probably not exploitable"
)

// Tracer is implemented by runners that can run a case once more, cold, and stop it at its crash. A
// nil crash means that the program did not crash again, or not by a fault of its own. The error
// says why stacks cannot be read here at all.
type Tracer interface {
	Trace(ctx context.Context, c Case) (*Crash, error)
}

// Comparison is two operands that a program compared and found different.
type Comparison struct {
	Kind     ComparisonKind
	Constant bool   // A is a constant in the program
	A, B     []byte // numbers in the machine's byte order
}

// ComparisonKind is the kind of the operands.
type ComparisonKind uint8

// The kinds, as the coverage runtime numbers them.
const (
	Numbers ComparisonKind = iota + 1 // of 1 to 8 bytes
	Bytes                             // of equal length, possibly cut
	Texts                             // without their terminating zero, possibly cut
	Areas                             // of equal length; possibly only the first bytes were compared
)

// Comparer is implemented by runners that can run a case once more and observe the program's
// comparisons. Programs that cannot report comparisons yield none.
type Comparer interface {
	Compare(ctx context.Context, c Case) ([]Comparison, error)
}

// Batcher is implemented by runners that can run several cases at once.
type Batcher interface {
	// RunBatch runs the first of the cases as Run would and calls each for them, in order; each may
	// call Run. It returns how many cases it ran: none if the first needs Run. Byte slices in a
	// result are valid until each calls Run or returns.
	RunBatch(ctx context.Context, cases []Case, each func(i int, res Result) error) (int, error)
}

// Glossary is implemented by runners that know tokens of the program: texts and constants with
// which it may compare its input.
type Glossary interface{ Words() [][]byte }
