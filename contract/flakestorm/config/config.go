package config

import (
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/match"
)

// Config is a decoded document.
type Config struct {
	Version     string
	Agent       Agent
	Model       Model
	Mutations   Mutations
	Seed        int64
	Prompts     []Prompt // golden_prompts
	Invariants  []Invariant
	Output      Output
	Advanced    Advanced
	Chaos       *Chaos // nil: none
	Contract    *Contract
	ChaosMatrix []Scenario // the top-level one, which serves a contract without its own
	Replays     Replays
	Scoring     Scoring
	Judge       *Endpoint  // the model that judges for llm_judge; nil: none
	Similarity  Similarity // how texts are compared
	Phases      []string   // that are run; empty: all
	PhasesAt    doctree.Pos
	ChecksOff   []string      // built-in checks that are not made
	Effects     judge.Effects // declared
}

// The phases of a document.
const (
	PhaseMutation = "mutation"
	PhaseChaos    = "chaos"
	PhaseContract = "contract"
	PhaseReplay   = "replay"
)

// PhaseNames returns all phases.
func PhaseNames() []string {
	return []string{PhaseMutation, PhaseChaos, PhaseContract, PhaseReplay}
}

// Prompt is one golden prompt: a text, or a conversation.
type Prompt struct {
	Text   string // of the last turn
	At     doctree.Pos
	Path   string
	ID     string
	Turns  []Said      // all of a conversation, the last one included; nil: a text alone
	Expect []Invariant // of the last reply
	Tags   []string
	Tools  []string // that may be called; nil: not said
	User   *User    // nil: the conversation ends with its script
}

// User is a simulated user: a model that continues a conversation.
type User struct {
	Goal, System string // the system is a file
	Turns        int    // at most
	At           doctree.Pos
}

// Script returns what is said in any case, in order.
func (p *Prompt) Script() []Said {
	if len(p.Turns) == 0 {
		return []Said{{Say: p.Text}}
	}
	return p.Turns
}

// Said is a turn of a conversation, and what is expected of the reply to it.
type Said struct {
	Say    string
	Path   string
	Expect []Invariant
	When   *When // nil: it is said whatever the agent said before
}

// When is what the agent's last reply must be for a turn to be said.
type When struct {
	Contains, Without []string // one of these, none of these; case does not matter
	Matches           *match.Pattern
}

// Met reports whether a reply is of that kind.
func (w *When) Met(reply string) bool {
	lower := strings.ToLower(reply)
	has := func(s string) bool { return strings.Contains(lower, strings.ToLower(s)) }
	if w == nil {
		return true
	}
	if len(w.Contains) > 0 && !slices.ContainsFunc(w.Contains, has) || slices.ContainsFunc(w.Without, has) {
		return false
	}
	if w.Matches == nil {
		return true
	}
	hit, err := w.Matches.Search(reply)
	return hit && err == nil
}

// Name returns what a prompt is called: its id, or its text.
func (p *Prompt) Name() string {
	if p.ID != "" {
		return p.ID
	}
	return p.Text
}

// Kinds of agents. The first three are the format's own.
const (
	HTTP      = "http"
	Python    = "python"
	LangChain = "langchain"
	OpenAI    = "openai"  // an OpenAI-compatible chat endpoint
	Command   = "command" // a program: the prompt on standard input, the reply on standard output
	MCP       = "mcp"     // an MCP server, whose tools are called directly
	System    = "system"  // described by a system file
)

// Agent is the section agent.
type Agent struct {
	At              doctree.Pos
	Endpoint        string // a URL, or module:attribute
	Type            string
	Method          string
	Template        *string // request_template
	ResponsePath    string
	Query           []Pair
	ParseStructured bool
	Timeout         time.Duration
	Headers         []Pair
	ResetEndpoint   string
	ResetFunction   string

	// What follows is Thresh's own.
	Argv         []string // command: how the agent is started, or called
	Dir          string
	Env          []Pair
	Ready        string // a URL that answers once the agent is up; "": its endpoint takes connections
	ReadyTimeout time.Duration
	SystemFile   string   // of type system
	Model        string   // of a chat endpoint
	System       string   // system message of a chat endpoint
	APIKey       string   // ${NAME}
	Tool         string   // of an MCP server: what is called; "": prompts name it
	Tools        []string // Python callables to wrap, module:function; module:registry in Registry
	Registry     string
	Interpreter  string // python
	Isolate      bool   // a fresh process for every cell
	Gateways     []Pair // tool name and the address of the real tool
	LLMGateway   string // the address of the real LLM endpoint
}

// Pair is a named value; lists of pairs keep the document's order.
type Pair struct{ Key, Value string }

// Model is the section model: the LLM that writes mutations, if asked to.
type Model struct {
	At          doctree.Pos
	Given       bool // the document has the section
	Provider    string
	Name        string
	APIKey      string // ${NAME}; "": none
	BaseURL     string // "": the provider's own
	Temperature float64
}

// Endpoint is an OpenAI-compatible server.
type Endpoint struct {
	At      doctree.Pos
	BaseURL string
	Name    string
	APIKey  string // ${NAME}
	Timeout time.Duration
}

// Mutations is the section mutations.
type Mutations struct {
	At        doctree.Pos
	Count     int // per golden prompt
	Types     []Typed
	Weights   map[string]float64
	Templates []Pair // custom_templates
	Writer    string // offline or llm: who writes them
	Cache     bool   // what an LLM writes is kept for later runs
	Limit     int    // over all prompts
}

// Typed is a mutation type with its place.
type Typed struct {
	Name string
	At   doctree.Pos
}

// Output is the section output.
type Output struct {
	Format, Path, Filename string
	Evidence               string // of which cases it is kept: EvidenceAll or EvidenceFailures
}

// The values of output.evidence.
const (
	EvidenceAll      = "all"
	EvidenceFailures = "failures"
)

// Advanced is the section advanced.
type Advanced struct {
	Concurrency int
	Retries     int
	Seed        *int64
}

// Chaos is the section chaos, and what a scenario injects.
type Chaos struct {
	At      doctree.Pos
	Tools   []Fault
	LLM     []Fault
	Context []Fault
}

// Active reports whether anything is injected.
func (c *Chaos) Active() bool {
	return c != nil && len(c.Tools)+len(c.LLM)+len(c.Context) > 0
}

// Faults returns all faults, tools' first.
func (c *Chaos) Faults() []Fault {
	if c == nil {
		return nil
	}
	return slices.Concat(c.Tools, c.LLM, c.Context)
}

// Fault is one configured fault with its place. Its rule's ID is the path.
type Fault struct {
	At doctree.Pos
	fault.Rule
}

// Scenario is an item of chaos_matrix.
type Scenario struct {
	At   doctree.Pos
	Name string
	Chaos
}

// Contract is the section contract.
type Contract struct {
	At          doctree.Pos
	Name        string
	Description string
	Invariants  []Invariant
	Matrix      []Scenario
	Runs        int     // runs_per_cell
	MinRate     float64 // min_pass_rate of cells; 0: every run must hold
	MaxRuns     int     // of a cell that is sampled on
	Path        string
}

// Replays is the section replays.
type Replays struct {
	Model    string // of sessions that do not say it themselves
	Sessions []Session
	Sources  []Source
}

// Session is one recorded conversation, inline or by file.
type Session struct {
	At         doctree.Pos
	ID         string
	Name       string
	Source     string
	CapturedAt string
	Input      string
	Context    []Message
	Tools      []ToolResponse
	Model      string         // ModelRecorded: Models answer in place of the model
	Models     []ToolResponse // what models had replied
	Trace      []string       // the calls in their order; empty: not told
	Reply      string         // what the agent had answered; "": not told. It is shown, never checked
	Expected   string         // expected_failure
	Contract   string
	File       string
	// LeftOut are answers of tools that were too large to be recorded. Files
	// tell of them in a comment.
	LeftOut []string
}

// Message is an item of a session's context.
type Message struct{ Role, Content string }

// Whose replies a replayed session takes.
const (
	ModelLive     = "live"
	ModelRecorded = "recorded"
)

// ToolResponse is what a tool, or a model, had answered.
type ToolResponse struct {
	Tool   string
	Asked  string // of a model: digest of what it was asked
	Body   string // JSON, unless Text
	Text   bool   // Body is plain text
	Status int
	// ContentType is what the body was declared as; "": not told.
	ContentType string
	// Raises is the class of what a tool in Python raised; Body is its message.
	Raises string
	// Connection is how it ended before the answer was whole, closed or reset; ""
	// if it did not. Body is as much as had come.
	Connection string
	Latency    time.Duration
}

// Source is an item of replays.sources.
type Source struct {
	At         doctree.Pos
	Type       string // langsmith, langsmith_run
	Project    string
	RunID      string
	Status     string
	DateRange  string
	MinLatency int
	AutoImport bool
}

// Scoring is the section scoring.
type Scoring struct {
	Mutation, Chaos, Contract, Replay float64
}

// Similarity is the section similarity.
type Similarity struct {
	At      doctree.Pos
	Measure string // auto, lexical, embeddings or sentence-transformers
	Endpoint
}
