package sut

import (
	"context"
	"encoding/json"
	"time"
)

// Call is one request to a system.
type Call struct {
	Operation string
	// Named are the arguments by name; Positional those of a format that binds
	// by position. At most one of them is set.
	Named      []Named
	Positional []json.RawMessage
	// Input is the bytes of the case, put where the plan's Input says; nil: none.
	Input []byte
	Text  bool // Input is a text, such as a prompt
	// History is what was said before Input in its conversation. Only systems that
	// [Plan.TakesHistory] need it; others keep a conversation themselves.
	History []Message
	Timeout time.Duration // 0: that of the plan
	// Alone says that the call needs no earlier one: it may be made again, on a new start
	// too, to learn what ended the system. Case is then what the caller knows it by.
	Alone bool
	Case  []byte
	// Settle is how long the system must go on after its answer.
	Settle time.Duration
}

// Earlier is a call after whose answer the system ended, and how it did.
type Earlier struct {
	Call  Call
	Death Observation
}

// Message is one message of a conversation.
type Message struct {
	Role string // user, assistant or system
	Text string
}

// Named is one argument.
type Named struct {
	Name  string
	Value json.RawMessage
}

// End is how a call ended.
type End string

// The ends of a call.
const (
	Answered    End = "answered"
	Refused     End = "refused"     // the system said no, as its interface allows
	Crashed     End = "crashed"     // a signal, an exit, a trap, a 5xx, a runtime's report
	Hung        End = "hung"        // no whole answer within the limit
	Flooded     End = "flooded"     // more than MaxOutput
	Unreachable End = "unreachable" // nobody was there: the environment's fault, never a finding
)

// Failed reports whether an end is a fault of the system.
func (e End) Failed() bool { return e == Crashed || e == Hung || e == Flooded }

// Observation is how a call ended and what came of it.
type Observation struct {
	End    End
	Status int // HTTP status or exit code; 0 if there was none
	// Header is that of an answer over HTTP. It is not kept.
	Header map[string][]string `json:"-"`
	// Output is the answer as it came; Value what the operation returns of it
	// as JSON, nil if it is no JSON.
	Output []byte
	Value  json.RawMessage
	// Printed is what the system wrote to standard error, and to standard output
	// where that is not the answer, during the call.
	Printed []byte
	Events  []Event
	Elapsed time.Duration
	// Why says why the call was not answered, in words that are equal in equal
	// runs; "" for Answered.
	Why string
	// Signal, Exit and Trap are how a crash ended the process.
	Signal int
	Exit   int
	Trap   string
	// Undeclared says that a refusal is none that the operation lists.
	Undeclared bool
	// Ended says that a system that runs elsewhere has not answered since the call: that
	// the call ended it, or may have. "": it has, or nobody knows.
	Ended string
	// Earlier is a call that was answered before this one, and ended the system afterwards.
	Earlier *Earlier
	// Sent is the request that was cut, as a command line that sends it again.
	Sent string
	// Wait is how long the system asked to be left alone (Retry-After).
	Wait time.Duration
}

// Event is something that happened during a call.
type Event struct {
	Kind   string          `json:"kind"` // "tool", "message", "chunk"
	Name   string          `json:"name,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// Worker is who opens a system.
type Worker struct {
	Index, Of int
	Cold      bool // nothing may be shared with cases before
	Crowd     bool // the system must be a [Crowd]
}

// Opener reaches a system for a worker. The error is for people; it is of the
// environment unless it says otherwise.
type Opener func(ctx context.Context, p *Plan, w Worker) (System, error)

// Crowd is implemented by systems that several actors may call at the same time.
type Crowd interface {
	// Join opens its own connection to the instance that Reset and Restart
	// of the system are about. It is closed before the system is.
	Join(ctx context.Context) (System, error)
	// Restart kills the program and starts it again, with what it kept outside of
	// its memory. Connections of Join are closed by it and must be opened again.
	Restart(ctx context.Context) error
	// Generation counts the programs that were started so far, by whatever.
	Generation() int
}

// System is a system that was opened; it is used by one goroutine at a time.
type System interface {
	// Operations are what it can be asked to do, sorted by name.
	Operations() []Operation
	// Reset gives the case that begins a fresh state, as the plan says.
	Reset(ctx context.Context) error
	// Call asks once. What the system does wrong is in the observation; an
	// error means that Thresh could not do its part, or that ctx has ended.
	Call(ctx context.Context, c Call) (Observation, error)
	// Notes say how the system was reached, for the report. Call before Close.
	Notes() []string
	Close() error
}
