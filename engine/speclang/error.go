package speclang

import "fmt"

// Category is the kind of a failure, in the words of the contract.
type Category string

// The categories. Assertion is never an error of this package: it is what a
// caller makes of a falsy value.
const (
	Schema    Category = "schema"
	Assertion Category = "assertion"
	Runtime   Category = "runtime"
)

// Error is a failed evaluation.
type Error struct {
	Category  Category
	Message   string // with the contract's tokens: "spec_lang budget exceeded: steps"
	Symbol    string // the form or builtin at fault; may be empty
	Line, Col int    // of the form at fault; 0: unknown
	Cause     error  // such as an error of engine/match; may be nil
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }
