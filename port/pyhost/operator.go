package pyhost

import (
	"context"
	"encoding/json"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// OperatorSet is the operator modules of one lane.
type OperatorSet struct {
	Python string // the interpreter, see [CommandOpener]
	// Files are absolute paths of modules, loaded in this order. A module may
	// import what its own project has: its package (by __init__.py files or by
	// the relative imports it makes) is found, and so are its own folder and those above it.
	Files     []string
	LoadLimit time.Duration // for importing one module; > 0
	CallLimit time.Duration // for one call; > 0
	// Limits bind the process; AddressSpace bounds what operators can allocate.
	// A FileSize of 0 is 64 MiB. Output is not used: see Printed.
	Limits process.Limits
}

// OperatorModule is the result of loading one file.
type OperatorModule struct {
	File string
	// Meta is OPERATOR_META as JSON; tuples are arrays. nil if there is a Fault.
	Meta json.RawMessage
	// MetaLine and ApplyLine are where OPERATOR_META and apply are defined at
	// the top level of the file; 0: not found there.
	MetaLine, ApplyLine int
	// Fault is why the module cannot be used: an exception while it was
	// imported, or OPERATOR_META or apply missing or of the wrong kind (classes
	// AttributeError and TypeError). A module that hung or ended the process
	// has class "Hung" or "Died".
	Fault *Fault
	// Printed is what the module wrote to standard output while it was
	// imported, at most 4 KiB.
	Printed string
	// GlobalRandom: the module used the global generator while it was imported.
	GlobalRandom bool
}

// OperatorCall is one application: apply(Seed, Context, rng).
type OperatorCall struct {
	Module  int             // index into OperatorSet.Files
	Seed    string          // seed_text
	Context json.RawMessage // ctx, an object; nil: {}. The operator gets its own copy
	// RNG seeds the random.Random that the operator gets: Random(RNG).
	RNG uint64
	// State, if not nil, is the state of the generator instead of RNG: its 624
	// words and its position, 4 bytes little-endian each, as
	// random.getstate()[1] has them, then 8 bytes more (a little-endian
	// float64) if a gauss() value is pending.
	State []byte
	// WantState asks for the state after the call, in OperatorReply.State, and
	// WantStateUnlessOK for that unless the call gave status OK and a child that
	// is not Seed: a state is long, and few callers go on from it then.
	WantState, WantStateUnlessOK bool
}

// CallEnd is how an application ended.
type CallEnd string

// The ends. All but Applied and Unusable are INVALID for the contract.
const (
	Applied   CallEnd = "applied"    // it returned an ApplyResult, or a dict like one
	WrongType CallEnd = "wrong type" // it returned something else; Fault says what
	RaisedIn  CallEnd = "raised"     // it raised Fault; SystemExit counts
	NoMemory  CallEnd = "memory"     // it raised MemoryError
	Hung      CallEnd = "hung"       // it was killed at CallLimit
	Died      CallEnd = "died"       // it ended the process; Fault says how
	Unusable  CallEnd = "unusable"   // its module could not be loaded
)

// OperatorReply is what came of one application. Nothing in it is checked
// against the contract: status may be any text, and trace lack any field.
type OperatorReply struct {
	End    CallEnd         `json:"end"`
	Status string          `json:"status"`          // as returned, when it is a str
	Child  string          `json:"child"`           // child_text, when it is a str
	Trace  json.RawMessage `json:"trace,omitempty"` // as returned; nil for None
	Error  *string         `json:"error,omitempty"` // the operator's own message; nil for None
	Fault  *Fault          `json:"fault,omitempty"`
	// GlobalRandom: the operator drew from, or seeded, the global generator.
	// That is set back to the same state before every call.
	GlobalRandom bool `json:"global_random,omitempty"`
	// Printed is what it wrote to standard output, at most 4 KiB. Standard error
	// is for logs: only of a call that ended the process it is kept, as the
	// traceback of Fault.
	Printed string `json:"printed,omitempty"`
	// Notes name what JSON or UTF-8 could not hold and how it was replaced:
	// lone surrogates in the child, a trace with objects or NaN in it.
	Notes []string `json:"notes,omitempty"`
	State []byte   `json:"state,omitempty"` // if it was wanted
}

// Operators applies loaded operators on one lane; it is used by one goroutine
// at a time.
type Operators interface {
	// Modules is the result of loading, one for each of OperatorSet.Files.
	Modules() []OperatorModule
	// Apply makes the calls in order and gives the reply of each, by its place,
	// to reply, as soon as it is there: replies may be large. A call that hangs or
	// ends the process costs that call alone: the process is replaced, the modules
	// are loaded again, and the rest goes on. An error means that the environment
	// failed, or is reply's own.
	Apply(ctx context.Context, calls []OperatorCall, reply func(i int, r *OperatorReply) error) error
	// Notes says what the lane went through: replacements of the process.
	Notes() []string
	Close() error
}

// OperatorOpener loads the modules. An error means that the environment failed;
// faults of modules are in [OperatorModule].
type OperatorOpener func(ctx context.Context, set OperatorSet) (Operators, error)
