package fault

import (
	"encoding/json"
	"time"
)

// Plan is the chaos of one cell.
type Plan struct {
	// Seed decides everything that is decided by chance. Cells have different
	// seeds, and the same cell has the same seed in every run.
	Seed  uint64
	Rules []Rule
	// Before is how many calls [Trigger.AfterCalls] counts as made before the cell.
	Before int
	// Names gives tools that are reached by URL the names that the user knows
	// them by. The first that matches counts.
	Names []Named
	// Self is a glob over the address of the agent itself, for agents that are
	// called through the proxy: that call is none of a tool, and only rules with
	// a match_url strike it. "": none.
	Self string
	// Recorded are responses that answer in place of the real tools and models: the
	// n-th call of a tool gets the n-th response recorded for it. If there are any,
	// calls of tools beyond them are refused, so that a replay touches nothing real;
	// those of models only if replies of models are among them.
	Recorded []Recorded
	// Capture is how many bytes of each body are kept in [Exchange]; 0: none.
	Capture int
	// Secrets are what the agent was given to keep; [Exchange.Leaks] finds them.
	Secrets []string
	// Harmless reports whether a call changes nothing, by its method ("" if it has none)
	// and its best name: faults of effects of every tool pass over it. nil: none does.
	Harmless func(method, name string) bool
	// Sink takes each exchange once it is over, in place of the report; nil: none does.
	Sink func(Exchange)
}

// Named gives whatever is at a URL a tool's name.
type Named struct {
	Tool string
	URL  string // glob over the whole URL
}

// Recorded is a response of a tool or a model as it was seen in a recorded session.
type Recorded struct {
	Tool  string `json:"tool"`            // one of the names of a call
	Model bool   `json:"model,omitempty"` // it is the reply of a model to what was Asked
	Asked string `json:"asked,omitempty"` // see [Request.Asked]; "": not known

	Response json.RawMessage `json:"response,omitempty"` // a JSON string is a text body
	Bytes    []byte          `json:"bytes,omitempty"`    // the body, if it is not text; Response is empty then
	Status   int             `json:"status,omitempty"`   // 0 is 200
	// ContentType is what the body was declared as; "": what it looks like.
	ContentType string `json:"content_type,omitempty"`
	// Raises is the class of the exception that a tool in Python raised, with
	// Response as its message.
	Raises string `json:"raises,omitempty"`
	// Ended says that the connection ended before the answer was whole: the
	// response is as much of it as had come.
	Ended   Ending        `json:"ended,omitempty"`
	Latency time.Duration `json:"latency,omitempty"` // waited before the answer
}

// Ending is how a connection ended without a whole answer; "": it did not.
type Ending string

// The endings.
const (
	WasClosed Ending = "closed"
	WasReset  Ending = "reset"
)

// Kind is what a call is, as far as faults care.
type Kind string

// The kinds.
const (
	ToolCall  Kind = "tool"  // anything that is none of the others
	MCPCall   Kind = "mcp"   // tools/call of an MCP server
	ModelCall Kind = "llm"   // a request for text to an LLM
	OtherCall Kind = "other" // model lists, embeddings, MCP's housekeeping: struck by match_url alone
)

// Call is one call of an agent, as faults are matched against it.
type Call struct {
	Kind Kind
	// Names are what the tool is called, best first: the name given by
	// Plan.Names, by a gateway, by MCP or by the host; for other URLs the last
	// segment of the path that is a word, then the others, then the host with
	// its port, the host, and its first label. Case, "-" and "_" do not matter.
	Names []string
	URL   string // "" if there is none (stdio, Python)
	// Method of HTTP, "" if it says nothing of the call.
	Method string
	Asked  string // of a model, if replies of models are recorded
	// Wanted is the tool that the call carries out, by the name that the model asked for
	// it by: its last answer asked for no other; "" if it is not known.
	Wanted string
}

// Name returns the best name of the call, "" if it has none.
func (c Call) Name() string {
	if len(c.Names) == 0 {
		return ""
	}
	return c.Names[0]
}
