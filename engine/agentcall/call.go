package agentcall

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/thresh-dev/thresh/port/pyhost"
)

// ErrGone means that an agent which Thresh starts can no longer be started.
var ErrGone = errors.New("the agent cannot be started again")

// Call is one call of an agent.
type Call struct {
	Prompt string
	// History is the conversation before the prompt. For an agent that cannot
	// receive it (see Plan.TakesHistory) it is an error of the call.
	History []Message
	// Session names the conversation: consecutive calls with the same name share
	// cookies and send it where the plan says {session}. "": a new conversation
	// for each call.
	Session string
	Timeout time.Duration // for all of it, retries included; > 0
	// Headers are sent in addition to those of the plan, and replace those of the
	// same name. For agents without requests they are an error.
	Headers [][2]string
	// Format is the form of reply that a chat must use, its response_format as
	// JSON; nil: any. An error for any other agent.
	Format json.RawMessage
	// Wire changes the request's form; nil: unchanged.
	Wire *Wire
	// Via is a proxy for this call only; the zero value uses none.
	Via Via
	// Env is added to the environment of a program that is started only for this
	// call (Plan.Command); an error for any other agent.
	Env []string
	// Watcher is between a Python agent and its tools; nil: all calls pass. An
	// error for any other agent.
	Watcher pyhost.ToolWatcher
}

// Via is a proxy that a request goes through.
type Via struct {
	Proxy string // http://user:password@host:port
	CA    []byte // PEM; trusted in addition to the system's for this call
}

// Wire is how the request of a call differs from the plan's, for attacks on what
// processes it before the agent does. The zero value changes nothing.
type Wire struct {
	Method      string
	Query       [][2]string // appended, even if the name exists
	ContentType string      // instead of the right one
	// Headers are appended to the existing ones, even to those of the same name.
	Headers [][2]string
	// Pad appends this many spaces to the body, which change only the size of a
	// JSON document.
	Pad int
	// Encoding is how the body is sent: "" unchanged, "chunked" without a length,
	// "gzip" compressed, "utf-16" in that encoding with its name as charset.
	Encoding string
	// Copies is how many equal requests are sent at once; 0 and 1 mean one.
	Copies int
	// Trickle is the time over which the body is sent; 0: at once.
	Trickle time.Duration
}

// End is how a call ended.
type End string

// The ends of a call. All except Answered are calls without an answer, which never
// make a check pass.
const (
	Answered    End = "answered"
	TimedOut    End = "timed out"    // no complete reply within the limit, however much of it
	Unreachable End = "unreachable"  // no connection: refused, unknown host, bad certificate
	Cut         End = "cut"          // the connection ended before the reply did
	TooLarge    End = "too large"    // larger than Plan.MaxReply
	Refused     End = "refused"      // an HTTP status outside 2xx, an exit code other than 0
	Reported    End = "agent error"  // the reply itself reports an error
	Malformed   End = "malformed"    // no text: bad charset, broken stream, a page of HTML
	Raised      End = "raised"       // an exception or panic of the agent's that nothing caught
	Died        End = "died"         // the agent's process ended during the call
	NoTool      End = "no such tool" // an MCP server has no tool of that name
)

// Reply is the result of a call.
type Reply struct {
	End End `json:"end"`
	// Text is the answer; for a reply that is not an answer, as much as was read.
	// It is valid UTF-8.
	Text string `json:"text"`
	// Value is the reply if it was JSON, for checks of its structure.
	Value json.RawMessage `json:"value,omitempty"`
	// Error says what went wrong, for people, in words that are equal in every
	// run; "" exactly if End is Answered.
	Error string `json:"error,omitempty"`
	// Status is the HTTP status or the exit code; 0 if there was none.
	Status      int        `json:"status,omitempty"`
	ContentType string     `json:"content_type,omitempty"`
	Tools       []ToolCall `json:"tools,omitempty"` // those that were seen, in order
	Tokens      Tokens     `json:"tokens"`
	Chunks      int        `json:"chunks,omitempty"` // parts of a streamed reply
	Attempts    int        `json:"attempts"`         // requests made, at least 1

	// Latency is from the start of the attempt that gave the reply to its end,
	// First to the first part of its text. Waits for a turn (Plan.Concurrency),
	// for a retry and for a ToolWatcher do not count.
	Latency time.Duration `json:"-"`
	First   time.Duration `json:"-"`
	Size    int64         `json:"-"` // bytes of the reply that were read
	Wait    time.Duration `json:"-"` // how long the server asked callers to wait (Retry-After)
	Printed string        `json:"-"` // what the agent's process wrote during the call, up to a limit
	Earlier int           `json:"-"` // how much of Printed was written before the call
	// Fresh means that the agent's process was replaced by this call or after it.
	Fresh bool `json:"-"`
	// Copies are the replies to the requests of Wire.Copies, including this one,
	// which is the first that is not an answer, or else the first of all.
	Copies []Reply `json:"-"`
}

// OK reports whether the agent answered.
func (r *Reply) OK() bool { return r.End == Answered }

// ToolCall is an observed call of a tool by the agent.
type ToolCall struct {
	Tool  string          `json:"tool"`
	Names []string        `json:"-"`              // other names of the tool
	Args  json.RawMessage `json:"args,omitempty"` // an object if names are known, otherwise an array
	// Result and Error are its outcome, if that can be seen.
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// Tokens are the tokens that a model used, according to the reply.
type Tokens struct {
	Prompt     int64 `json:"prompt"`
	Completion int64 `json:"completion"`
	Known      bool  `json:"known"` // false: the reply does not say
}
