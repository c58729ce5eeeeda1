package wasm

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/port/dut"
)

// hostFault is the panic value of functions that serve imports: wazero stops the module and returns
// the value as the call's error.
type hostFault struct{ fault dut.Fault }

func (h *hostFault) Error() string { return h.fault.Message }

// traps maps wazero's words for traps to causes.
var traps = map[string]dut.Cause{
	"unreachable":                   dut.Unreachable,
	"out of bounds memory access":   dut.OutOfBounds,
	"integer divide by zero":        dut.DivideByZero,
	"integer overflow":              dut.Overflow,
	"invalid conversion to integer": dut.Conversion,
	"stack overflow":                dut.StackOverflow,
	"invalid table access":          dut.IndirectCall,
	"indirect call type mismatch":   dut.IndirectCall,
}

// failed records the fault of a call that did not return, or that returned without fuel left (then
// err is nil). function is the function that was called.
func (x *instance) failed(err error, limit int64, function string) dut.Reply {
	x.fault = x.classify(err, limit)
	if len(x.fault.Stack) == 0 { // as with a stack overflow
		x.fault.Stack = []string{function}
	}
	x.marks = allDirty // stopping has lost the module's own marks
	return dut.Reply{Cause: x.fault.Cause, Fuel: limit - int64(x.fuel.Get())}
}

func (x *instance) classify(err error, limit int64) *dut.Fault {
	f := &dut.Fault{Cause: dut.OtherTrap, Message: "the module trapped"}
	var host *hostFault
	text := ""
	if err != nil {
		text = err.Error()
		f.Stack = x.stack(text)
	}
	word, _, _ := strings.Cut(strings.TrimPrefix(text, "wasm error: "), "\n")
	switch {
	case errors.As(err, &host):
		f.Cause, f.Message, f.Code = host.fault.Cause, host.fault.Message, host.fault.Code
	case int64(x.fuel.Get()) < 0:
		f.Cause, f.Message = dut.Timeout, fmt.Sprintf("no end after %d instructions", limit)
	case traps[word] != dut.None:
		f.Cause, f.Message = traps[word], word
	case word != "":
		f.Message = word
	}
	return f
}

// frame matches a line of wazero's stack trace: the function's number, because rewritten modules
// have no names, and its type; or the name of a host function.
var frame = regexp.MustCompile(`(?m)^\t([^\t(]*)\(`)

// stack returns the names of the functions in wazero's stack trace, at most 30.
func (x *instance) stack(trace string) (names []string) {
	_, trace, _ = strings.Cut(trace, "wasm stack trace:\n")
	for _, m := range frame.FindAllStringSubmatch(trace, 30) {
		name := m[1]
		if _, number, ok := strings.Cut(name, ".$"); ok {
			if i, err := strconv.Atoi(number); err == nil {
				name = x.device.nameOf(i)
			}
		}
		names = append(names, name)
	}
	return names
}

// nameOf returns the name of a function by its index.
func (d *device) nameOf(index int) string {
	m := d.code.module
	if index < len(m.Names) && m.Names[index] != "" {
		return m.Names[index]
	}
	for _, e := range m.Exports {
		if e.Kind == dut.Func && e.Index == index {
			return e.Name
		}
	}
	return fmt.Sprintf("func[%d]", index)
}
