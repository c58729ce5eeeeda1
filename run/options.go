package run

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// Options are the settings that mean the same for every contract.
type Options struct {
	Workers int           // lanes; at least 1
	Cases   int64         // at most so many cases a campaign; 0: all
	Time    time.Duration // end the run after this long, confirming and shrinking included; 0: no limit
	// Stop ends a run at the first case, in case order, for which it holds; nil: never.
	Stop func(*campaign.Outcome) bool
	// MaxErrors ends a run that has more cases with verdict error, in case order;
	// nil: it goes on to its end whatever their number.
	MaxErrors   *ErrorLimit
	StopFrom    int64         // the first case, of each campaign, that Stop is asked about
	CaseTimeout time.Duration // backstop for one case; a case that exceeds it gets verdict error; 0: none
	Reruns      int           // cold re-executions that confirm a finding
	Shrink      int           // executions that may be spent on making one finding smaller; 0: none
	AllowEmpty  bool          // a campaign without cases is not an error
	Progress    func(Snapshot)
	Executed    func(n int64) // called, as results come in, with how many cases this process has executed
	Warnings    []string      // what was doubtful about the documents
	// Trial executes a case in its own process and reports whether that was
	// killed; nil: there is no such process.
	Trial func(ctx context.Context, t Trial) (killed bool, err error)
	// Explain adds to a finding of a document the source lines that it speaks of, and
	// names its group; nil: nobody does.
	Explain func(source string, f *campaign.Finding)
	// Reproduce is the command line that reproduces a finding, less its id.
	Reproduce []string
	// Environment is filled in by the caller with what it knows of host and
	// command; the run adds times, rates and notes.
	Environment campaign.Environment
}

// Phase is what a run is busy with.
type Phase string

// The phases, in order.
const (
	PhaseProbe   Phase = "starting"
	PhaseCases   Phase = "running"
	PhaseClose   Phase = "running again" // cases that were set aside, nobody knows how many
	PhaseConfirm Phase = "confirming"
	PhaseShrink  Phase = "shrinking"
	PhaseDone    Phase = "done"
)

// Snapshot is how far a run is, for progress displays.
type Snapshot struct {
	RunID     string
	Phase     Phase
	Campaign  string // name of the current campaign
	Index, Of int    // its place among the campaigns of the run, from 1
	Done      int64  // cases of the campaign that have an outcome
	Planned   int64  // 0: not known
	Failed    int64
	Errors    int64
	Findings  int               // distinct so far, over the run
	Figures   []campaign.Figure // of the campaign, as of its last round
	Workers   int
	Rate      float64       // cases per second, over the last seconds
	Elapsed   time.Duration // of this process
	ETA       time.Duration // 0: not known
}

// Why a run stopped before all its cases were run.
const (
	StoppedFailFast    = "fail-fast"
	StoppedErrors      = "errors"
	StoppedTime        = "time"
	StoppedInterrupted = campaign.StoppedInterrupted
	StoppedFatal       = "environment"
)

// window is how many cases ahead of the oldest unfinished one may be started:
// it bounds the memory that results out of order take.
const window = 1 << 16
