// Package sut holds the values with which contracts describe a system under
// test without knowing how it is reached: a [Plan] says what the system is, a
// [Call] what it is asked, an [Observation] how that ended. Package system
// implements the interfaces [Opener] and [System] with the edge of the plan's
// kind.
//
// A plan comes from a system file (engine/systemfile) or from what a document
// says in its own words. The package is pure values: it starts nothing and
// reads nothing. Start at [Plan].
package sut

import (
	"encoding/json"
	"regexp"
	"time"
)

// Kind is how a system is reached.
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

// Kinds are all kinds, in the order of the documentation.
func Kinds() []Kind { return []Kind{Command, HTTP, Chat, MCP, Python, WASM, Driver} }

// Plan is a system and how it is reached.
type Plan struct {
	Name    string
	Kind    Kind
	Dir     string   // folder that relative paths start from
	Command []string // what Thresh starts; empty: the system runs elsewhere
	Per     Per
	Ready   Ready
	URL     string      // of http, chat and mcp; may hold {port} and ${VAR}
	Headers [][2]string // values may hold ${VAR}
	Query   [][2]string // of http: sent with every call; values may hold ${VAR}
	// Entry is FILE:NAME of python, or the module file of wasm.
	Entry   string
	EntryAt string `json:"-"` // where the system file says so: FILE:LINE:COLUMN
	Module  []byte // the content of Entry, of wasm
	// OpenAPI is where the operations are described: a path on the service, or
	// a file, whose content is then Document.
	OpenAPI    string
	Document   []byte
	Operations []Operation
	Input      Input
	Reply      string // a JSON path; "": what the input operation returns
	Reset      Reset
	Limits     Limits
	ChatPlan
	// Digest identifies the plan: the system file and the programs it starts.
	Digest string
	// Unknown says why Digest does not cover all of the system; "" if it does.
	Unknown string
}

// ChatPlan is what a plan of kind chat has beside the others.
type ChatPlan struct {
	API    string // openai, responses, anthropic or ollama
	Model  string
	System string
	Stream bool
}

// Per says whose instance of a started system is used.
type Per string

// The owners of an instance.
const (
	PerWorker Per = "worker"
	PerCase   Per = "case"
	PerRun    Per = "run"
)

// Ready is how Thresh knows that a started system can be called. The zero value
// waits until the port accepts a connection.
type Ready struct {
	URL string
	Log *regexp.Regexp // a line of standard output or error
}

// ResetMode is how a case gets a fresh state.
type ResetMode string

// The ways to reset.
const (
	ResetDefault   ResetMode = ""          // by kind, see [Plan.ResetBy]
	ResetOperation ResetMode = "operation" // Reset.Operation is called
	ResetRestart   ResetMode = "restart"   // the program is started anew
	ResetNone      ResetMode = "none"      // state is kept between cases
	ResetFork      ResetMode = "fork"      // python: a process forked for the case
	ResetLine      ResetMode = "line"      // driver: {"reset":true}
	ResetImage     ResetMode = "image"     // wasm: memory as it was after the start
	ResetProcess   ResetMode = "process"   // command: every call has its own process
)

// Reset is how a case gets a fresh state.
type Reset struct {
	Mode      ResetMode
	Operation string
}

// ResetBy is how the plan's system is reset, the default of its kind resolved.
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

// TakesHistory reports whether the system keeps nothing of a conversation and is
// sent all of it with every call.
func (p *Plan) TakesHistory() bool { return p.Kind == Chat }

// Shared reports whether workers call one and the same instance, so that what
// one of them resets the other is still using.
func (p *Plan) Shared() bool {
	switch p.Kind {
	case Command, Python, WASM:
		return false
	}
	return len(p.Command) == 0 || p.Per == PerRun
}

// Exclusive reports whether one worker alone may use the system: its state is
// shared and is reset for a case.
func (p *Plan) Exclusive() bool { return p.Shared() && p.ResetBy() != ResetNone }

// Limits bound calls.
type Limits struct {
	Timeout     time.Duration // of one call
	Rate        Rate
	Concurrency int // calls at once over all workers; 0: no limit
	Retries     int // of a call that reached nobody, or was answered by 429 or 503
}

// Rate is a number of calls in a time. The zero value is no limit.
type Rate struct {
	Count int
	Per   time.Duration
}

// DefaultTimeout is the time limit of a call when nothing else is said.
const DefaultTimeout = 5 * time.Second

// MaxOutput is how much of an answer is read. A longer one is a flood.
const MaxOutput = 8 << 20

// Operation is something that a system can be asked to do.
type Operation struct {
	Name        string
	At          string `json:"-"` // where the system file says so: FILE:LINE:COLUMN
	Description string
	Method      string // of http
	Path        string // of http; {name} stands for an argument
	Query       [][2]string
	Headers     [][2]string
	JSON        []byte // of http: the body as JSON, "{name}" for an argument; nil: none
	Files       []File `json:",omitempty"` // of http: members of JSON that are sent as files
	Arguments   []Argument
	Returns     string   // a JSON path in the answer; "": all of it
	Refuses     bool     // what must not be done is refused, so that formats may try it
	Rejects     []string // what counts as refused: statuses, exit codes, exception classes; nil: by kind
	// Schema is the JSON Schema of all arguments as one object, where a description
	// gives one; Answers are those of answers, by status ("200", "4XX", "default"),
	// or by "0" where there is none. A null schema says nothing of the answer.
	Schema   json.RawMessage
	Answers  map[string]json.RawMessage
	Frames   map[string]Frame `json:",omitempty"` // what answers are besides, by status as in Answers
	Links    []Link           `json:",omitempty"`
	Destroys bool             // it says of itself that it may destroy something
	Reads    bool             `json:",omitempty"` // it says of itself that it changes nothing
}

// Link says that an answer has what another operation is called with.
type Link struct {
	To     string
	Values [][2]string // arguments, and runtime expressions of OpenAPI
}

// Argument is one argument of an operation.
type Argument struct {
	Name     string
	Type     string // of JSON Schema; "": not known
	Required bool
	In       string // path, query, header, cookie or body, of an operation from OpenAPI
	Style    string `json:",omitempty"` // how several values are written; "": as usual where it stands
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

// Multipart is the type of a body of parts.
const Multipart = "multipart/form-data"

// File says that a member of a body is sent as a file.
type File struct {
	Member string
	Name   string // of the file
	Type   string // its media type; "": application/octet-stream
}

// Frame is what an answer has beside its content.
type Frame struct {
	Types   []string // media types of the content; nil: nothing is said
	Headers []Header
}

// Header is a header of an answer.
type Header struct {
	Name     string
	Required bool
	Type     string          // of JSON Schema
	Schema   json.RawMessage // nil: nothing is said
}

// Input is where the bytes or the prompt of a case go.
type Input struct {
	Operation string
	Argument  string // "": the raw body, standard input, or the only argument
}

// Find is the operation of a name.
func Find(list []Operation, name string) (*Operation, bool) {
	for i := range list {
		if list[i].Name == name {
			return &list[i], true
		}
	}
	return nil, false
}
