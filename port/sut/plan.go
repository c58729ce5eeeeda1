// Package sut holds the values by which contracts describe a system under test without knowing how
// it is reached: a [Plan] says what the system is, a [Call] is a request to it, and an
// [Observation] its answer. Package system implements the interfaces [Opener] and [System] with the
// edge of the plan's kind.
//
// A plan comes from a system file (engine/systemfile) or from the equivalent keys of a document.
// The package is pure values: it starts nothing and reads nothing. Start at [Plan].
package sut

import (
	"cmp"
	"encoding/json"
	"regexp"
	"time"
)

// Kind says how a system is reached.
type Kind string

// The kinds.
const (
	Command Kind = "command" // a program started for each call
	HTTP    Kind = "http"    // a service
	Chat    Kind = "chat"    // a model behind a chat interface
	MCP     Kind = "mcp"     // the tools of a Model Context Protocol server
	Python  Kind = "python"  // a Python function or object
	WASM    Kind = "wasm"    // a WebAssembly module
	Driver  Kind = "driver"  // a program that speaks lines of JSON
)

// Kinds returns all kinds, in the order of the documentation.
func Kinds() []Kind { return []Kind{Command, HTTP, Chat, MCP, Python, WASM, Driver} }

// Plan describes a system, and how to reach it.
type Plan struct {
	Name    string
	Kind    Kind
	Dir     string   // folder of relative paths
	Start   string   // folder in which Command starts and its paths begin; "": Dir
	Command []string // what Thresh starts; empty: somebody else runs the system
	Per     Per
	Ready   Ready
	URL     string      // of http, chat and mcp; may hold {port} and ${VAR}
	Headers [][2]string // values may hold ${VAR}
	Query   [][2]string // of http: sent with every call; values may hold ${VAR}
	// Entry is FILE:NAME of python, or the module file of wasm.
	Entry   string
	EntryAt string `json:"-"` // its place in the system file: FILE:LINE:COLUMN
	Module  []byte // the content of Entry, of wasm
	// OpenAPI names the description of the operations: a path on the service,
	// or a file, whose content is then Document.
	OpenAPI    string
	Document   []byte
	Operations []Operation
	Input      Input
	Reply      string // a JSON path; "": what the input operation returns
	Reset      Reset
	Limits     Limits
	ChatPlan
	// Digest is a digest of the plan: of the system file and the programs it
	// starts.
	Digest string
	// Unknown says why Digest does not cover the whole system; "" if it does.
	Unknown string
}

// ChatPlan is the part of a plan that only kind chat has.
type ChatPlan struct {
	API    string // openai, responses, anthropic or ollama
	Model  string
	System string
	Stream bool
}

// Per says who owns an instance of a started system.
type Per string

// The owners of an instance.
const (
	PerWorker Per = "worker"
	PerCase   Per = "case"
	PerRun    Per = "run"
)

// Ready says when a started system can be called. With the zero value, that is once the port
// accepts a connection.
type Ready struct {
	URL string
	Log *regexp.Regexp // a line of standard output or error
}

// ResetMode says how a case gets a fresh state.
type ResetMode string

// The ways to reset.
const (
	ResetDefault   ResetMode = ""          // by kind, see [Plan.ResetBy]
	ResetOperation ResetMode = "operation" // Reset.Operation is called
	ResetRestart   ResetMode = "restart"   // the program is restarted
	ResetNone      ResetMode = "none"      // cases share the state
	ResetFork      ResetMode = "fork"      // python: a process forked for the case
	ResetLine      ResetMode = "line"      // driver: {"reset":true}
	ResetImage     ResetMode = "image"     // wasm: memory as it was after the start
	ResetProcess   ResetMode = "process"   // command: every call has its own process
)

// Reset says how a case gets a fresh state.
type Reset struct {
	Mode      ResetMode
	Operation string
}

// StartDir returns the folder in which the plan's program starts.
func (p *Plan) StartDir() string { return cmp.Or(p.Start, p.Dir) }

// ResetBy returns how the system is reset, which depends on its kind by
// default.
func (p *Plan) ResetBy() ResetMode {
	if p.Reset.Mode != ResetDefault {
		return p.Reset.Mode
	}
	switch p.Kind {
	case Command:
		return ResetProcess
	case Python:
		return ResetFork
	case Driver:
		return ResetLine
	case WASM:
		return ResetImage
	}
	if len(p.Command) > 0 && p.Per == PerCase {
		return ResetRestart
	}
	return ResetNone
}

// TakesHistory reports whether the system remembers no conversation, so that
// every call must send all of it.
func (p *Plan) TakesHistory() bool { return p.Kind == Chat }

// KeepsState reports whether a case may see effects of earlier cases.
func (p *Plan) KeepsState() bool {
	return p.ResetBy() == ResetNone && !p.TakesHistory() && (p.Per != PerCase || len(p.Command) == 0)
}

// Shared reports whether all workers call the same instance, so that one could
// reset it while another uses it.
func (p *Plan) Shared() bool {
	switch p.Kind {
	case Command, Python, WASM:
		return false
	}
	return len(p.Command) == 0 || p.Per == PerRun
}

// Exclusive reports whether only one worker may use the system, because its
// state is shared and reset for each case.
func (p *Plan) Exclusive() bool { return p.Shared() && p.ResetBy() != ResetNone }

// Limits bound calls.
type Limits struct {
	Timeout     time.Duration // of one call
	Rate        Rate
	Concurrency int // calls at once over all workers; 0: no limit
	Retries     int // of a call that reached nothing, or was answered with 429 or 503
}

// Rate is a number of calls per time. The zero value is not a limit.
type Rate struct {
	Count int
	Per   time.Duration
}

// DefaultTimeout is the time limit of a call whose plan sets none.
const DefaultTimeout = 5 * time.Second

// MaxOutput is the largest size of an answer, in bytes. A longer one is a
// flood.
const MaxOutput = 8 << 20

// Operation is something that a system can do.
type Operation struct {
	Name        string
	At          string `json:"-"` // its place in the system file: FILE:LINE:COLUMN
	Description string
	Method      string // of http
	Path        string // of http; {name} is replaced by an argument
	Query       [][2]string
	Headers     [][2]string
	JSON        []byte // of http: the body as JSON; "{name}" is replaced by an argument; nil: none
	Files       []File `json:",omitempty"` // of http: members of JSON that are sent as files
	Arguments   []Argument
	Returns     string   // a JSON path in the answer; "": all of it
	Refuses     bool     // it refuses what is not allowed, so formats may try that
	Rejects     []string // what counts as a refusal: statuses, exit codes, exception classes; nil: the kind's default
	// Schema is the JSON Schema of all arguments as one object, if a description
	// gives one. Answers are the schemas of answers by status ("200", "4XX",
	// "default"), or by "0" if there are no statuses. A null schema allows any
	// answer.
	Schema   json.RawMessage
	Answers  map[string]json.RawMessage
	Frames   map[string]Frame `json:",omitempty"` // media types and headers of answers, by status as in Answers
	Links    []Link           `json:",omitempty"`
	Destroys bool             // its description says that it may destroy something
	Reads    bool             `json:",omitempty"` // its description says that it changes nothing
}

// Link says that an answer contains arguments for another operation.
type Link struct {
	To     string
	Values [][2]string // arguments, and runtime expressions of OpenAPI
}

// Argument is one argument of an operation.
type Argument struct {
	Name     string
	Type     string // in JSON Schema; "": unknown
	Required bool
	In       string // path, query, header, cookie or body, of an operation from OpenAPI
	Style    string `json:",omitempty"` // how several values are written; "": the default of its place
}

// Styles of arguments. In a query a list is usually repeated, and an object as many
// parameters as it has members; elsewhere values are joined by commas. In a path a style
// may end with [Exploded].
const (
	StyleCommas = "commas" // a=1,2
	StyleSpaces = "spaces" // a=1 2
	StylePipes  = "pipes"  // a=1|2
	StyleDeep   = "deep"   // a[key]=1
	StyleJSON   = "json"   // a={"key":1}
	StyleLabel  = "label"  // .1,2; exploded .1.2 and .key=1
	StyleMatrix = "matrix" // ;a=1,2; exploded ;a=1;a=2 and ;key=1
	Exploded    = "*"      // alone: 1,2 and key=1
)

// Multipart is the media type of a body of parts.
const Multipart = "multipart/form-data"

// File makes a member of a body a file.
type File struct {
	Member string
	Name   string // name of the file
	Type   string // media type; "": application/octet-stream
}

// Frame declares an answer's media types and headers.
type Frame struct {
	Types   []string // media types of the content; nil: undeclared
	Headers []Header
}

// Header declares a header of an answer.
type Header struct {
	Name     string
	Required bool
	Type     string          // of JSON Schema
	Schema   json.RawMessage // nil: undeclared
}

// Input names the place for the bytes or the prompt of a case.
type Input struct {
	Operation string
	Argument  string // "": the raw body, standard input, or the only argument
}

// Find returns the operation of that name.
func Find(list []Operation, name string) (*Operation, bool) {
	for i := range list {
		if list[i].Name == name {
			return &list[i], true
		}
	}
	return nil, false
}
