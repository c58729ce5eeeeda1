package pyhost

import (
	"context"
	"encoding/json"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// Command is a Python function that is run like a program: called with the
// list of arguments, in its own process that no other case has touched.
//
// The order of things is that of the contract: setup files, stubs, environment
// and standard input, blocked imports, HookBefore, the entrypoint is resolved
// and called; then, only if the exit code is WantExit, HookAfter.
type Command struct {
	// Entrypoint is "module:attribute". The attribute is one name, without dots.
	Entrypoint string
	Argv       []string // the one argument of the function; no program name
	// SearchPath is put before everything else in sys.path: the folder of the
	// run, usually. Entries of PYTHONPATH follow.
	SearchPath []string
	// Dir is the working folder; "" is that of this process.
	Dir string
	// Environ returns the whole environment as KEY=value. It is pure; temp is
	// the absolute path of the case's own temporary folder, which is empty but
	// for SetupFiles. nil: the environment of this process.
	Environ    func(temp string) []string
	SetupFiles []SetupFile // of the temporary folder

	// Stdin is what can be read from standard input, on sys.stdin and on file
	// descriptor 0 alike; StdinIsTTY what sys.stdin.isatty() says.
	Stdin      string
	StdinIsTTY bool // descriptor 0 is a file all the same

	// StubModules are names for which an empty module is put into sys.modules
	// unless it is loaded; the one of name "openai" has an attribute OpenAI.
	StubModules []string
	// BlockImports are names that import statements cannot import, submodules
	// included. They win over stubs.
	BlockImports []string

	// Hooks are "module:attribute"; "" is none. They are called with keyword
	// arguments: case, ctx, harness (HookBefore) or result (HookAfter) and the
	// members of HookKwargs. HookBefore's output counts as the command's,
	// HookAfter's does not.
	HookBefore, HookAfter string
	HookKwargs            json.RawMessage // an object; nil: none
	Case                  HookCase
	// WantExit is the exit code with which HookAfter is called.
	WantExit int64

	Timeout time.Duration // for all of it, hooks included; > 0
	// Limits bind the process and what it starts. Output is how much of stdout
	// and of stderr is kept each (1 MiB if 0); a command that writes more to
	// either is stopped.
	Limits process.Limits
}

// SetupFile is a file that the command finds in its temporary folder.
type SetupFile struct {
	Path string // slash-separated, relative, clean; parents are made
	Text string
}

// HookCase is what hooks see of the case: an object with the attributes id,
// type, title (or None), doc_path (a pathlib.Path), raw_case and harness.
type HookCase struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Title   *string         `json:"title"`
	DocPath string          `json:"doc_path"`
	Raw     json.RawMessage `json:"raw_case,omitempty"` // an object
	Harness json.RawMessage `json:"harness,omitempty"`  // an object
}

// Phase is how far a command got. Fault belongs to the last phase.
type Phase string

// The phases, in order.
const (
	PhaseSetup      Phase = "setup"       // before any code of the user: folders, limits, environment
	PhaseHookBefore Phase = "hook_before" // resolving and calling it
	PhaseLoad       Phase = "load"        // importing the module, finding the attribute
	PhaseMain       Phase = "main"        // inside the entrypoint
	PhaseExit       Phase = "exit"        // what the entrypoint gave is not an exit code
	PhaseHookAfter  Phase = "hook_after"  // resolving and calling it
	PhaseDone       Phase = "done"
)

// Ending is how a command ended.
type Ending uint8

// The endings.
const (
	// Finished: all phases were gone through; ExitCode is set and Fault nil.
	Finished Ending = iota
	// Raised: an exception (or the host's own refusal) stopped it in Phase;
	// Fault says which. ExitCode is set if the entrypoint had ended before.
	Raised
	// Exited: the process ended itself behind the host's back, as os._exit does,
	// or closed all descriptors, so that its exit status is all there is to
	// know. ExitCode is that.
	Exited
	// Signaled: the process was killed by Signal. Fault is set if it took the
	// process that had started it along.
	Signaled
	// TimedOut: it was killed at Command.Timeout, in Phase.
	TimedOut
	// OutputLimit: it was killed for writing more than Limits.Output.
	OutputLimit
)

func (e Ending) String() string {
	return [...]string{"finished", "raised", "exited", "signaled", "timed out", "output limit"}[e]
}

// CommandResult is what came of a command.
//
// The exit code is what int() makes of the value that the function returned or
// SystemExit carried: 1 of True, 3 of "3", 3 of 3.9; and 0 of None, as Python
// does it. Any other value, so also SystemExit with a text, is Ending Raised in
// PhaseExit with a TypeError, a ValueError or an OverflowError. An exception
// other than SystemExit is Ending Raised in PhaseMain.
type CommandResult struct {
	Ending   Ending
	Phase    Phase
	ExitCode int64 // as the function gave it, not cut to eight bits
	Signal   int   // with Ending Signaled
	Fault    *Fault
	// Stdout and Stderr are all that was written to file descriptors 1 and 2
	// by the process and what it started, until the entrypoint ended. At most
	// Limits.Output bytes each.
	Stdout, Stderr []byte
	// Leftovers counts processes that were still alive when the main one had
	// ended, and were killed.
	Leftovers int
	// TempDir is the temporary folder; it is there until the next Run or Close.
	TempDir string
}

// Commander runs commands on one lane; it is used by one goroutine at a time.
type Commander interface {
	// Run runs one command. An error means that the environment failed, never
	// the command. ctx cancelled: the command is killed and ctx's error returned.
	Run(ctx context.Context, c Command) (CommandResult, error)
	// Notes says how commands are run, for the report: which interpreter, and
	// how often a host had to be replaced. Call before Close.
	Notes() []string
	Close() error
}

// CommandOpener opens a commander for a lane. python is the interpreter to use;
// "" is the first that is set of THRESH_PYTHON, the active virtual environment
// and python3 on PATH. The error is a diag.CodedError
// (environment, with a hint) when there is none that is new enough.
type CommandOpener func(ctx context.Context, python string) (Commander, error)
