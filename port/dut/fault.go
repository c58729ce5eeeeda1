package dut

import (
	"fmt"
	"strings"
)

// Reply is the result of one call.
type Reply struct {
	// Value is the result, with the binding's kind; meaningless after a fault.
	Value Value
	// Cause is why the call did not return, or [None]. See Instance.Fault for details.
	Cause Cause
	// Fuel is the number of instructions executed. Block structure costs nothing, bulk operations
	// cost one more per 64 bytes, and growing memory or calling an import costs 50 more. It is
	// exact for calls that return and for [Timeout]; with any other fault it omits the last
	// instructions of the innermost functions.
	Fuel int64
}

// Cause is a way for a call to fail. The causes before [Argument] are the
// module's; [Argument] is the caller's.
type Cause uint8

// The causes.
const (
	None          Cause = iota
	Timeout             // the fuel is exhausted
	Unreachable         // an unreachable instruction: assertions, panics, aborts
	OutOfBounds         // memory or bulk access out of bounds
	DivideByZero        // integer division by zero
	Overflow            // integer division or conversion overflows
	Conversion          // NaN to integer
	StackOverflow       // too deep recursion
	IndirectCall        // call through a table: wrong type, empty or out of bounds
	UnknownImport       // a call of an import that nobody provides
	Exit                // the module asked to end the process
	BadAllocation       // the exported allocator returned memory that does not exist
	BadResult           // the result does not fit the binding: a string outside memory, invalid UTF-8, a fraction
	OtherTrap           // any other trap
	Argument            // an argument does not fit its parameter; the module was not called
	Refused             // the system refused, as its interface allows; modules cannot
	Died                // a system crashed that has another way to refuse
	NoRoom              // the exported allocator works but has no room for a text; the module was not called
)

var causeNames = [...]string{
	"", "timeout", "unreachable", "out of bounds", "divide by zero", "integer overflow", "invalid conversion", "stack overflow",
	"bad indirect call", "unknown import", "exit", "bad allocation", "bad result", "trap", "unfit argument", "refused", "trap", "no room",
}

func (c Cause) String() string { return causeNames[c] }

// Crash reports whether the cause is a crash of the module, as opposed to exhausted fuel or room, a
// refusal, or a mistake of the caller.
func (c Cause) Crash() bool {
	return c != None && c != Timeout && c != Argument && c != Refused && c != NoRoom
}

// Refuses reports whether the cause is a refusal if the binding counts a trap as one.
func (c Cause) Refuses() bool { return c.Crash() && c != Died }

// Fault is a failed call.
type Fault struct {
	Cause   Cause
	Message string // one line
	// Stack names the functions, innermost first, at most 30, by the module's name section or
	// exports, else as "func[12]".
	Stack []string
	Code  int32 // of [Exit]
	// Report is what the system printed during the call. It may contain a stack trace.
	Report string
}

func (f *Fault) Error() string {
	if len(f.Stack) == 0 {
		return f.Message
	}
	in := f.Stack[0]
	if module, rest, ok := strings.Cut(in, "."); ok && strings.HasPrefix(rest, module+".") {
		in = rest // an import, which the runtime names by its module once more
	}
	return f.Message + " in " + in
}

// Signature distinguishes faults with the same cause. It contains no addresses or operands, only a
// few of the innermost functions.
func (f *Fault) Signature() string {
	return f.Cause.String() + ":" + strings.Join(f.Stack[:min(3, len(f.Stack))], "<")
}

// ModuleError says that a module cannot be used.
type ModuleError struct {
	// Offset is the place in the binary; -1 if unknown.
	Offset int
	Reason string
}

func (e *ModuleError) Error() string {
	if e.Offset < 0 {
		return "the module is not usable: " + e.Reason
	}
	return fmt.Sprintf("the module is not usable: at byte %d: %s", e.Offset, e.Reason)
}

// StartError says that a module failed before its first call.
type StartError struct {
	Function string // "the start function", "_initialize", ...
	Fault    Fault
}

func (e *StartError) Error() string {
	return fmt.Sprintf("%s failed: %s", e.Function, e.Fault.Error())
}
