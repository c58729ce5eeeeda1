package pyhost

import (
	"context"
	"encoding/json"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// Command is a Python function that runs like a program: it is called with the list of arguments,
// in a process of its own that no other case has used.
//
// The order is the contract's: setup files, stubs, environment and standard input, blocked imports,
// HookBefore, resolving and calling the entrypoint and, only if the exit code is WantExit,
// HookAfter.
type Command struct {
	// Entrypoint is "module:attribute". The attribute is a single name, without dots.
	Entrypoint string
	Argv       []string // the function's only argument; without a program name
	// SearchPath is put first in sys.path, usually the folder of the run. Entries of PYTHONPATH
	// follow.
	SearchPath []string
	// Dir is the working folder; "": that of this process.
	Dir string
	// Environ returns the whole environment as KEY=value. It is pure. temp is the absolute path of
	// the case's own temporary folder, which is empty except for SetupFiles. nil: the environment
	// of this process.
	Environ    func(temp string) []string
	SetupFiles []SetupFile // in the temporary folder

	// Stdin is the content of standard input, on both sys.stdin and file descriptor 0. StdinIsTTY
	// is what sys.stdin.isatty() returns.
	Stdin      string
	StdinIsTTY bool // descriptor 0 is a file in any case

	// StubModules are names for which an empty module is put into sys.modules unless it is loaded.
	// The one named "openai" has an attribute OpenAI.
	StubModules []string
	// BlockImports are names that import statements cannot import, including submodules. They take
	// precedence over stubs.
	BlockImports []string

	// Hooks are "module:attribute"; "": none. They are called with keyword arguments: case, ctx,
	// harness (HookBefore) or result (HookAfter), and the members of HookKwargs. HookBefore's
	// output counts as the command's, HookAfter's does not.
	HookBefore, HookAfter string
	HookKwargs            json.RawMessage // an object; nil: none
	Case                  HookCase
	// WantExit is the exit code after which HookAfter is called.
	WantExit int64

	Timeout time.Duration // for everything, including hooks; > 0
	// Limits bound the process and what it starts. Output is how much is kept of each of stdout and
	// stderr (1 MiB if 0); a command that writes more to either is stopped.
	Limits process.Limits
}

// SetupFile is a file in the command's temporary folder.
type SetupFile struct {
	Path string // slash-separated, relative, clean; parents are created
	Text string
}

// HookCase is the case as hooks see it: an object with the attributes id, type, title (or None),
// doc_path (a pathlib.Path), raw_case and harness.
type HookCase struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Title   *string         `json:"title"`
	DocPath string          `json:"doc_path"`
	Raw     json.RawMessage `json:"raw_case,omitempty"` // an object
	Harness json.RawMessage `json:"harness,omitempty"`  // an object
}

// Phase is how far a command got. A Fault belongs to the last phase.
type Phase string

// The phases, in order.
const (
	PhaseSetup      Phase = "setup"       // before any user code: folders, limits, environment
	PhaseHookBefore Phase = "hook_before" // resolving and calling it
	PhaseLoad       Phase = "load"        // importing the module, finding the attribute
	PhaseMain       Phase = "main"        // inside the entrypoint
	PhaseExit       Phase = "exit"        // the entrypoint's value is not an exit code
	PhaseHookAfter  Phase = "hook_after"  // resolving and calling it
	PhaseDone       Phase = "done"
)

// Ending is how a command ended.
type Ending uint8

// The endings.
const (
	// Finished: all phases were completed; ExitCode is set and Fault is nil.
	Finished Ending = iota
	// Raised: an exception (or a refusal by the host) stopped it in Phase; see Fault. ExitCode is
	// set if the entrypoint had ended before.
	Raised
	// Exited: the process ended without the host's involvement, as with os._exit, or closed all
	// descriptors, so that only its exit status is known. That is ExitCode.
	Exited
	// Signaled: Signal killed the process. Fault is set if the process that had started it died as
	// well.
	Signaled
	// TimedOut: it was killed after Command.Timeout, in Phase.
	TimedOut
	// OutputLimit: it was killed because it wrote more than Limits.Output.
	OutputLimit
)

func (e Ending) String() string {
	return [...]string{"finished", "raised", "exited", "signaled", "timed out", "output limit"}[e]
}

// CommandResult is the result of a command.
//
// The exit code is int() of the value that the function returned or SystemExit carried: 1 for True,
// 3 for "3", 3 for 3.9, and 0 for None, as in Python. Any other value, including SystemExit with a
// text, is Ending Raised in PhaseExit with a TypeError, a ValueError or an OverflowError. An
// exception other than SystemExit is Ending Raised in PhaseMain.
type CommandResult struct {
	Ending   Ending
	Phase    Phase
	ExitCode int64 // as returned by the function, not cut to eight bits
	Signal   int   // with Ending Signaled
	Fault    *Fault
	// Stdout and Stderr are everything that the process and what it started wrote to file
	// descriptors 1 and 2 until the entrypoint ended, at most Limits.Output bytes each.
	Stdout, Stderr []byte
	// Leftovers counts processes that were still alive after the main one had ended, and were
	// killed.
	Leftovers int
	// TempDir is the temporary folder. It exists until the next Run or Close.
	TempDir string
}

// Commander runs commands on one lane. Only one goroutine uses it at a time.
type Commander interface {
	// Run runs one command. An error means that the environment failed, never the command. If ctx
	// is cancelled, it kills the command and returns ctx's error.
	Run(ctx context.Context, c Command) (CommandResult, error)
	// Notes returns how commands were run, for the report: the interpreter, and how often a host
	// had to be replaced. Call it before Close.
	Notes() []string
	Close() error
}

// CommandOpener opens a commander for a lane. python is the interpreter to use; "" means the first
// one that exists of THRESH_PYTHON, the active virtual environment and python3 on PATH. If none is
// new enough, the error is a diag.CodedError (environment, with a hint).
type CommandOpener func(ctx context.Context, python string) (Commander, error)
