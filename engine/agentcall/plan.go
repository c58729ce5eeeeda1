package agentcall

import (
	"context"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
)

// PortMark in the texts of a plan that starts its agent is replaced by a free port,
// which is chosen for each agent process: in Start.Argv and Start.Env, and in every URL.
// The process also has it in its environment, as PORT.
const PortMark = "{port}"

// DefaultMaxReply is how many bytes of a reply are read by default.
const DefaultMaxReply = 8 << 20

// Plan says how to reach an agent; it is the same for every call of a campaign. Exactly
// one of HTTP, Chat, Python, Command, MCP and System is set.
type Plan struct {
	HTTP    *HTTP
	Chat    *Chat
	Python  *Python
	Command *Command
	MCP     *MCP
	System  *sut.Plan `json:",omitempty"` // described by a system file

	// Start is the program that is the agent, or nil if it is already running. HTTP,
	// Chat and MCP by URL may have one.
	Start *Start
	// Packages are installed for the agent's process, in an environment of its own; nil:
	// it runs in that of Thresh.
	Packages *Packages `json:",omitempty"`
	Reset    Reset
	// Concurrency limits how many calls the agent gets at once, from all lanes of this
	// process together; 0: no limit.
	Concurrency int
	// MaxReply is how many bytes of a reply are read, decompressed; a longer one ends as
	// TooLarge. 0: DefaultMaxReply.
	MaxReply int64
}

// Packages are the Python packages that an agent requires: a pip requirements file, and
// its text when the plan was made.
type Packages struct{ File, Text string }

// OwnProcess reports whether each lane has its own agent process, so that everything the
// agent sends during a case belongs to that lane's case.
func (p *Plan) OwnProcess() bool {
	if p.Start == nil {
		return p.Python != nil || p.Command != nil || p.MCP != nil && p.MCP.URL == ""
	}
	for _, text := range append(append([]string(nil), p.Start.Argv...), p.Start.Env...) {
		if strings.Contains(text, PortMark) {
			return true
		}
	}
	return strings.Contains(p.Address(), PortMark)
}

// Process returns the plan with a changed command line and environment for the agent's
// process; a Python agent has no command line.
func (p Plan) Process(change func(argv, env []string) ([]string, []string)) Plan {
	switch { // the plan's parts may be shared, so copy them
	case p.Start != nil:
		x := *p.Start
		x.Argv, x.Env = change(x.Argv, x.Env)
		p.Start = &x
	case p.Command != nil:
		x := *p.Command
		x.Argv, x.Env = change(x.Argv, x.Env)
		p.Command = &x
	case p.MCP != nil:
		x := *p.MCP
		x.Argv, x.Env = change(x.Argv, x.Env)
		p.MCP = &x
	case p.Python != nil:
		x := *p.Python
		_, x.Env = change(nil, x.Env)
		p.Python = &x
	}
	return p
}

// Address returns the URL for calls; "" for an agent without one.
func (p *Plan) Address() string {
	switch {
	case p.HTTP != nil:
		return p.HTTP.URL
	case p.Chat != nil:
		return p.Chat.URL
	case p.MCP != nil:
		return p.MCP.URL
	}
	return ""
}

// Shapes reports whether the agent is called by a request that a [Wire] can change.
func (p *Plan) Shapes() bool { return p.HTTP != nil || p.Chat != nil }

// TakesHistory reports whether a call's History reaches the agent.
func (p *Plan) TakesHistory() bool {
	mark := "{" + historyField + "}"
	return p.Chat != nil || p.System != nil && p.System.TakesHistory() || p.HTTP != nil && strings.Contains(p.HTTP.Template, mark) ||
		p.Python != nil && strings.Contains(p.Python.Template, mark) || p.Command != nil && strings.Contains(p.Command.Template, mark)
}

// HTTP is an agent behind any HTTP endpoint.
type HTTP struct {
	URL string // absolute
	// Method is GET, DELETE (the request goes into the query), POST, PUT or PATCH.
	Method string
	// Template is the request with places for the prompt and its fields, see [Template];
	// "" means {"input": prompt}.
	Template string
	// ResponsePath is where the answer is in a JSON reply, see [Path]; if it is "" or
	// leads nowhere, the answer is searched for, see [Extract].
	ResponsePath string
	Query        [][2]string // added to the URL
	Headers      [][2]string // of every request; values may hold {session}
	// Fields means that "key: value" lines of the prompt fill places of the template,
	// see [Fields].
	Fields bool
	// Retries is how often a call is repeated that got no complete reply because the
	// connection failed. Replies and the time limit are never a reason to retry.
	Retries int
}

// Chat is an agent, or a bare model, behind an OpenAI-compatible endpoint.
type Chat struct {
	URL     string // of the API ("https://host/v1") or of its /chat/completions
	Model   string
	System  string // system message; "": none
	Headers [][2]string
	// Temperature and MaxTokens are sent if they are not nil and above 0.
	Temperature *float64
	MaxTokens   int
	Stream      bool // ask for a streamed reply
	Retries     int  // as in HTTP
	// API is the interface: responses, anthropic or ollama; "" and openai mean chat
	// completions.
	API string `json:",omitempty"`
}

// Python is an agent that is a Python object, called in its own process. What it prints
// is evidence, never the reply.
type Python struct {
	Plan pyhost.AgentPlan // how it is loaded, and reset by a function
	Env  []string         // added to the environment of Thresh, KEY=value
	// Template is the input in JSON, such as an object with all inputs of a chain; ""
	// means the prompt, in the form that the agent takes.
	Template string
	// Fields means that lines "key: value" of the prompt fill {key}.
	Fields bool
}

// Command is an agent that is a program: started for each call, the prompt on
// standard input unless Argv holds {prompt}, the reply on standard output. An
// exit code other than 0 is an error of the agent.
type Command struct {
	Argv []string // {prompt} inside an argument stands for the prompt
	Dir  string
	Env  []string // added to the environment of Thresh, KEY=value
	// Template is the standard input, even if Argv has {prompt}; "" means the bare
	// prompt.
	Template string
	// Fields means that lines "key: value" of the prompt fill {key}.
	Fields bool
	// ResponsePath, if not "", means that standard output is JSON, and says where the
	// answer is in it.
	ResponsePath string
}

// MCP is a server of the Model Context Protocol whose tools are the agent.
// A reply is the text of the tool's result.
type MCP struct {
	// Argv starts a server that talks over its standard input and output; URL is that of
	// a server with streamable HTTP. Exactly one is set.
	Argv []string
	Dir  string
	Env  []string
	URL  string
	// Headers are sent with every request to URL.
	Headers [][2]string
	// Via is the proxy on the way to URL.
	Via Via
	// Tool is called with Arguments, a [Template] for a JSON object; "" means {"input":
	// prompt}. Without a Tool, a prompt must be an object with the tool's name as "tool"
	// and its "arguments".
	Tool, Arguments string
}

// Start says how Thresh starts an agent and knows that it is ready.
type Start struct {
	Argv []string
	Dir  string
	Env  []string // added to the environment of Thresh, KEY=value
	// Ready is a URL that answers with a status below 500 when the agent is ready; "":
	// it is ready when its own address accepts a connection.
	Ready string
	// Patience is the time limit for getting ready; > 0.
	Patience time.Duration
}

// Reset says how to clear an agent's memory. The zero value means that there is no way.
type Reset struct {
	URL string // gets a POST; any status but 2xx is an error
	// Renew replaces the agent's process instead: that of Start, of Python, or of an MCP
	// server that is started by Argv.
	Renew bool
}

// Message is one part of a conversation.
type Message struct {
	Role string `json:"role"` // user, assistant, system
	Text string `json:"content"`
}

// Agent is an agent on one lane; only one goroutine at a time may use it.
type Agent interface {
	// Call asks the agent once. What the agent does wrong, or fails to do, is in the
	// reply. An error means that Thresh failed (a plan that cannot be carried out, a
	// context that ended), or that an agent which Thresh starts can no longer be
	// started: that error wraps [ErrGone].
	Call(ctx context.Context, c Call) (Reply, error)
	// Reset clears the agent's memory, including its cookies and its session. It fails
	// if the plan has a way that does not work; a plan without a way is no error, see
	// [Agent.Forgets].
	Reset(ctx context.Context, limit time.Duration) error
	// Forgets reports whether Reset removes every trace of earlier calls as far as
	// Thresh can know: the plan has a way, or every call has its own process.
	Forgets() bool
	// Notes says how the agent was reached and what happened to it, for the report. Call
	// it before Close.
	Notes() []string
	Close() error
}

// Opener reaches an agent for a lane: it starts a program, loads a module, or connects.
// extra is added to the environment of every process that is started for this lane; it
// is an error for an agent without a process of its own. The error is for people, and
// includes the last output of an agent that was started.
type Opener func(ctx context.Context, plan Plan, lane int, extra []string) (Agent, error)
