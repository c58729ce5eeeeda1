package pyhost

import (
	"context"
	"encoding/json"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// OperatorSet is the operator modules of one lane.
type OperatorSet struct {
	Python string // the interpreter; see [CommandOpener]
	// Files are absolute paths of modules, loaded in this order. A module may import what its own
	// project has: its package (found by __init__.py files or by its relative imports), its own
	// folder and the folders above.
	Files []string
	// HashSeed is PYTHONHASHSEED, which decides hash() of texts and the order of sets. "": that of
	// every run, so that children are the same everywhere.
	HashSeed  string
	LoadLimit time.Duration // for importing one module; > 0
	CallLimit time.Duration // for one call; > 0
	// Limits bound the process; AddressSpace bounds what operators can allocate. A FileSize of 0 is
	// 64 MiB. Output is not used; see Printed.
	Limits process.Limits
}

// OperatorModule is the result of loading one file.
type OperatorModule struct {
	File string
	// Meta is OPERATOR_META as JSON, with tuples as arrays; nil if there is a Fault.
	Meta json.RawMessage
	// MetaLine and ApplyLine are the lines where OPERATOR_META and apply are defined at the top
	// level of the file; 0: not found there.
	MetaLine, ApplyLine int
	// Fault is why the module cannot be used: an exception during its import, or OPERATOR_META or
	// apply missing or of the wrong type (classes AttributeError and TypeError). For a module that
	// hung or ended the process, the class is "Hung" or "Died".
	Fault *Fault
	// Printed is what the module wrote to standard output during its import, at most 4 KiB.
	Printed string
	// GlobalRandom: the module used the global generator during its import.
	GlobalRandom bool
}

// OperatorCall is one application: apply(Seed, Context, rng).
type OperatorCall struct {
	Module  int             // index into OperatorSet.Files
	Seed    string          // seed_text
	Context json.RawMessage // ctx, an object; nil: {}. The operator gets a copy of its own
	// RNG is the seed of the operator's generator: random.Random(RNG).
	RNG uint64
	// State, if not nil, is the generator's state, used instead of RNG: its 624 words and its
	// position, 4 bytes little-endian each, as in random.getstate()[1], followed by 8 bytes (a
	// little-endian float64) if a gauss() value is pending.
	State []byte
	// WantState requests the state after the call, in OperatorReply.State. WantStateUnlessOK
	// requests it unless the call returned status OK and a child other than Seed: a state is long,
	// and then few callers continue from it.
	WantState, WantStateUnlessOK bool
}

// CallEnd is how an application ended.
type CallEnd string

// The ends. All except Applied and Unusable are INVALID for the contract.
const (
	Applied   CallEnd = "applied"    // it returned an ApplyResult, or a dict like one
	WrongType CallEnd = "wrong type" // it returned something else; see Fault
	RaisedIn  CallEnd = "raised"     // it raised Fault; SystemExit counts
	NoMemory  CallEnd = "memory"     // it raised MemoryError
	Hung      CallEnd = "hung"       // it was killed after CallLimit
	Died      CallEnd = "died"       // it ended the process; see Fault
	Unusable  CallEnd = "unusable"   // its module could not be loaded
)

// OperatorReply is the result of one application. Nothing in it is checked against the contract:
// status may be any text, and trace may lack any field.
type OperatorReply struct {
	End    CallEnd         `json:"end"`
	Status string          `json:"status"`          // as returned, if it is a str
	Child  string          `json:"child"`           // child_text, if it is a str
	Trace  json.RawMessage `json:"trace,omitempty"` // as returned; nil for None
	Error  *string         `json:"error,omitempty"` // the operator's own message; nil for None
	Fault  *Fault          `json:"fault,omitempty"`
	// GlobalRandom: the operator drew from, or seeded, the global generator, which is reset to the
	// same state before every call.
	GlobalRandom bool `json:"global_random,omitempty"`
	// Printed is what the operator wrote to standard output, at most 4 KiB. Standard error is for
	// logs: it is kept only for a call that ended the process, as the traceback of Fault.
	Printed string `json:"printed,omitempty"`
	// Notes name what JSON or UTF-8 could not represent and how it was replaced: lone surrogates in
	// the child, a trace with objects or NaN.
	Notes []string `json:"notes,omitempty"`
	State []byte   `json:"state,omitempty"` // if requested
}

// Operators applies loaded operators on one lane. Only one goroutine uses it at a time.
type Operators interface {
	// Modules returns the results of loading, one for each of OperatorSet.Files.
	Modules() []OperatorModule
	// Apply makes the calls in order and passes each result with its index to reply as soon as it
	// arrives, because replies may be large. A call that hangs or ends the process affects only
	// itself: the process is replaced, the modules are loaded again, and the remaining calls
	// continue. An error means that the environment failed, or is reply's own.
	Apply(ctx context.Context, calls []OperatorCall, reply func(i int, r *OperatorReply) error) error
	// Notes returns what happened to the lane: replacements of the process.
	Notes() []string
	Close() error
}

// OperatorOpener loads the modules. An error means that the environment failed; faults of modules
// are in [OperatorModule].
type OperatorOpener func(ctx context.Context, set OperatorSet) (Operators, error)
