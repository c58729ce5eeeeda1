package diag

import (
	"errors"
	"fmt"
)

// Exit codes of the thresh command, the same for every verb and contract.
const (
	ExitOK          = 0   // everything held
	ExitFindings    = 1   // findings or failures
	ExitRefused     = 2   // a spec was refused, or the command line was wrong
	ExitEnvironment = 3   // the environment failed: a target did not start, an endpoint is down, a disk is full
	ExitInterrupted = 130 // interrupted; state is kept
)

// CodedError is an error that determines the exit code of the process.
type CodedError struct {
	Code int
	Err  error
	Hint string
}

func (e *CodedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *CodedError) Unwrap() error { return e.Err }

// ExitError is an exit code whose reason has been shown already.
type ExitError int

func (e ExitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Refused formats an error with exit code 2.
func Refused(format string, args ...any) error {
	return &CodedError{Code: ExitRefused, Err: fmt.Errorf(format, args...)}
}

// Environment formats an error with exit code 3.
func Environment(format string, args ...any) error {
	return &CodedError{Code: ExitEnvironment, Err: fmt.Errorf(format, args...)}
}

// WithHint adds what the user can do about err, and keeps its exit code.
func WithHint(err error, hint string) error {
	return &CodedError{Code: ExitCode(err), Err: err, Hint: hint}
}

// ExitCode returns the exit code of err: 0 for nil, 2 for a refused document, otherwise 3 unless
// err has its own.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if c, ok := errors.AsType[*CodedError](err); ok {
		return c.Code
	}
	if _, ok := errors.AsType[List](err); ok {
		return ExitRefused
	}
	return ExitEnvironment
}

// Hint returns the outermost hint in err's chain, or "".
func Hint(err error) string {
	for err != nil {
		var c *CodedError
		if !errors.As(err, &c) {
			return ""
		}
		if c.Hint != "" {
			return c.Hint
		}
		err = c.Err
	}
	return ""
}
