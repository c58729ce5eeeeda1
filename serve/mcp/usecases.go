package mcp

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// UseCases is what the server can do, in the words of this package.
type UseCases interface {
	// Read returns a file below the folder that clients may name files in. It
	// refuses files of more than limit bytes.
	Read(path string, limit int64) ([]byte, error)
	// Check compiles a document and runs nothing. What is wrong with it stands
	// in the answer; an error means that it could not be looked at.
	Check(ctx context.Context, d Document) (Checked, error)
	// Start compiles a document and begins to run it. The run goes on after ctx
	// has ended.
	Start(ctx context.Context, d Document) (Run, error)
	// Replay runs a stored finding again, times times.
	Replay(ctx context.Context, finding string, times int) (Replayed, error)
}

// Document is a document as a client gives it, and how it is to be run. Zero
// values mean what the same flags of thresh run mean.
type Document struct {
	Path     string // a file or a folder; "" if there is a Text
	Text     []byte
	Name     string // what a Text is called, a file name; "": made up from its content
	Contract string // refuse documents of other formats; "": any format
	Module   []byte // of a model: the module, in place of the one that it names
	Alone    bool   // of a model: without a module
	Options  map[string][]string
	Seed     *int64
	Strict   bool
	Cases    int64
	Time     time.Duration
	Findings int // stop at so many findings; 0: never
}

// Checked is what is to be said of a document.
type Checked struct {
	Diagnostics diag.List
	Campaigns   []Planned // none if the document is refused
}

// Planned is a campaign that was compiled.
type Planned struct {
	Contract string
	Name     string
	Cases    int64  // 0: not known before it runs
	Model    *Model // of a campaign that explores a model
}

// Model is what is known of a campaign that explores a model before it runs.
type Model struct {
	Iterations int64  // least number of traversals, by the format's rule
	Seconds    int64  // least time that they are given
	Alone      string // why there is no module; "": there is one
	Targets    []Target
}

// Run is a run that was begun. It is safe for concurrent use.
type Run interface {
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

// Status is how far a run is.
type Status struct {
	Phase     string // "starting", "running", "confirming", "shrinking" or "done"
	Campaign  string // name of the current campaign
	Index, Of int    // its place among the campaigns, from 1
	Done      int64  // cases of the campaign that have an outcome
	Planned   int64  // 0: not known
	Failed    int64
	Errors    int64
	Elapsed   time.Duration
	Record    *campaign.Record // without findings; nil until the run has ended
	Err       error            // why it ended, if the environment failed
}

// Seen is a finding from the moment at which it was met.
type Seen struct {
	Seq        int64 // from 1, by the order in which findings were met
	ID         string
	Contract   string
	Campaign   string
	Kind       string
	Title      string
	Severity   campaign.Severity
	Case       int64    // the first that showed it
	Cause      []string // layers, outermost first
	Action     string   // of a model: the last action before it showed
	Generation int      // of a model: actions applied until then
}

// Exploration is how far the exploration of a model is.
type Exploration struct {
	Traversals int64
	Planned    int64
	Actions    int64
	Epochs     int
	Fruitful   int // epochs in which something new was found
	Targets    []Target
	Curve      [][2]float64 // percent covered, by actions
	Alone      string       // why there is no module; "": there is one
}

// Target is something that an exploration is to cover.
type Target struct {
	Name   string
	Status string // "hit", "pending" or "unreachable"
	Hits   int64
	Why    string // why it is unreachable
}

// Replayed is what came of running a finding again.
type Replayed struct {
	RunID   string
	Finding campaign.Finding
	Rerun   campaign.Rerun
	Now     string // what the case shows instead, if it fails in another way
}
