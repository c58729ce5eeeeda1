package fault

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// Report is what happened in a cell. Fields named At and Took are times; all others are
// equal in every run of an agent that behaves the same.
type Report struct {
	Tallies   []Tally    `json:"tallies"` // one for each rule of the plan, in its order
	Events    []Event    `json:"events,omitempty"`
	Exchanges []Exchange `json:"exchanges,omitempty"`
	// ToolCalls are the calls of tools that were seen, in order: on the wire, of an MCP
	// server, of the Python host, or requested by the LLM.
	ToolCalls []SeenCall `json:"tool_calls,omitempty"`
	// Unused are recorded responses that no call used, by tool.
	Unused []string `json:"unused,omitempty"`
	// Notes are what readers must know: calls that could not be attributed to one cell,
	// a client that refused the proxy's certificate, and such.
	Notes []string `json:"notes,omitempty"`
	// Tokens counted by the LLMs that answered.
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	Uncounted    int   `json:"-"` // answers of LLMs that do not say how many tokens they used
}

// Tally is how often a rule was considered and struck.
type Tally struct {
	Rule       string `json:"rule"`
	Considered int    `json:"considered"` // calls that the rule matches
	Fired      int    `json:"fired"`      // faults that reached the agent
	// Missed are faults that were due but could not be injected, and why.
	Missed []string `json:"missed,omitempty"`
}

// Event is one thing that chaos did.
type Event struct {
	At     time.Duration `json:"at"`   // since the cell began
	Call   int           `json:"call"` // number of the call in the cell, from 1; 0: the prompt
	Rule   string        `json:"rule,omitempty"`
	Mode   Mode          `json:"mode,omitempty"`
	Target string        `json:"target"` // the tool's name or the provider
	Change string        `json:"change"` // what the agent saw: "503 in place of the answer"
	Missed bool          `json:"missed,omitempty"`
}

// Exchange is one call with its answer, as the agent saw it. Secrets are redacted, and
// bodies have at most Plan.Capture bytes.
type Exchange struct {
	Call         int           `json:"call"`
	At           time.Duration `json:"at"`
	Took         time.Duration `json:"took"`
	Kind         Kind          `json:"kind"`
	Tool         string        `json:"tool"` // best name, or the provider
	Names        []string      `json:"-"`    // all names, Tool first
	Method       string        `json:"method,omitempty"`
	URL          string        `json:"url,omitempty"`
	Key          string        `json:"key,omitempty"`    // of idempotency, from a header
	Leaks        bool          `json:"-"`                // a secret of Plan.Secrets is in the request, but not as the caller's credential
	Trace        string        `json:"-"`                // named by the agent in a traceparent; "": none
	Status       int           `json:"status,omitempty"` // 0: no answer came
	ContentType  string        `json:"content_type,omitempty"`
	Request      []byte        `json:"request,omitempty"`
	Response     []byte        `json:"response,omitempty"`
	RequestSize  int64         `json:"request_size"`
	ResponseSize int64         `json:"response_size"`
	Faults       []string      `json:"faults,omitempty"` // rules that fired
	Error        string        `json:"error,omitempty"`  // why no complete answer came
	Ended        Ending        `json:"ended,omitempty"`  // of the connection, if it brought no complete answer
	Raised       string        `json:"raised,omitempty"` // by a tool in Python: its class, with Response as its message
}

// Source is how a tool's call was seen.
type Source string

// The sources.
const (
	SeenOnWire Source = "http"
	SeenByMCP  Source = "mcp"
	SeenByHost Source = "python"
	SeenInChat Source = "llm" // the LLM requested it, and the conversation continued
)

// SeenCall is a tool's call.
type SeenCall struct {
	Tool      string   `json:"tool"`
	Names     []string `json:"-"`                   // other names of a request
	Arguments string   `json:"arguments,omitempty"` // JSON, if known; query or body on the wire
	Source    Source   `json:"source"`
	ID        string   `json:"-"` // of a call that the LLM requested: the same in every later request
	Result    string   `json:"-"` // result of such a call in the conversation
	given     string   // the ID from the LLM
}

// Hidden replaces what was redacted.
const Hidden = "[redacted]"

// secretName matches the names of fields, headers and parameters that contain secrets.
const secretName = `(?:(?:[a-z0-9]+[-_])*(?:api[-_]?key|password|passwd|secret|private[-_]?key|session[-_]?key)|(?:access|refresh|id|auth|bearer|session)[-_]?token|token|authorization|(?:set-)?cookie|signature|sig)`

var (
	secretField = lazy.Pattern(`(?i)("` + secretName + `"\s*:\s*)"(?:[^"\\]|\\.)*"?`)
	secretParam = lazy.Pattern(`(?i)((?:^|[?&\s])(?:key|` + secretName + `)=)(?:\[secret [^\]]*\]|[^&\s"']+)`)
	secretToken = lazy.Pattern(`(?i:\b(?:bearer|basic)\s+[a-z0-9._~+/=-]{8,})|\b(?:sk|pk|rk|gsk|xoxb|xoxp|ghp|gho|github_pat|AIza|lsv2)[-_A-Za-z0-9]{16,}`)
)

// Redact removes secrets from a text: values of fields and parameters whose names
// suggest a secret, bearer tokens, and keys in the formats of providers.
func Redact(s string) string {
	s = secretField().ReplaceAllString(s, `${1}"`+Hidden+`"`)
	s = secretParam().ReplaceAllString(s, `${1}`+Hidden)
	return secretToken().ReplaceAllString(s, Hidden)
}

// RedactURL returns a URL without credentials and without secret parameters.
func RedactURL(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.User != nil {
		u.User = nil
		raw = u.String()
	}
	if !strings.Contains(raw, "=") {
		return raw
	}
	return Redact(raw)
}

// leaks reports whether a request contains a secret anywhere except in a field or a
// parameter for secrets, by which a caller proves its identity.
func (e *Exchange) leaks(secrets []string) bool {
	if len(secrets) == 0 {
		return false
	}
	text := secretField().ReplaceAllString(e.URL+"\n"+string(e.Request), "")
	text = secretParam().ReplaceAllString(text, "")
	return slices.ContainsFunc(secrets, func(s string) bool { return s != "" && strings.Contains(text, s) })
}

func (e *Exchange) redact() {
	e.URL = RedactURL(e.URL)
	for _, b := range []struct {
		body *[]byte
		size *int64
	}{{&e.Request, &e.RequestSize}, {&e.Response, &e.ResponseSize}} {
		whole := int64(len(*b.body)) >= *b.size
		*b.body = []byte(Redact(string(*b.body)))
		if whole { // it is so still
			*b.size = int64(len(*b.body))
		}
	}
}

// NotRecorded is the change of a call that was refused because no recording answers it.
const NotRecorded = "refused: not in the recording"

// Refused reports whether a call was refused because no recording answers it.
func (r *Report) Refused(call int) bool {
	return slices.ContainsFunc(r.Events, func(e Event) bool { return e.Call == call && e.Mode == "" && e.Change == NotRecorded })
}
