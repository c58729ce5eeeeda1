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
	ChaosMatrix []Scenario // the top-level one, used by a contract that has none
	Replays     Replays
	Scoring     Scoring
	Judge       *Endpoint  // the model that judges for llm_judge; nil: none
	Similarity  Similarity // how texts are compared
	Phases      []string   // the phases to run; empty: all
	PhasesAt    doctree.Pos
	ChecksOff   []string      // the built-in checks to skip
	Effects     judge.Effects // as declared
}

// The phases of a document.
const (
	PhaseMutation = "mutation"
	PhaseChaos    = "chaos"
	PhaseContract = "contract"
	PhaseReplay   = "replay"
)

// PhaseNames returns the names of all phases.
func PhaseNames() []string {
	return []string{PhaseMutation, PhaseChaos, PhaseContract, PhaseReplay}
}

// Prompt is a golden prompt: a text or a conversation.
type Prompt struct {
	Text   string // of the last turn
	At     doctree.Pos
	Path   string
	ID     string
	Turns  []Said      // all turns of a conversation, with the last one; nil: only a text
	Expect []Invariant // of the last reply
	Tags   []string
	Tools  []string // the tools that may be called; nil: not specified
	User   *User    // nil: the conversation ends with its script
}

// User is a simulated user: a model that continues a conversation.
type User struct {
	Goal, System string // System names a system file
	Turns        int    // the largest number
	At           doctree.Pos
}

// Script returns what is said in every case, in order.
func (p *Prompt) Script() []Said {
	if len(p.Turns) == 0 {
		return []Said{{Say: p.Text}}
	}
	return p.Turns
}

// Said is a turn of a conversation and what is expected of the reply.
type Said struct {
	Say    string
	Path   string
	Expect []Invariant
	When   *When // nil: always said, whatever the agent answered before
}

// When is a condition on the agent's last reply: a turn is said only if it is met.
type When struct {
	Contains, Without []string // at least one of Contains, none of Without; case does not matter
	Matches           *match.Pattern
}

// Met reports whether a reply meets the condition.
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

// Name returns the prompt's id, or its text if it has none.
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
	Command   = "command" // a program: prompt on standard input, reply on standard output
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

	// The following are Thresh's own.
	Argv         []string // for type command: starts the agent, or calls it
	Dir          string
	Env          []Pair
	Ready        string // a URL that answers once the agent is ready; "": ready when its endpoint accepts connections
	ReadyTimeout time.Duration
	SystemFile   string   // for type system
	Model        string   // of a chat endpoint
	System       string   // system message of a chat endpoint
	APIKey       string   // as ${NAME}
	Tool         string   // the tool of an MCP server to call; "": the prompts name it
	Tools        []string // Python callables to wrap, as module:function; module:registry is in Registry
	Registry     string
	Interpreter  string // the key python
	Isolate      bool   // a new process for every cell
	Gateways     []Pair // names of tools and the addresses of the real tools
	LLMGateway   string // the address of the real LLM endpoint
}

// Pair is a named value. Lists of pairs keep the document's order.
type Pair struct{ Key, Value string }

// Model is the section model: the LLM that writes mutations if asked to.
type Model struct {
	At          doctree.Pos
	Given       bool // the document has this section
	Provider    string
	Name        string
	APIKey      string // as ${NAME}; "": none
	BaseURL     string // "": the provider's usual one
	Temperature float64
}

// Endpoint is an OpenAI-compatible server.
type Endpoint struct {
	At      doctree.Pos
	BaseURL string
	Name    string
	APIKey  string // as ${NAME}
	Timeout time.Duration
}

// Mutations is the section mutations.
type Mutations struct {
	At        doctree.Pos
	Count     int // per golden prompt
	Types     []Typed
	Weights   map[string]float64
	Templates []Pair // custom_templates
	Writer    string // who writes the mutations: offline or llm
	Cache     bool   // keep what an LLM writes for later runs
	Limit     int    // for all prompts together
}

// Typed is a mutation type and its position in the document.
type Typed struct {
	Name string
	At   doctree.Pos
}

// Output is the section output.
type Output struct {
	Format, Path, Filename string
	Evidence               string // for which cases evidence is kept: EvidenceAll or EvidenceFailures
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

// Chaos is the section chaos, and also what a scenario injects.
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

// Faults returns all faults, those of tools first.
func (c *Chaos) Faults() []Fault {
	if c == nil {
		return nil
	}
	return slices.Concat(c.Tools, c.LLM, c.Context)
}

// Fault is a configured fault and its position. The ID of its rule is its path in the document.
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
	MaxRuns     int     // the largest number of runs of a cell with a rate
	Path        string
}

// Replays is the section replays.
type Replays struct {
	Model    string // for sessions that do not specify it
	Sessions []Session
	Sources  []Source
}

// Session is a recorded conversation, inline or in a file.
type Session struct {
	At         doctree.Pos
	ID         string
	Name       string
	Source     string
	CapturedAt string
	Input      string
	Context    []Message
	Tools      []ToolResponse
	Model      string         // with ModelRecorded, Models answer in place of the model
	Models     []ToolResponse // what models had replied
	Trace      []string       // the calls, in order; empty: not known
	Reply      string         // what the agent had answered; "": not known. It is displayed, never checked
	Expected   string         // expected_failure
	Contract   string
	File       string
	// LeftOut lists tools' answers that were too large to record. Files mention them in a comment.
	LeftOut []string
}

// Message is an item of a session's context.
type Message struct{ Role, Content string }

// The model that answers in a replayed session.
const (
	ModelLive     = "live"
	ModelRecorded = "recorded"
)

// ToolResponse is what a tool, or a model, had answered.
type ToolResponse struct {
	Tool   string
	Asked  string // for a model: digest of the question
	Body   string // JSON, unless Text is set
	Text   bool   // Body is plain text
	Status int
	// ContentType is the declared type of the body; "": not known.
	ContentType string
	// Raises is the class of the exception that a Python tool raised; Body is its message.
	Raises string
	// Connection says how the connection ended before the answer was complete: closed or reset; "":
	// it did not. Body is the part that had arrived.
	Connection string
	Latency    time.Duration
}

// Source is an item of replays.sources.
type Source struct {
	At         doctree.Pos
	Type       string // langsmith or langsmith_run
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
