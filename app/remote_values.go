package app

import (
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// Draft is a document as a client gives it, and how it is to be run. Zero
// values mean what the same flags of thresh run mean.
type Draft struct {
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
	// MaxErrors ends the run once more of its cases have no result; nil: never.
	MaxErrors *ErrorLimit
}

// Model is what is known of a campaign that explores a model before it runs.
type Model struct {
	Iterations int64  // least number of traversals, by the format's rule
	Seconds    int64  // least time that they are given
	Alone      string // why there is no module; "": there is one
	Targets    []Target
}

// Status is how far a background run is.
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
