package run

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// Options are the settings that mean the same for every contract.
type Options struct {
	Workers int           // lanes; at least 1
	Cases   int64         // limit of cases per campaign; 0: no limit
	Time    time.Duration // end the run after this long, confirming and shrinking included; 0: no limit
	// Stop ends a run at the first case, in case order, for which it holds; nil: never.
	Stop func(*campaign.Outcome) bool
	// MaxErrors ends a run in which more cases have verdict error, counted in case
	// order; nil: no limit.
	MaxErrors   *ErrorLimit
	StopFrom    int64         // the first case, of each campaign, that Stop is called for
	CaseTimeout time.Duration // backstop for one case; a case that exceeds it gets verdict error; 0: none
	Reruns      int           // cold re-executions that confirm a finding
	Shrink      int           // executions to spend on minimizing one finding; 0: do not minimize
	AllowEmpty  bool          // a campaign without cases is not an error
	Progress    func(Snapshot)
	Executed    func(n int64) // called as results come in, with the number of cases that this process has executed
	Warnings    []string      // about the documents
	// Trial executes a case in a process of its own and reports whether that was
	// killed; nil: there is no such process.
	Trial func(ctx context.Context, t Trial) (killed bool, err error)
	// Explain adds to a finding the source lines of its document that it refers to, and
	// names its group; nil: findings are not explained.
	Explain func(source string, f *campaign.Finding)
	// Reproduce is the command line that reproduces a finding, without the finding's
	// id.
	Reproduce []string
	// Environment is what the caller knows about host and command; the run adds times,
	// rates and notes.
	Environment campaign.Environment
}

// Phase is what a run is doing.
type Phase string

// The phases, in order.
const (
	PhaseProbe   Phase = "starting"
	PhaseCases   Phase = "running"
	PhaseClose   Phase = "running again" // cases that were set aside; their number is unknown
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
	Done      int64  // what the phase has done: cases, or findings that it settled
	Planned   int64  // 0: unknown
	Ran       int64  // cases of the campaign that have an outcome, in every phase
	ToRun     int64  // 0: unknown
	Failed    int64
	Skipped   int64
	Errors    int64
	Findings  int               // distinct so far, over the run
	Figures   []campaign.Figure // of the campaign, as of its last round
	Workers   int
	Rate      float64       // cases per second, over the last seconds
	Elapsed   time.Duration // of this process
	ETA       time.Duration // 0: unknown
}

// Why a run stopped before all its cases were run.
const (
	StoppedFailFast    = "fail-fast"
	StoppedErrors      = "errors"
	StoppedTime        = "time"
	StoppedInterrupted = campaign.StoppedInterrupted
	StoppedFatal       = "environment"
)

// window is how many cases ahead of the oldest unfinished one may be started. It bounds
// the memory for results that arrive out of order.
const window = 1 << 16
