package campaign

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

// Toolmaker is implemented by contracts that add tools and prompts of their own to
// the MCP server, besides the tools for documents of any contract.
type Toolmaker interface {
	// Tools returns new tools for a server, so that they may keep state.
	Tools(ToolDesk) Toolbox
}

// Toolbox is what a contract adds to an MCP server.
type Toolbox struct {
	Instructions string // when to use the tools, in a line or two
	Tools        []Tool
	Prompts      []Prompt
	// Mode returns how a stored run explored its models; "" if it explored none.
	Mode func(Record) string
}

// Tool is a tool of an MCP server.
type Tool struct {
	Name    string
	About   string
	Params  []Param
	Lenient bool // ignore unknown parameters, and values of the wrong type
	Reads   bool // it changes nothing
	// Call returns a value to encode as JSON.
	Call func(context.Context, ToolCall) (any, error)
	// Mode returns the mode (see [Exploration]) that an error of the call names; nil:
	// errors name no mode.
	Mode func(ToolCall) string
}

// Param is a parameter of a tool.
type Param struct {
	Name     string
	Kind     string // type in JSON Schema: "string", "integer", "boolean" or "object"
	About    string
	Required bool
}

// ToolCall is the arguments of one call.
type ToolCall interface {
	// Text returns a string parameter; false if it is missing or no string.
	Text(name string) (string, bool)
	// Integer returns a 64-bit integer parameter; false if it is missing or no integer.
	Integer(name string) (int64, bool)
}

// Prompt is a text to begin a conversation with.
type Prompt struct {
	Name, Title, About string
	Argument           string // name of the argument that replaces %s in the text
	ArgumentAbout      string
	Text               string
}

// Draft is the text of a document, and how to run it. Fields mean what the flags of
// thresh run mean.
type Draft struct {
	Name     string // file name; "": derived from the content
	Text     []byte
	Contract string // refuse documents of other contracts; "": any contract
	Options  map[string][]string
	Files    map[string][]byte // contents of files that options name
	Time     time.Duration
	Findings int // stop after this many findings; 0: never
}

// ToolDesk gives tools access to documents and runs.
type ToolDesk interface {
	// Read returns a file below the folder that clients may read. It refuses files of
	// more than limit bytes.
	Read(path string, limit int64) ([]byte, error)
	// Compile compiles a document and runs nothing. What is wrong with it is in the
	// list; an error means that it could not be read.
	Compile(context.Context, Draft) ([]Any, diag.List, error)
	// Start compiles a document and starts a run, which continues after ctx has ended.
	Start(context.Context, Draft) (Background, error)
}

// Background is a run in the background. It is safe for concurrent use.
type Background interface {
	ID() string
	// Done is closed once the run has ended and its record is stored.
	Done() <-chan struct{}
	// Changed is closed when the result of Status next changes.
	Changed() <-chan struct{}
	// Stop ends the run early and keeps its results.
	Stop()
	Status() Status
	// Findings returns the findings so far, in the order in which they were met.
	Findings() []Seen
	// Explored returns the progress of the first campaign that explores a model; false
	// if there is none.
	Explored() (Exploration, bool)
}

// Status is the progress of a background run.
type Status struct {
	Phase     string // "starting", "running", "running again", "confirming", "shrinking" or "done"
	Campaign  string // name of the current campaign
	Index, Of int    // its number, from 1, and the number of campaigns
	Done      int64  // cases of the campaign that have an outcome
	Planned   int64  // 0: unknown
	Failed    int64
	Skipped   int64
	Errors    int64
	Elapsed   time.Duration
	Record    *Record // without findings; nil until the run has ended
	Err       error   // why it ended, if the environment failed
}

// Seen is a finding of a run that may still be running.
type Seen struct {
	Seq        int64 // from 1, in the order in which findings were met
	ID         string
	Contract   string
	Campaign   string
	Kind       string
	Title      string
	Severity   Severity
	Case       int64    // index of the first case that showed it
	Cause      []string // layers, outermost first
	Action     string   // for a model: the last action before it showed
	Generation int      // for a model: the number of actions until then
}

// Explorer is implemented by campaigns that explore a model, with or without a
// system.
type Explorer interface {
	// Explored returns the progress of the campaign in a state, erased as by [Erase];
	// nil: the state before the start.
	Explored(state any) Exploration
	// Trigger returns the last action of the traversal that input, by [Inputter],
	// stands for, and the number of actions up to it.
	Trigger(ctx context.Context, input []byte) (action string, generation int, err error)
}

// Exploration is the progress of exploring a model.
type Exploration struct {
	Traversals int64
	Planned    int64 // number of traversals
	Actions    int64
	Epochs     int
	Fruitful   int // epochs that found something new
	Targets    []Target
	Curve      [][2]float64 // percent of calls and branches that were reached, by actions
	Mode       string       // what is explored, in the contract's words
	Alone      string       // why the model is explored without a system; "": it has one
}

// Target is something for an exploration to cover: a call or a branch of a
// protocol, or a combination of inputs.
type Target struct {
	Name   string
	Status string // "hit", "pending" or "unreachable"
	Hits   int64  // for a combination of inputs: 1 once it was hit
	Why    string // why it is unreachable, or what the search for it tried
}
