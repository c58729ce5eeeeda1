package dut

import (
	"cmp"
	"context"
)

// Plan is a module and how to run it, the same for every case of a campaign. What a module does
// depends only on the plan and on the calls made, not on clocks, other instances or the machine.
type Plan struct {
	// Binary is the module. It is never changed.
	Binary []byte
	// Bindings are the functions to call; [Instance.Call] identifies one by its index here.
	Bindings []Binding
	// Seed determines the random bytes that WASI gives the module.
	Seed uint64
	// Coverage requests edges in [Trace.Edges], and Compares requests [Trace.Compares]. What is not
	// requested costs nothing.
	Coverage bool
	Compares bool
	// Command says that a binding calls _start, which otherwise runs beforehand: the module is a
	// command that reads its input.
	Command bool
	Limits  Limits
}

// Limits bound what a module may use. Zero means the default.
type Limits struct {
	Fuel      int64  // instructions in one call; default 1,000,000
	StartFuel int64  // instructions of start function and initialisers; default 100,000,000 (Go's runtime needs millions)
	Memory    uint32 // pages of 64 KiB; default 4,096 (256 MiB); memory.grow beyond returns -1
	Output    int    // bytes kept of each of stdout and stderr; default 65,536
}

// The defaults of Limits.
const (
	DefaultFuel      = 1_000_000
	DefaultStartFuel = 100_000_000
	DefaultMemory    = 4096
	DefaultOutput    = 1 << 16
)

// WithDefaults replaces zeros by the defaults.
func (l Limits) WithDefaults() Limits {
	if l.Fuel <= 0 {
		l.Fuel = DefaultFuel
	}
	if l.StartFuel <= 0 {
		l.StartFuel = DefaultStartFuel
	}
	l.Memory = cmp.Or(l.Memory, DefaultMemory)
	if l.Output <= 0 {
		l.Output = DefaultOutput
	}
	return l
}

// Binding is an exported function as a contract calls it. Names of parameters are for messages.
type Binding struct {
	Function string
	At       string // its place in the document: FILE:LINE:COLUMN
	Params   []Param
	Part     string // of a system: the part of its answer that is the result; "": all of it
	Result   Kind
	Nested   bool // of a system: a list or an object in the answer becomes a text, its JSON
	Unsigned bool // an int returned in 32 bits is unsigned
}

// Param is one parameter of a binding.
type Param struct {
	Name string
	Kind Kind
}

// Opener compiles a plan's module. Goroutines may call it concurrently; equal modules are compiled
// once. Errors: *[ModuleError] if the module cannot be used at all, *[BindError] if the bindings do
// not fit it, *[StartError] if it failed to start; any other error is of the environment.
type Opener func(ctx context.Context, p Plan) (Device, error)

// Device is a compiled module, safe for concurrent use.
type Device interface {
	Info() Info
	// Open returns a new instance, in the state that the module has after its start function and
	// initialisers, which [Instance.Reset] restores.
	Open(ctx context.Context) (Instance, error)
	Close() error
}

// Instance is one running copy of a module. Only one goroutine uses it at a time. Any instance of
// the same device can restore its snapshots.
type Instance interface {
	// Call calls a binding's function. args must fit the binding in number and kind. A fault leaves
	// the module's state as it was at that moment, so restore a snapshot before continuing.
	Call(binding int, args []Value) Reply
	// Reset restores the state after start, and Restore that of a snapshot: memory with its size,
	// every mutable global, tables, WASI's clock and randomness. Both drop trace and output that
	// were not taken. An error means that the state could not be restored, and is of the
	// environment.
	Reset() error
	Restore(Snapshot) error
	Snapshot() Snapshot
	// Changed returns how many 4 KiB blocks of memory and how many mutable
	// globals differ from a snapshot.
	Changed(since Snapshot) (blocks, globals int)
	// Take returns the trace since the last Take and begins a new one. The trace is valid until the
	// next Take.
	Take() *Trace
	// Output returns what was written to stdout and stderr since the last Output, Reset or Restore,
	// cut at the limit.
	Output() (stdout, stderr []byte)
	// Fault describes the last Call if it failed; otherwise it is nil.
	Fault() *Fault
	Close() error
}

// Snapshot is the state of an instance. It shares equal parts with other snapshots and never
// changes.
type Snapshot interface {
	// Size returns roughly how many bytes only this snapshot holds.
	Size() int
}

// Info is what is known about a module before it runs.
type Info struct {
	Exports []Export // in the order of the module
	ABI     []ABI    // one for each binding
	Edges   int      // number of points of coverage; 0 without Coverage
	Sites   []Site   // places of comparison; nil without Compares
	Notes   []string // unexpected behaviour to mention in the report
	// Constants are the numbers that the module compares with or switches on, ascending, each once,
	// without floats. They are found without running the module.
	Constants []int64
}

// Feeder is implemented by instances whose standard input can be set.
type Feeder interface {
	// Feed sets what the module reads from standard input until the instance is reset.
	Feed(stdin []byte)
}

// Reached is implemented by instances that may become unreachable.
type Reached interface {
	// Broken returns why the environment failed since the last reset, or nil.
	Broken() error
}

// Trace is what happened inside a module since the last trace was taken.
type Trace struct {
	// Edges has a bit for each point of coverage that was reached: entries of functions and loops,
	// both ways of each branch, each way of a switch. Point i is bit i%64 of word i/64. The points
	// depend only on the module.
	Edges []uint64
	// Compares are the executed comparisons, ascending by site; for each site, only the last one.
	Compares []Compare
}

// NumberType says how to read the operands of a site.
type NumberType uint8

// The types. Floats are kept as the bits of a float64.
const (
	I32 NumberType = iota // sign-extended to int64
	U32                   // zero-extended
	I64
	U64 // the bits of a uint64
	F64
)

// Site is a place in the module where two numbers are compared, or a br_table. For a br_table, A is
// the operand and B the number of its ways without the default.
type Site struct {
	Type NumberType
	// Const says that the right operand is the constant B.
	Const bool
	B     int64
}

// Compare is one comparison that was executed.
type Compare struct {
	Site int // index in Info.Sites
	A, B int64
	// True and False say which results the site has had since the last trace was taken. For a
	// Switch, True is a way and False the default.
	True, False bool
}
