package dut

import (
	"cmp"
	"context"
)

// Plan is a module and how it is run, the same for every case of a campaign.
// What a module does depends on the plan and on the calls made, on nothing
// else: not on clocks, other instances or the machine.
type Plan struct {
	// Binary is the module. It is not changed.
	Binary []byte
	// Bindings are the functions that will be called; a [Instance.Call] names
	// one by its index here.
	Bindings []Binding
	// Seed decides the random bytes that WASI gives the module.
	Seed uint64
	// Coverage asks for edges in [Trace.Edges]; Compares for
	// [Trace.Compares]. What is not asked for costs nothing.
	Coverage bool
	Compares bool
	// Command says that _start is called by a binding, not run beforehand: the
	// module is a command that reads what it is fed.
	Command bool
	Limits  Limits
}

// Limits bound what a module may use. Zero means the default.
type Limits struct {
	Fuel      int64  // instructions in one call; default 1,000,000
	StartFuel int64  // instructions of start function and initialisers; default 100,000,000 (Go's runtime needs millions)
	Memory    uint32 // pages of 64 KiB; default 4,096 (256 MiB); memory.grow beyond gives -1
	Output    int    // bytes kept of each of stdout and stderr; default 65,536
}

// The defaults of Limits.
const (
	DefaultFuel      = 1_000_000
	DefaultStartFuel = 100_000_000
	DefaultMemory    = 4096
	DefaultOutput    = 1 << 16
)

// WithDefaults fills in what is zero.
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

// Binding is an exported function as a contract wants to call it. Names of
// parameters are for messages.
type Binding struct {
	Function string
	At       string // its place in the document: FILE:LINE:COLUMN
	Params   []Param
	Part     string // of a system: the part of its answer that is the result; "": all of it
	Result   Kind
	Nested   bool // of a system: a list or an object is answered as a text, its JSON
	Unsigned bool // an int that comes back in 32 bits has no sign
}

// Param is one parameter of a binding.
type Param struct {
	Name string
	Kind Kind
}

// Opener compiles a plan's module. It may be called by many goroutines; equal
// modules are compiled once. Errors: *[ModuleError] when the module cannot be
// used at all, *[BindError] when the bindings do not fit it, *[StartError] when
// it failed to start; any other error is of the environment.
type Opener func(ctx context.Context, p Plan) (Device, error)

// Device is a compiled module, safe for use by many goroutines.
type Device interface {
	Info() Info
	// Open makes an instance, in the state that the module has after its start
	// function and initialisers ([Instance.Reset] comes back to it).
	Open(ctx context.Context) (Instance, error)
	Close() error
}

// Instance is one running copy of a module; it is used by one goroutine at a
// time. Snapshots may be restored by any instance of the same device.
type Instance interface {
	// Call calls a binding's function. args must fit the binding in number and
	// kind. After a fault the module's state is what the fault left: restore
	// a snapshot before going on.
	Call(binding int, args []Value) Reply
	// Reset goes back to the state after start; Restore to that of a snapshot:
	// memory with its size, every mutable global, tables, WASI's clock and
	// randomness. Both drop trace and output that were not taken. An error says
	// that the module could not be brought to that state and is of the
	// environment.
	Reset() error
	Restore(Snapshot) error
	Snapshot() Snapshot
	// Changed returns how many 4 KiB blocks of memory and how many mutable
	// globals differ from a snapshot.
	Changed(since Snapshot) (blocks, globals int)
	// Take gives what was traced since the last Take and starts anew. The
	// trace is valid until the next Take.
	Take() *Trace
	// Output gives what was written to stdout and stderr since the last
	// Output, Reset or Restore, cut at the limit.
	Output() (stdout, stderr []byte)
	// Fault says more about the last Call that failed, or nil.
	Fault() *Fault
	Close() error
}

// Snapshot is the state of an instance. It shares what is equal with other
// snapshots and is never changed.
type Snapshot interface {
	// Size is roughly how many bytes only this snapshot holds.
	Size() int
}

// Info is what is known about a module before it runs.
type Info struct {
	Exports []Export // in the order of the module
	ABI     []ABI    // one for each binding
	Edges   int      // number of points of coverage; 0 without Coverage
	Sites   []Site   // places of comparison; nil without Compares
	Notes   []string // what is done otherwise than one might expect, for the report
	// Constants are the numbers that the module compares with or switches on,
	// ascending, each once; found without running it. Floats are left out.
	Constants []int64
}

// Feeder is implemented by instances whose standard input can be given.
type Feeder interface {
	// Feed is what the module reads from standard input from now on, until the
	// instance is reset.
	Feed(stdin []byte)
}

// Reached is implemented by instances that may become unreachable.
type Reached interface {
	// Broken is why the environment failed since the last reset, or nil.
	Broken() error
}

// Trace is what happened inside a module since the trace was last taken.
type Trace struct {
	// Edges is a bit for each point of coverage that was reached: entries of
	// functions and loops, both ways of each branch, each way of a switch.
	// Point i is bit i%64 of word i/64. The points depend on the module alone.
	Edges []uint64
	// Compares are the comparisons that were made, by site, ascending; of each
	// the last one that was executed.
	Compares []Compare
}

// NumberType is how the operands of a site are to be read.
type NumberType uint8

// The types. Floats are kept as the bits of a float64.
const (
	I32 NumberType = iota // sign-extended to int64
	U32                   // zero-extended
	I64
	U64 // the bits of a uint64
	F64
)

// Site is a place in the module where two numbers are compared, or a br_table:
// of that, A is the operand and B the number of its ways without the default.
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
	// True and False say which results the site has had since the trace was
	// last taken; for a Switch, True is a way and False the default.
	True, False bool
}
