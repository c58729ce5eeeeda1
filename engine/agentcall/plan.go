package agentcall

import (
	"context"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
)

// PortMark stands in the texts of a plan that starts its agent for a free port
// that is drawn for each agent process: in Start.Argv and Start.Env, and in every
// URL. Its value is also in the process's environment, as PORT.
const PortMark = "{port}"

// DefaultMaxReply is how many bytes of a reply are read if a plan says nothing.
const DefaultMaxReply = 8 << 20

// Plan is how an agent is reached, the same for every call of a campaign.
// Exactly one of HTTP, Chat, Python, Command, MCP and System is set.
type Plan struct {
	HTTP    *HTTP
	Chat    *Chat
	Python  *Python
	Command *Command
	MCP     *MCP
	System  *sut.Plan `json:",omitempty"` // described by a system file

	// Start is the program that is the agent, or nil for one that is running
	// already. HTTP, Chat and MCP by URL may have one.
	Start *Start
	// Packages are installed for the agent's process, in an environment of its own;
	// nil: it runs in that of Thresh.
	Packages *Packages `json:",omitempty"`
	Reset    Reset
	// Concurrency is how many calls the agent gets at once, from all lanes of
	// this process together; 0: as many as come.
	Concurrency int
	// MaxReply is how many bytes of a reply are read, decompressed; a longer one
	// ends as TooLarge. 0: DefaultMaxReply.
	MaxReply int64
}

// Packages are those of Python that an agent requires: a file as pip reads it, and the
// text it held when the plan was made.
type Packages struct{ File, Text string }

// OwnProcess reports whether each lane has its own agent process, so that
// what the agent sends meanwhile belongs to that lane's case.
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

// Process returns the plan with the words and the variables changed by which the agent's
// process is started; a Python agent has no words.
func (p Plan) Process(change func(argv, env []string) ([]string, []string)) Plan {
	switch { // each is a value that other plans may have too
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

// Address returns the URL that calls go to; "" for an agent without one.
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

// Shapes reports whether the agent is called by a request whose shape a [Wire]
// can change.
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
	// Template is the request with places for the prompt and its fields, see
	// [Template]; "" is {"input": prompt}.
	Template string
	// ResponsePath is where the answer stands in a JSON reply, see [Path]; "" or
	// a path that leads nowhere: it is looked for, see [Extract].
	ResponsePath string
	Query        [][2]string // added to the URL
	Headers      [][2]string // of every request; values may hold {session}
	// Fields says that "key: value" lines of the prompt fill places of the
	// template, see [Fields].
	Fields bool
	// Retries is how often a call is tried again that got no whole reply because
	// the connection failed. A reply is never a reason, nor is the time limit.
	Retries int
}

// Chat is an agent, or a bare model, behind an OpenAI-compatible endpoint.
type Chat struct {
	URL     string // of the API ("https://host/v1") or of its /chat/completions
	Model   string
	System  string // system message; "": none
	Headers [][2]string
	// Temperature and MaxTokens are sent if not nil and above 0.
	Temperature *float64
	MaxTokens   int
	Stream      bool // ask for a streamed reply
	Retries     int  // as in HTTP
	// API is the interface: responses, anthropic or ollama; "" and openai are
	// chat completions.
	API string `json:",omitempty"`
}

// Python is an agent that is a Python object, called in its own process.
// What it prints is evidence, never the reply.
type Python struct {
	Plan pyhost.AgentPlan // how it is loaded, and reset by a function
	Env  []string         // added to the environment of Thresh, KEY=value
	// Template gives the input in JSON, such as an object with all inputs of a
	// chain; "" is the prompt, in the form that the agent takes.
	Template string
	// Fields has the prompt's lines of the form "key: value" fill {key}.
	Fields bool
}

// Command is an agent that is a program: started for each call, the prompt on
// standard input unless Argv holds {prompt}, the reply on standard output. An
// exit code other than 0 is an error of the agent.
type Command struct {
	Argv []string // {prompt} inside an argument stands for the prompt
	Dir  string
	Env  []string // added to the environment of Thresh, KEY=value
	// Template gives the standard input, also if Argv holds {prompt}; "" is the
	// bare prompt.
	Template string
	// Fields has the prompt's lines of the form "key: value" fill {key}.
	Fields bool
	// ResponsePath, if not "", says that standard output is JSON and where the
	// answer stands in it.
	ResponsePath string
}

// MCP is a server of the Model Context Protocol whose tools are the agent.
// A reply is the text of the tool's result.
type MCP struct {
	// Argv starts a server that talks over its standard input and output; URL is
	// that of one that talks streamable HTTP. Exactly one is set.
	Argv []string
	Dir  string
	Env  []string
	URL  string
	// Headers are sent with every request to URL.
	Headers [][2]string
	// Via is the proxy on the way to URL.
	Via Via
	// Tool is called with Arguments, a [Template] that gives a JSON object; "" is
	// {"input": prompt}. With no Tool a prompt must be an object with the tool's
	// name as "tool" and its "arguments".
	Tool, Arguments string
}

// Start is how Thresh starts an agent and knows that it is ready.
type Start struct {
	Argv []string
	Dir  string
	Env  []string // added to the environment of Thresh, KEY=value
	// Ready is a URL that answers with a status below 500 when the agent is
	// ready; "": the agent's own address accepts a connection.
	Ready string
	// Patience is how long it may take to get ready; > 0.
	Patience time.Duration
}

// Reset is how an agent's memory is cleared. The zero value is no way at all.
type Reset struct {
	URL string // gets a POST; any status but 2xx is an error
	// Renew replaces the agent's process instead: that of Start, of Python or of
	// an MCP server that is started by Argv.
	Renew bool
}

// Message is one part of a conversation.
type Message struct {
	Role string `json:"role"` // user, assistant, system
	Text string `json:"content"`
}

// Agent is an agent on one lane; it is used by one goroutine at a time.
type Agent interface {
	// Call asks the agent once. What the agent does wrong, or does not do at all,
	// is in the reply. An error means that Thresh could not do its part (a plan
	// that cannot be carried out, a context that ended), or that an agent which
	// Thresh starts cannot be started any more: that one wraps [ErrGone].
	Call(ctx context.Context, c Call) (Reply, error)
	// Reset clears the agent's memory, also its cookies and its session; a memory
	// that cannot be cleared is an error, one that there is no way to clear is
	// not: see [Agent.Forgets].
	Reset(ctx context.Context, limit time.Duration) error
	// Forgets reports whether Reset leaves nothing of the calls before it as far
	// as Thresh can know: the plan has a way, or every call has its own process.
	Forgets() bool
	// Notes says how the agent was reached and what befell it, for the report.
	// Call before Close.
	Notes() []string
	Close() error
}

// Opener reaches an agent for a lane: it starts a program, loads a module,
// connects. extra is added to the environment of every process that is started
// for this lane; it is an error for an agent that has none of its own. The error
// is for people; it says what the agent wrote last if it was started.
type Opener func(ctx context.Context, plan Plan, lane int, extra []string) (Agent, error)
