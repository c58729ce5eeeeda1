package spectest

import (
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// Categories of failures, as the contract names them.
const (
	Schema    = "schema"    // the case itself is invalid
	Assertion = "assertion" // an expectation was not met
	Runtime   = "runtime"   // running the case failed
)

// Types of cases.
const (
	typeTextFile = "text.file"
	typeCLI      = "cli.run"
	typeHTTP     = "api.http"
	typeSystem   = "system.call" // an addition
)

func caseTypes() []string { return []string{typeHTTP, typeCLI, typeSystem, typeTextFile} }

// Case is one case of a document, compiled.
type Case struct {
	ID, Type, Title string
	Tags            []string
	From, To        int // first and last line of its block, or of its item in the block's list
	at              doctree.Pos
	about           doctree.Pos // of the case's path, url or entrypoint; Line 0: not written

	fault  *Failure // what is wrong with the case itself: it fails without running
	skip   string   // why it does not run: a capability is missing and the case asks to be skipped then; "": it runs
	expect *expectation

	// unrepeatable is why a failure is not confirmed by running the case again; "" if it is.
	unrepeatable string

	text     *textFile
	cli      *cliRun
	http     *httpCall
	system   *systemCall
	steps    []*Case // of a chain
	page     *page   // of a page's transcripts
	tree     *node   // nil: nothing is asserted
	limits   speclang.Limits
	captures []capture
	always   bool // of a chain: it also runs after a failed step
	// timeout bounds one predicate; 0: no limit.
	timeout time.Duration
}

// Failure says why a case failed. Outcomes store it as JSON, so nothing in it may differ between
// equal runs.
type Failure struct {
	Category string `json:"category"`
	Message  string `json:"message"`          // as conformance cases expect it
	Path     string `json:"path,omitempty"`   // assertion path: assert[0].must[1]
	Target   string `json:"target,omitempty"` // what the leaf looks at
	Op       string `json:"op,omitempty"`
	Want     string `json:"want,omitempty"` // what was expected, in words
	Text     string `json:"text,omitempty"` // the expected text, if there is one to compare with
	Saw      string `json:"saw,omitempty"`  // the actual state, in words
	Step     string `json:"step,omitempty"` // of a chain: the case that failed
	Line     int    `json:"line,omitempty"` // of the failing part, in the document
	Col      int    `json:"col,omitempty"`

	actual   *string    // the actual text; kept as evidence
	exit     int64      // the exit code of a command that should have ended with another
	expected *string    // the text it should have equalled; kept as evidence
	steps    *string    // of a page: all failed steps; kept as evidence
	notJSON  bool       // the target is not JSON
	more     []*Failure // the other failed checks of the case; kept as evidence
}

// expectation is the expected result of a conformance case.
type expectation struct {
	Status   string
	Category string // "" for none
	Tokens   []string
}

// implementation is the name of this runner in expectations.
const implementation = "go"

// textFile is a case of type text.file.
type textFile struct {
	path string // relative; "" is the document itself
	self bool
}

// cliRun is a case of type cli.run.
type cliRun struct {
	argv     []string
	exit     int64
	exitAt   doctree.Pos
	exitRaw  string   // as written
	entry    string   // as written
	command  []string // for an entrypoint that is a command line
	python   bool     // the entrypoint is module:function
	env      []setting
	stdin    string
	tty      bool
	files    []stage.File
	stubs    []string
	blocks   []string
	before   string
	after    string
	kwargs   []byte // JSON object; nil: none
	raw      []byte // the case as JSON, for hooks; nil without hooks
	harness  []byte
	timeout  time.Duration
	isolate  bool // run in a copy of the folder that commands share
	hasTitle bool
}

// setting is one environment variable; absent means that it is unset.
type setting struct {
	name, value string
	absent      bool
}

// httpCall is a case of type api.http.
type httpCall struct {
	method, url string
	headers     [][2]string
	body        []byte
	timeout     time.Duration
	bodyFile    string
	redirects   *int // limit; nil: the client's default
	insecure    bool
	jar         bool // keep cookies for later cases
	proxy       string
	parts       []formPart // of a multipart body
	caFile      string
	certFile    string
	keyFile     string
	retry       retry
}

// capabilities are the capability names that this runner declares.
func capabilities() []string {
	return []string{
		"api.http", "assert.group.can", "assert.group.cannot", "assert.group.must",
		"assert.op.contain", "assert.op.evaluate", "assert.op.exists", "assert.op.json_type", "assert.op.regex",
		"assert_health.ah001", "assert_health.ah002", "assert_health.ah003", "assert_health.ah004", "assert_health.ah005",
		"cli.run", "cli.run.command", "cli.run.python", "evaluate.spec_lang.v1", "requires.capabilities", "system.call", "text.file",
	}
}

// label names a case in messages and reports that need an id.
func (c *Case) label() string {
	if c.ID != "" {
		return c.ID
	}
	return "(no id)"
}

// pos is the place of a node, or of the block if the node has none.
func (c *Case) pos(n *doctree.Node) doctree.Pos {
	if n == nil || n.Pos.Line == 0 {
		if c.at.Line > 0 {
			return c.at
		}
		return doctree.Pos{Line: c.From, Col: 1}
	}
	return n.Pos
}

func oneOf(list []string) string { return strings.Join(list, ", ") }
