package pyhost

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// Style is how an agent object is called; see [AgentPlan].
type Style string

// The styles. Anything awaitable is awaited. A generator is run to its end; its items are joined as
// text if all are str, and otherwise form a list.
const (
	// Plain calls obj.invoke(input) if it exists, else obj(input).
	Plain Style = "python"
	// LangChain calls the first that exists of ainvoke({"input": x}), invoke({"input": x}),
	// arun(x), run(x), obj(x).
	LangChain Style = "langchain"
)

// AgentPlan says how to load an agent into a process of its own.
type AgentPlan struct {
	Python     string   // the interpreter; see [CommandOpener]
	Target     string   // "module:attribute", split at the last colon
	Style      Style    // "" is Plain
	SearchPath []string // put first in sys.path
	Environ    []string // the whole environment as KEY=value; nil: that of this process
	Reset      string   // "module:function", sync or async; "": none
	// Tools are tool callables, "module:function", whose calls go through [ToolWatcher]. They are
	// replaced in their module and wherever another loaded module holds the same object.
	Tools []string
	// Registry is "module:object" with tools to wrap: a mapping of names to callables, an object
	// with such a mapping or a list as attribute tools, a list, or objects of LangChain's shape
	// (name, and invoke or _run). "": none.
	Registry string
	// Sources are modules given as text, importable by name.
	Sources   map[string]string
	LoadLimit time.Duration // for importing and wrapping; > 0
}

// AgentCall is one call.
type AgentCall struct {
	Input   json.RawMessage // what the agent is called with, usually a JSON string
	Timeout time.Duration   // > 0; an awaitable is cancelled, anything else is killed
	// Watcher is asked about every call of a wrapped tool; nil: all calls pass.
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

// AgentReply is the result of a call.
type AgentReply struct {
	End AgentEnd `json:"end"`
	// Text is str(result) unless the result has a better text: a str is used as it is, a message
	// with a text in .content gives that text, and LangChain's mapping gives the first of output
	// and text that is set. It is cut at 16 Mi characters, and then there is no Value.
	Text string `json:"text"`
	// Value is the result as JSON, including objects as far as they can be represented.
	Value json.RawMessage `json:"value,omitempty"`
	Fault *Fault          `json:"fault,omitempty"`
	// Latency is measured in the process, without waiting for the watcher.
	Latency time.Duration `json:"latency"`
	Printed string        `json:"-"` // standard output and error, at most 64 KiB
	// Fresh says that the process was replaced after this call, and the agent's state was lost with
	// it.
	Fresh bool `json:"-"`
}

// ToolCall is an agent's call of a wrapped tool.
type ToolCall struct {
	Tool   string          `json:"tool"`
	Full   string          `json:"full"`   // name with that of its object, of a method; "": as Tool
	Args   json.RawMessage `json:"args"`   // positional arguments, an array
	Kwargs json.RawMessage `json:"kwargs"` // keyword arguments, an object
	// Named is an object with all arguments by parameter name; null for a tool with unknown
	// parameters, or called with others.
	Named json.RawMessage `json:"named"`
}

// Names returns the other names of the tool: with that of its object, and without.
func (c *ToolCall) Names() (list []string) {
	for _, n := range []string{c.Full, c.Tool[strings.LastIndexAny(c.Tool, ".:")+1:]} {
		if n != "" && n != c.Tool {
			list = append(list, n)
		}
	}
	return list
}

// ToolAction is what happens to a call of a tool.
type ToolAction string

// The actions.
const (
	Pass    ToolAction = "pass"    // call the tool, then call Returned
	Raise   ToolAction = "raise"   // raise an exception of Class with Message
	Replace ToolAction = "replace" // return Value without calling the tool
)

// ToolAnswer says what happens to a call of a tool. The zero value passes it.
type ToolAnswer struct {
	Action ToolAction    `json:"action,omitempty"`
	Delay  time.Duration `json:"delay,omitempty"` // sleep first; an async tool awaits
	// Class is the exception's class: a builtin ("TimeoutError") or "module.Class". RuntimeError is
	// used if it is "" or not found.
	Class   string          `json:"class,omitempty"`
	Message string          `json:"message,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
}

// ToolWatcher is placed between an agent and its tools. The goroutine that called Call calls it, in
// the order of the tool calls.
type ToolWatcher interface {
	Called(ToolCall) ToolAnswer
	// Returned receives the tool's result as JSON, or its fault. Its answer may return Value
	// instead (Replace) or raise an exception (Raise).
	Returned(c ToolCall, result json.RawMessage, fault *Fault) ToolAnswer
}

// Caller calls one agent. Only one goroutine uses it at a time.
type Caller interface {
	Call(ctx context.Context, c AgentCall) (AgentReply, error)
	// Reset calls AgentPlan.Reset. An error wraps the fault's text.
	Reset(ctx context.Context, limit time.Duration) error
	// Restart replaces the process, so that what follows is truly independent.
	Restart(ctx context.Context) error
	Notes() []string
	Close() error
}

// AgentOpener loads an agent. The error is for people; it is a [*FaultError], with file and line,
// if the agent, its tools or its module cannot be loaded.
type AgentOpener func(ctx context.Context, plan AgentPlan) (Caller, error)
