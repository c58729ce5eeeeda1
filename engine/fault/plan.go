package fault

import (
	"encoding/json"
	"time"
)

// Plan is the chaos of one cell.
type Plan struct {
	// Seed decides everything random. Cells have different seeds, and the same cell has
	// the same seed in every run.
	Seed  uint64
	Rules []Rule
	// Before is how many calls [Trigger.AfterCalls] counts as made before the cell.
	Before int
	// Names gives tools that are reached by URL the user's names. The first match
	// counts.
	Names []Named
	// Own are best names of calls that are known to occur, beside those of the cell's earlier
	// calls: a rule for such a tool does not mean calls of which it is another name.
	Own []string
	// Self is a glob over the address of the agent itself, for agents that are called
	// through the proxy: that call is not one of a tool, and only rules with a match_url
	// strike it. "": none.
	Self string
	// Recorded are responses that answer instead of the real tools and models: the n-th
	// call of a tool gets the n-th response recorded for it. If there are any, further
	// calls of tools are refused, so that a replay touches nothing real; calls of models
	// are refused only if replies of models are recorded.
	Recorded []Recorded
	// Capture is how many bytes of each body are kept in [Exchange]; 0: none.
	Capture int
	// Secrets are what the agent must keep secret; [Exchange.Leaks] finds them.
	Secrets []string
	// Harmless reports whether a call changes nothing, by its method ("" if it has none)
	// and its best name: faults of effects for every tool skip it. nil: none is
	// harmless.
	Harmless func(method, name string) bool
	// Sink receives each finished exchange instead of the report; nil: the report keeps
	// them.
	Sink func(Exchange)
}

// Named names the tool at a URL.
type Named struct {
	Tool string
	URL  string // glob over the whole URL
}

// Recorded is a response of a tool or a model in a recorded session.
type Recorded struct {
	Tool  string `json:"tool"`            // one of the names of a call
	Model bool   `json:"model,omitempty"` // it is the reply of a model to what was Asked
	Asked string `json:"asked,omitempty"` // see [Request.Asked]; "": unknown

	Response json.RawMessage `json:"response,omitempty"` // a JSON string is a text body
	Bytes    []byte          `json:"bytes,omitempty"`    // the body if it is not text; Response is empty then
	Status   int             `json:"status,omitempty"`   // 0 is 200
	// ContentType is the declared type of the body; "": the type that it looks like.
	ContentType string `json:"content_type,omitempty"`
	// Raises is the class of the exception that a tool in Python raised, with Response
	// as its message.
	Raises string `json:"raises,omitempty"`
	// Ended means that the connection ended before the answer was complete: the response
	// is what had arrived.
	Ended   Ending        `json:"ended,omitempty"`
	Latency time.Duration `json:"latency,omitempty"` // waited before the answer
}

// Ending is how a connection ended without a complete answer; "": it did not.
type Ending string

// The endings.
const (
	WasClosed Ending = "closed"
	WasReset  Ending = "reset"
)

// Kind is the kind of a call for faults.
type Kind string

// The kinds.
const (
	ToolCall  Kind = "tool"  // anything else
	MCPCall   Kind = "mcp"   // tools/call of an MCP server
	ModelCall Kind = "llm"   // a request for text to an LLM
	OtherCall Kind = "other" // model lists, embeddings, MCP's housekeeping: struck only by match_url
)

// Call is one call of an agent, for matching against faults.
type Call struct {
	Kind Kind
	// Names are the names of the tool, best first: the name given by Plan.Names, by a
	// gateway, by MCP or by the host; for other URLs the last word-like segment of the
	// path, then the others, then the host with its port, the host, and its first label.
	// Case, "-" and "_" do not matter.
	Names []string
	URL   string // "" if there is none (stdio, Python)
	// Method of HTTP; "": it says nothing about the call.
	Method string
	Asked  string // of a model, if replies of models are recorded
	// Wanted is the tool that the call carries out, with the name that the model used:
	// its last answer requested no other; "": unknown.
	Wanted string
}

// Name returns the best name of the call; "" if it has none.
func (c Call) Name() string {
	if len(c.Names) == 0 {
		return ""
	}
	return c.Names[0]
}
