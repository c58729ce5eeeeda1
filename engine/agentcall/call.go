package agentcall

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/thresh-dev/thresh/port/pyhost"
)

// ErrGone says that an agent which Thresh starts cannot be started any more.
var ErrGone = errors.New("the agent cannot be started again")

// Call is one call of an agent.
type Call struct {
	Prompt string
	// History is what was said before the prompt. An agent that cannot be told
	// (see Plan.TakesHistory) makes it an error of the call.
	History []Message
	// Session names the conversation: calls in a row with the same name share
	// cookies and send it where the plan says {session}. "": a new one each call.
	Session string
	Timeout time.Duration // for all of it, retries included; > 0
	// Headers are sent in addition to those of the plan; a name that the plan
	// has is replaced. Agents without requests ignore nothing: it is an error.
	Headers [][2]string
	// Format is the form of reply that a chat is asked for, its response_format as
	// JSON; nil asks for none. An error for any other agent.
	Format json.RawMessage
	// Wire changes the request's shape; nil leaves it.
	Wire *Wire
	// Via is a proxy for this call alone; the zero value takes none.
	Via Via
	// Env is added to the environment of a program that is started for this call
	// alone (Plan.Command); an error for any other agent.
	Env []string
	// Watcher stands between a Python agent and its tools; nil: all calls pass.
	// An error for any other agent.
	Watcher pyhost.ToolWatcher
}

// Via is a proxy that a request goes through.
type Via struct {
	Proxy string // http://user:password@host:port
	CA    []byte // PEM; trusted in addition to the system's for this call
}

// Wire is how the request of a call differs from the plan's, for attacks on
// what stands before the agent's mind. The zero value changes nothing.
type Wire struct {
	Method      string
	Query       [][2]string // appended, also where the name is there already
	ContentType string      // in place of the right one
	// Headers are appended to those that are there, even to ones of that name.
	Headers [][2]string
	// Pad appends as many spaces to the body, which change nothing of a JSON
	// document but its size.
	Pad int
	// Encoding is how the body is sent: "" as it is, "chunked" without a length,
	// "gzip" compressed, "utf-16" in that encoding with its name as charset.
	Encoding string
	// Copies is how many equal requests are sent at once; 0 and 1 are one.
	Copies int
	// Trickle is how long sending the body is stretched; 0: not at all.
	Trickle time.Duration
}

// End is how a call ended.
type End string

// The ends of a call. Everything but Answered is a call without an answer: it
// can never make a check pass.
const (
	Answered    End = "answered"
	TimedOut    End = "timed out"    // no whole reply within the limit, however much of one
	Unreachable End = "unreachable"  // no connection: refused, unknown host, bad certificate
	Cut         End = "cut"          // the connection ended before the reply did
	TooLarge    End = "too large"    // more than Plan.MaxReply
	Refused     End = "refused"      // an HTTP status outside 2xx, an exit code other than 0
	Reported    End = "agent error"  // the reply itself says that it is an error
	Malformed   End = "malformed"    // no text: bad charset, broken stream, a page of HTML
	Raised      End = "raised"       // a Python agent's exception
	Died        End = "died"         // the agent's process ended during the call
	NoTool      End = "no such tool" // an MCP server has no tool of that name
)

// Reply is what came of a call.
type Reply struct {
	End End `json:"end"`
	// Text is the answer; of a reply that is not an answer, as much as was read.
	// It is valid UTF-8.
	Text string `json:"text"`
	// Value is the reply as JSON if it was that, for checks of its structure.
	Value json.RawMessage `json:"value,omitempty"`
	// Error says what went wrong, for people, in words that do not differ from
	// run to run; "" exactly if End is Answered.
	Error string `json:"error,omitempty"`
	// Status is the HTTP status or the exit code; 0 if there was none.
	Status      int        `json:"status,omitempty"`
	ContentType string     `json:"content_type,omitempty"`
	Tools       []ToolCall `json:"tools,omitempty"` // those seen, in their order
	Tokens      Tokens     `json:"tokens"`
	Chunks      int        `json:"chunks,omitempty"` // parts of a streamed reply
	Attempts    int        `json:"attempts"`         // requests made, at least 1

	// Latency is from the start of the attempt that gave the reply to its end,
	// First to the first part of its text. Waits for a turn (Plan.Concurrency),
	// for a retry and for a ToolWatcher do not count.
	Latency time.Duration `json:"-"`
	First   time.Duration `json:"-"`
	Size    int64         `json:"-"` // bytes of the reply that were read
	Wait    time.Duration `json:"-"` // how long the server asked to be left alone (Retry-After)
	Printed string        `json:"-"` // what the agent's process wrote meanwhile, capped
	Earlier int           `json:"-"` // how much of Printed was written before the call
	// Fresh says that the agent's process was replaced by or after this call.
	Fresh bool `json:"-"`
	// Copies are the replies to the requests that Wire.Copies asked for, this
	// one included: the first that is not an answer, else the first of all.
	Copies []Reply `json:"-"`
}

// OK reports whether the agent answered.
func (r *Reply) OK() bool { return r.End == Answered }

// ToolCall is a tool that the agent was seen to call.
type ToolCall struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"` // an object where names are known, else an array
	// Result and Error are what it gave, where that can be seen.
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// Tokens are what the reply says of its use of a model.
type Tokens struct {
	Prompt     int64 `json:"prompt"`
	Completion int64 `json:"completion"`
	Known      bool  `json:"known"` // false: the reply says nothing
}
