package campaign

import (
	"errors"
	"fmt"
)

// What ends more than a case, or asks for it to be executed again.

// RedoError makes the run start the campaign again with Lane.Cold set, because an
// accelerator gave a wrong result. The outcomes so far are dropped.
type RedoError struct{ Reason string }

func (e *RedoError) Error() string { return "campaign must be run again cold: " + e.Reason }

// FatalError ends a campaign: no case can be executed any more.
type FatalError struct{ Err error }

func (e *FatalError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FatalError) Unwrap() error { return e.Err }

// Fatal formats a [*FatalError].
func Fatal(format string, args ...any) error { return &FatalError{fmt.Errorf(format, args...)} }

// TransientError is a failure of the environment that may not happen again: a
// timeout, a refused connection, a busy server. The run executes the case again,
// a few times with growing pauses, before the case gets verdict [VerdictError].
// Return it only if the case may be sent twice.
type TransientError struct{ Err error }

func (e *TransientError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *TransientError) Unwrap() error { return e.Err }

// Transient formats a [*TransientError].
func Transient(format string, args ...any) error {
	return &TransientError{fmt.Errorf(format, args...)}
}

// IsTransient reports whether err wraps a [*TransientError].
func IsTransient(err error) bool {
	var t *TransientError
	return errors.As(err, &t)
}

// IsRedo reports whether err wraps a [*RedoError], and its reason.
func IsRedo(err error) (string, bool) {
	if r, ok := errors.AsType[*RedoError](err); ok {
		return r.Reason, true
	}
	return "", false
}

// IsFatal reports whether err wraps a [*FatalError].
func IsFatal(err error) bool {
	var f *FatalError
	return errors.As(err, &f)
}
