package sut

import (
	"context"
	"encoding/json"
	"time"
)

// Call is a request to a system.
type Call struct {
	Operation string
	// Named are arguments by name; Positional are those of formats that bind by position. At most
	// one of the two is set.
	Named      []Named
	Positional []json.RawMessage
	// Input is the bytes of the case, for the place that the plan's Input names; nil: none.
	Input []byte
	Text  bool // Input is a text, such as a prompt
	// History is the conversation before Input. Only systems with [Plan.TakesHistory] need it;
	// others remember a conversation themselves.
	History []Message
	Timeout time.Duration // 0: that of the plan
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
	Refused     End = "refused"     // the system refused, as its interface allows
	Crashed     End = "crashed"     // a signal, an exit, a trap, a 5xx, a runtime's report
	Hung        End = "hung"        // no complete answer within the limit
	Flooded     End = "flooded"     // answered with more than MaxOutput
	Unreachable End = "unreachable" // nothing listened: an error of the environment, never a finding
)

// Failed reports whether an end is a failure of the system.
func (e End) Failed() bool { return e == Crashed || e == Hung || e == Flooded }

// Observation is the result of a call.
type Observation struct {
	End    End
	Status int // HTTP status or exit code; 0 if there was none
	// Header is the header of an answer over HTTP. It is not stored.
	Header map[string][]string `json:"-"`
	// Output is the answer as it arrived. Value is the part that the operation returns, as JSON;
	// nil if it is not JSON.
	Output []byte
	Value  json.RawMessage
	// Printed is what the system wrote during the call to standard error, and to standard output
	// unless that is the answer.
	Printed []byte
	Events  []Event
	Elapsed time.Duration
	// Why is why the call was not answered, with equal words in equal runs; "" for [Answered].
	Why string
	// Signal, Exit and Trap are how a crash ended the process.
	Signal int
	Exit   int
	Trap   string
	// Undeclared says that the operation does not declare this refusal.
	Undeclared bool
	// Ended says that a system which Thresh did not start has not answered since the call, and that
	// the call ended it or may have; "": it has answered, or this is unknown.
	Ended string
	// Sent is the command line that repeats the request that was cut off.
	Sent string
	// Wait is how long the system asked callers to wait (Retry-After).
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

// Worker is the worker for which a system is opened.
type Worker struct {
	Index, Of int
	Cold      bool // nothing may be shared with earlier cases
	Crowd     bool // the system must be a [Crowd]
}

// Opener opens a system for a worker. The error is for people; it is one of the environment, unless
// it has another exit code.
type Opener func(ctx context.Context, p *Plan, w Worker) (System, error)

// Crowd is implemented by systems that several actors may call concurrently.
type Crowd interface {
	// Join opens another connection to the instance that Reset and Restart of
	// the system act on. The caller closes it before the system.
	Join(ctx context.Context) (System, error)
	// Restart kills the program and starts it again, with what it stored outside its memory. It
	// closes the connections of Join, which must be opened again.
	Restart(ctx context.Context) error
	// Generation returns how many times the program was started so far, for any
	// reason.
	Generation() int
}

// System is an open system. Only one goroutine uses it at a time.
type System interface {
	// Operations returns what the system can do, sorted by name.
	Operations() []Operation
	// Reset gives the next case a fresh state, as the plan says.
	Reset(ctx context.Context) error
	// Call makes one call. Failures of the system are in the observation. An error means that
	// Thresh failed, or that ctx has ended.
	Call(ctx context.Context, c Call) (Observation, error)
	// Notes returns how the system was reached, for reports. Call it before
	// Close.
	Notes() []string
	Close() error
}
