package spectest

import (
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// Categories of failures, in the words of the contract.
const (
	Schema    = "schema"    // the case itself is not as it must be
	Assertion = "assertion" // what was expected did not come
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
	From, To        int // first and last line of its block, or of its place in the block's list
	at              doctree.Pos
	about           doctree.Pos // of what the case looks at: its path, url or entrypoint; Line 0: not written

	fault  *Failure // what is wrong with the case itself: it fails without being run
	skip   string   // why it is not run: a capability is missing and the case says to be skipped then; "": it is
	expect *expectation

	// unrepeatable is why a failure is not confirmed by running the case again;
	// "": it is.
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
	always   bool // of a chain: it is run also behind a step that fails
	// timeout bounds one predicate; 0: no limit.
	timeout time.Duration
}

// Failure says why a case failed. It is kept in outcomes as JSON, so nothing in
// it may differ between equal runs.
type Failure struct {
	Category string `json:"category"`
	Message  string `json:"message"`          // in the words that conformance cases look for
	Path     string `json:"path,omitempty"`   // assertion path: assert[0].must[1]
	Target   string `json:"target,omitempty"` // what the leaf looks at
	Op       string `json:"op,omitempty"`
	Want     string `json:"want,omitempty"` // what was expected, for people
	Text     string `json:"text,omitempty"` // the expected text, when there is one to compare with
	Saw      string `json:"saw,omitempty"`  // what was there instead, in words
	Step     string `json:"step,omitempty"` // of a chain, the case that failed
	Line     int    `json:"line,omitempty"` // of what failed, in the document
	Col      int    `json:"col,omitempty"`

	actual   *string    // what was there; kept as evidence
	exit     int64      // what a command has ended with that should have ended otherwise
	expected *string    // what it should have been equal to; kept as evidence
	steps    *string    // of a page, all that failed; kept as evidence
	notJSON  bool       // a target is not JSON
	more     []*Failure // the other checks of the case that failed; kept as evidence
}

// expectation is what a conformance case is expected to come to.
type expectation struct {
	Status   string
	Category string // "" for none
	Tokens   []string
}

// implementation is the name that expectations know this runner by.
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
	exitRaw  string   // as it is written
	entry    string   // as written
	command  []string // of an entrypoint that is a command line
	python   bool     // of one that is module:function
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

// setting is one environment variable; absent means that it is taken away.
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
	redirects   *int // how many are followed; nil: as many as the client does
	insecure    bool
	jar         bool // cookies are kept for the cases below
	proxy       string
	parts       []formPart // of a multipart body
	caFile      string
	certFile    string
	keyFile     string
	retry       retry
}

// capabilities are the names that this runner declares.
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

// pos is the place of a node, or of the block if it has none.
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
