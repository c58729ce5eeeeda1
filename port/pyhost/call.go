package pyhost

import (
	"context"
	"encoding/json"
	"time"
)

// Style is how an agent object is called, see [AgentPlan].
type Style string

// The styles. Whatever can be awaited is awaited, and a generator is run to
// its end, its items joined as text if all are str, else a list.
const (
	// Plain calls obj.invoke(input) if there is one, else obj(input).
	Plain Style = "python"
	// LangChain calls the first that there is of ainvoke({"input": x}),
	// invoke({"input": x}), arun(x), run(x), obj(x).
	LangChain Style = "langchain"
)

// AgentPlan is how an agent is loaded into its own process.
type AgentPlan struct {
	Python     string   // the interpreter, see [CommandOpener]
	Target     string   // "module:attribute", split at the last colon
	Style      Style    // "" is Plain
	SearchPath []string // put before everything else in sys.path
	Environ    []string // whole environment as KEY=value; nil: that of this process
	Reset      string   // "module:function", sync or async; "" is none
	// Tools are tool callables, "module:function", that calls go through
	// [ToolWatcher] for. They are replaced in their module and wherever another
	// loaded module holds the same object.
	Tools []string
	// Registry is "module:object" with tools to wrap: a mapping of names to
	// callables, an object with such a mapping or a list as attribute tools, a
	// list, or objects of LangChain's shape (name and invoke or _run). "": none.
	Registry string
	// Sources are modules given as text, importable by their name.
	Sources   map[string]string
	LoadLimit time.Duration // for importing and wrapping; > 0
}

// AgentCall is one call.
type AgentCall struct {
	Input   json.RawMessage // what the agent is called with, usually a JSON string
	Timeout time.Duration   // > 0; an awaitable is cancelled, anything else is killed
	// Watcher is asked about every call of a wrapped tool; nil: all pass.
	Watcher ToolWatcher
}

// AgentEnd is how a call ended.
type AgentEnd string

// The ends of a call of an agent.
const (
	Answered   AgentEnd = "answered"
	AgentRaise AgentEnd = "raised"
	AgentHung  AgentEnd = "timed out"
	AgentDied  AgentEnd = "died"
)

// AgentReply is what came of a call.
type AgentReply struct {
	End AgentEnd `json:"end"`
	// Text is str(result) for a result without a better text: a str is itself,
	// a message with a text as .content is that; LangChain's mapping gives the
	// first of output and text that is set. It is cut at 16 Mi characters, and
	// has no Value then.
	Text string `json:"text"`
	// Value is the result as JSON, objects as far as they can be written down.
	Value json.RawMessage `json:"value,omitempty"`
	Fault *Fault          `json:"fault,omitempty"`
	// Latency is measured in the process, without the waits for the watcher.
	Latency time.Duration `json:"latency"`
	Printed string        `json:"-"` // standard output and error, at most 64 KiB
	// Fresh: the process was replaced after this call, and all the agent's
	// state with it.
	Fresh bool `json:"-"`
}

// ToolCall is a call of a wrapped tool by the agent.
type ToolCall struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`   // positional arguments, an array
	Kwargs json.RawMessage `json:"kwargs"` // keyword arguments, an object
	// Named are all of them by the tool's parameters, an object; null for a tool
	// whose parameters are not known, or that was called with others.
	Named json.RawMessage `json:"named"`
}

// ToolAction is what happens to a tool's call.
type ToolAction string

// The actions.
const (
	Pass    ToolAction = "pass"    // call the tool, then ask Returned
	Raise   ToolAction = "raise"   // raise an exception of Class with Message
	Replace ToolAction = "replace" // return Value without calling the tool
)

// ToolAnswer says what happens to a tool's call. The zero value passes it.
type ToolAnswer struct {
	Action ToolAction    `json:"action,omitempty"`
	Delay  time.Duration `json:"delay,omitempty"` // slept first; an async tool's wait is an await
	// Class of the exception: a builtin ("TimeoutError") or "module.Class";
	// RuntimeError if it is not found or "".
	Class   string          `json:"class,omitempty"`
	Message string          `json:"message,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
}

// ToolWatcher stands between an agent and its tools. It is called by the
// goroutine that called Call, in the order of the calls.
type ToolWatcher interface {
	Called(ToolCall) ToolAnswer
	// Returned sees the tool's result as JSON, or its fault, and may put Value
	// in its place (Replace) or raise (Raise).
	Returned(c ToolCall, result json.RawMessage, fault *Fault) ToolAnswer
}

// Caller calls one agent; it is used by one goroutine at a time.
type Caller interface {
	Call(ctx context.Context, c AgentCall) (AgentReply, error)
	// Reset calls AgentPlan.Reset. An error wraps the fault's text.
	Reset(ctx context.Context, limit time.Duration) error
	// Restart replaces the process: true independence of what comes next.
	Restart(ctx context.Context) error
	Notes() []string
	Close() error
}

// AgentOpener loads an agent. The error is for people; it is a [*FaultError] if
// the agent, its tools or its module cannot be loaded, with file and line.
type AgentOpener func(ctx context.Context, plan AgentPlan) (Caller, error)
