package campaign

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

// Toolmaker is implemented by contracts that offer tools and prompts of their own
// to the programs that a server of the Model Context Protocol serves, beside the
// tools for documents of every contract.
type Toolmaker interface {
	// Tools are made anew for every server, so that they may keep what it serves.
	Tools(ToolDesk) Toolbox
}

// Toolbox is what a contract adds to a server.
type Toolbox struct {
	Instructions string // when a client uses the tools, in a line or two
	Tools        []Tool
	Prompts      []Prompt
	// Mode says how a stored run explored its models; "" if it explored none.
	Mode func(Record) string
}

// Tool is one tool.
type Tool struct {
	Name    string
	About   string
	Params  []Param
	Lenient bool // unknown parameters, and known ones of another form, are ignored
	Reads   bool // it changes nothing
	// Call answers with a value that is encoded as JSON.
	Call func(context.Context, ToolCall) (any, error)
	// Mode is the mode (see [Explorer]) that an error of this call names; nil: it
	// names none.
	Mode func(ToolCall) string
}

// Param is a parameter of a tool.
type Param struct {
	Name     string
	Kind     string // of JSON Schema: "string", "integer", "boolean" or "object"
	About    string
	Required bool
}

// ToolCall is the arguments of one call.
type ToolCall interface {
	// Text is a parameter that is a string; false if it is missing or is not one.
	Text(name string) (string, bool)
	// Integer is a parameter that is an integer of 64 bits; false if it is missing
	// or is not one.
	Integer(name string) (int64, bool)
}

// Prompt is a text that a client may begin a conversation with.
type Prompt struct {
	Name, Title, About string
	Argument           string // what stands for the %s in the text
	ArgumentAbout      string
	Text               string
}

// Draft is the text of a document, and how it is to be run. Zero values mean what
// the same flags of thresh run mean.
type Draft struct {
	Name     string // its file name; "": made up from its content
	Text     []byte
	Contract string // refuse documents of other contracts; "": any contract
	Options  map[string][]string
	Files    map[string][]byte // contents of files that options name
	Time     time.Duration
	Findings int // stop at so many findings; 0: never
}

// ToolDesk is what tools work with.
type ToolDesk interface {
	// Read returns a file below the folder that clients may name files in. It
	// refuses files of more than limit bytes.
	Read(path string, limit int64) ([]byte, error)
	// Compile compiles a document and runs nothing. What is wrong with it stands
	// in the list; an error means that it could not be looked at.
	Compile(context.Context, Draft) ([]Any, diag.List, error)
	// Start compiles a document and begins to run it. The run goes on after ctx
	// has ended.
	Start(context.Context, Draft) (Background, error)
}

// Background is a run that goes on while whoever began it does other things. It
// is safe for concurrent use.
type Background interface {
	ID() string
	// Done is closed once the run has ended and its record is stored.
	Done() <-chan struct{}
	// Changed is closed at the next change of what Status returns.
	Changed() <-chan struct{}
	// Stop ends the run early; what was run is kept.
	Stop()
	Status() Status
	// Findings are the findings so far, in the order in which they were met.
	Findings() []Seen
	// Explored is how far the first campaign that explores a model is; false if
	// there is none.
	Explored() (Exploration, bool)
}

// Status is how far a background run is.
type Status struct {
	Phase     string // "starting", "running", "confirming", "shrinking" or "done"
	Campaign  string // name of the current campaign
	Index, Of int    // its place among the campaigns, from 1
	Done      int64  // cases of the campaign that have an outcome
	Planned   int64  // 0: not known
	Failed    int64
	Errors    int64
	Elapsed   time.Duration
	Record    *Record // without findings; nil until the run has ended
	Err       error   // why it ended, if the environment failed
}

// Seen is a finding from the moment at which it was met.
type Seen struct {
	Seq        int64 // from 1, by the order in which findings were met
	ID         string
	Contract   string
	Campaign   string
	Kind       string
	Title      string
	Severity   Severity
	Case       int64    // the first that showed it
	Cause      []string // layers, outermost first
	Action     string   // of a model: the last action before it showed
	Generation int      // of a model: actions applied until then
}

// Explorer is implemented by campaigns that explore a model, beside a system or
// alone.
type Explorer interface {
	// Explored is how far the campaign is in a state of it, as package run has it;
	// nil: before it starts.
	Explored(state any) Exploration
	// Trigger is the last action of the exploration that an input of [Inputter]
	// stands for, and how many actions the model took up to it.
	Trigger(ctx context.Context, input []byte) (action string, generation int, err error)
}

// Exploration is how far the exploration of a model is.
type Exploration struct {
	Traversals int64
	Planned    int64 // traversals in all
	Actions    int64
	Epochs     int
	Fruitful   int // epochs in which something new was found
	Targets    []Target
	Curve      [][2]float64 // percent of calls and branches that were reached, by actions
	Mode       string       // what is explored, as the contract calls it
	Alone      string       // why the model is explored without a system; "": it is not
}

// Target is something that an exploration is to cover: a call or a branch of a
// protocol, or a combination of inputs.
type Target struct {
	Name   string
	Status string // "hit", "pending" or "unreachable"
	Hits   int64  // of a combination of inputs: 1 once it was hit
	Why    string // why it is unreachable, or what the search for it tried
}
