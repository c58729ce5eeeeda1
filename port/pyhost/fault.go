package pyhost

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is an exception that Python code raised, or a problem that the host has with that code. It
// contains no frames of the host itself.
type Fault struct {
	// Class is the name of the exception's class, with its module unless that is builtins:
	// "ValueError", "json.decoder.JSONDecodeError".
	Class string `json:"class"`
	// Bases lists the class and all its base classes, most derived first, named like Class.
	// Contracts that judge by class look here: a JSONDecodeError is a ValueError.
	Bases []string `json:"bases,omitempty"`
	// Message is str(exception); it may be empty.
	Message string `json:"message"`
	// File and Line are the innermost place in the user's own code: where the exception was raised
	// or, if that is in a library, where the library was called. They are empty if the user's code
	// is not involved (a module not found). For a SyntaxError they are the place of the error.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Traceback is what Python prints, cut at 16 KiB.
	Traceback string `json:"traceback,omitempty"`
}

// Is reports whether the exception is of a class or derives from it.
func (f *Fault) Is(class string) bool { return f != nil && slices.Contains(f.Bases, class) }

// String returns the fault on one line: "file:line: Class: message".
func (f *Fault) String() string {
	if f == nil {
		return ""
	}
	text := f.Class
	if m := strings.TrimSpace(f.Message); m != "" {
		text += ": " + strings.Join(strings.Fields(m), " ")
	}
	if f.File == "" {
		return text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, text)
}

// FaultError is a fault as an error, with what was being done.
type FaultError struct {
	Doing string // "load the agent my_agent:run"
	Fault *Fault
}

func (e *FaultError) Error() string { return e.Doing + ": " + e.Fault.String() }
