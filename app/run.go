package app

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/fleet"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// Job says what to run, and how. A zero field means what thresh run does without the flag.
type Job struct {
	Paths []string // documents, and folders that are searched for documents
	// Contracts are added to the contracts of the [App].
	Contracts []campaign.Contract
	Store     string              // folder that keeps runs; "": [DefaultStore]
	Options   map[string][]string // settings of formats, by the names of their flags
	Seed      *int64              // replaces the seed of the documents
	Strict    bool                // refuse documents with warnings

	Workers     int           // cases run at once; 0: one per processor, 64 leases with a fleet. It changes no result
	Cases       int64         // maximum number of cases per campaign; 0: all
	Time        time.Duration // time limit of the run, with confirming and shrinking; 0: none
	FailFast    bool          // stop at the first failing case, in case order
	MaxErrors   *ErrorLimit   // end the run once more of its cases have no result; nil: never
	CaseTimeout time.Duration // a case without an outcome by then is an error; 0: 10 minutes
	Reruns      int           // times a finding is run again before it is reported; 0: 2
	Shrink      int           // executions to spend on minimizing one finding; 0: 500, below 0: none
	AllowEmpty  bool          // do not fail a campaign that runs no case

	// Progress is called with the run's progress from time to time, on a goroutine of its own.
	Progress func(Progress)
	// Begun, if set, is called once the run is stored and before its first case.
	Begun func(ctx context.Context, b Begun) error
	// Fleet, if set, makes workers on other machines execute the cases.
	Fleet *FleetJob
	// Stop, if set, is called with every outcome from case StopFrom on, in case
	// order. The run ends when it returns true.
	Stop     func(*campaign.Outcome) bool
	StopFrom int64
	secrets  credentials // of the documents; never part of a record
	// Self, if set, returns a command of this program. A case that killed the run twice is tried in
	// a process of its own before the run gives it up.
	Self func(args ...string) *exec.Cmd
}

// Progress is the progress of a run.
type Progress = run.Snapshot

// Reasons for a run to end before all its cases have run.
const (
	StoppedInterrupted = run.StoppedInterrupted
	StoppedFatal       = run.StoppedFatal
	StoppedErrors      = run.StoppedErrors
)

// ErrorLimit is the number or share of a run's cases that may end without a result.
type ErrorLimit = run.ErrorLimit

// ParseErrorLimit parses "N" or "P%".
func ParseErrorLimit(s string) (*ErrorLimit, error) { return run.ParseErrorLimit(s) }

// Begun is a run that is stored and about to execute its first case.
type Begun struct {
	RunID string
	// Watch listens to the members of the run's fleet; nil: the run has no fleet.
	Watch func() (*fleet.Watcher, error)
}

// Defaults for zero values of a job.
const (
	DefaultReruns      = 2
	DefaultShrink      = 500
	DefaultShrinkVerb  = 5000 // for thresh shrink
	DefaultCaseTimeout = 10 * time.Minute
)

func (j Job) withDefaults() Job {
	j.Store = cmp.Or(j.Store, DefaultStore)
	switch {
	case j.Workers == 0 && j.Fleet != nil:
		j.Workers = leasesInFlight
	case j.Workers == 0:
		j.Workers = runtime.NumCPU()
	}
	j.CaseTimeout = cmp.Or(j.CaseTimeout, DefaultCaseTimeout)
	j.Reruns = cmp.Or(j.Reruns, DefaultReruns)
	j.Shrink = cmp.Or(j.Shrink, DefaultShrink)
	if j.Options == nil {
		j.Options = make(map[string][]string)
	}
	return j
}

// Settings returns the job's settings for a contract.
func (j *Job) Settings() campaign.Settings {
	options := j.Options
	if options == nil {
		options = make(map[string][]string)
	}
	return campaign.Settings{Seed: j.Seed, Strict: j.Strict, Options: options}
}

// Run runs documents as one run and stores it. The record holds the findings; an error means that
// the run did not start or did not finish.
func (a *App) Run(ctx context.Context, job Job) (campaign.Record, error) {
	a = a.withContracts(job.Contracts)
	if len(job.Paths) == 0 {
		return campaign.Record{}, diag.Refused("nothing to run: give the path of a document")
	}
	options, err := a.Options(job.Options)
	if err != nil {
		return campaign.Record{}, err
	}
	job.Options = options
	docs, problems, err := a.Documents(job.Paths, job.Settings())
	if err != nil {
		return campaign.Record{}, err
	}
	if job.AllowEmpty {
		problems = a.passEmpty(problems)
	}
	if len(problems) > 0 {
		return campaign.Record{}, append(problems, Faults(ctx, docs, job.Settings())...)
	}
	return a.RunDocuments(ctx, docs, job)
}

// passEmpty turns refusals of folders without documents into warnings.
func (a *App) passEmpty(problems diag.List) diag.List {
	var empty, others diag.List
	for _, p := range problems {
		if p.Level == diag.Warning || p.Code == "input.empty-folder" {
			p.Level = diag.Warning
			empty = append(empty, p)
			continue
		}
		others = append(others, p)
	}
	a.warn(empty)
	return others
}

// RunDocuments compiles and runs documents that have been read.
func (a *App) RunDocuments(ctx context.Context, docs []Document, job Job) (campaign.Record, error) {
	job = job.withDefaults()
	whole := docs
	docs, err := shardOf(docs, job.Options)
	if err != nil {
		return campaign.Record{}, err
	}
	b := NewBundle()
	if job.Options, err = a.attempts(b, job.Store, job.Options); err != nil {
		return campaign.Record{}, err
	}
	set := b.Fill(job.Settings())
	c, err := compileOf(ctx, whole, docs, set)
	if err != nil {
		return campaign.Record{}, err
	}
	a.warn(c.Warnings)
	if len(c.Campaigns) == 0 && !job.AllowEmpty {
		return campaign.Record{}, diag.WithHint(diag.Refused("there is no case to run"), "the filter matches no case, or the shard has none; --allow-empty accepts that")
	}
	st, err := a.OpenStore(job.Store)
	if err != nil {
		return campaign.Record{}, err
	}
	defer st.Close()
	m, err := a.manifest(st, c, b, set, job.Cases)
	if err != nil {
		return campaign.Record{}, err
	}
	b.files = nil // the store has them
	w, err := st.Begin(m)
	if err != nil {
		return campaign.Record{}, err
	}
	job.secrets = c.secrets
	return a.drive(ctx, run.Job{Campaigns: c.Campaigns, Sources: c.Sources, Store: st, Writer: w}, m, c.Warnings, job)
}

// RunCompiled runs documents that were compiled with b and set: as a new run or, if resume names a
// stored run of these campaigns, as its continuation.
func (a *App) RunCompiled(ctx context.Context, c Compiled, b *Bundle, set campaign.Settings, resume string, job Job) (campaign.Record, error) {
	job = job.withDefaults()
	st, err := a.OpenStore(job.Store)
	if err != nil {
		return campaign.Record{}, err
	}
	defer st.Close()
	rj := run.Job{Campaigns: c.Campaigns, Sources: c.Sources, Store: st}
	var m store.Manifest
	if resume != "" {
		if rj.Writer, rj.Journal, err = st.Resume(resume); err != nil {
			return campaign.Record{}, err
		}
		defer rj.Journal.Close()
		m = rj.Journal.Manifest()
	} else {
		if m, err = a.manifest(st, c, b, set, job.Cases); err != nil {
			return campaign.Record{}, err
		}
		if rj.Writer, err = st.Begin(m); err != nil {
			return campaign.Record{}, err
		}
	}
	job.secrets = c.secrets
	return a.drive(ctx, rj, m, nil, job)
}

// Resume continues a stored run. It ignores the fields of job that decide the cases.
func (a *App) Resume(ctx context.Context, runID string, job Job) (campaign.Record, error) {
	a = a.withContracts(job.Contracts)
	job = job.withDefaults()
	st, err := a.OpenStore(job.Store)
	if err != nil {
		return campaign.Record{}, err
	}
	defer st.Close()
	id, err := st.ResolveRun(runID)
	if err != nil {
		return campaign.Record{}, err
	}
	w, j, err := st.Resume(id)
	if err != nil {
		return campaign.Record{}, err
	}
	defer j.Close()
	m := j.Manifest()
	if err := startedHere(m); err != nil {
		_ = w.Close() // the error above is the one to report
		return campaign.Record{}, err
	}
	c, set, changed, err := a.Stored(ctx, st.Blob, m)
	if err == nil && len(changed) > 0 {
		err = diag.WithHint(diag.Refused("%s changed since run %s began; continuing would mix two programs in one run", strings.Join(changed, ", "), id), "start a new run")
	}
	if err == nil {
		for i, x := range c.Campaigns {
			if i >= len(m.Identities) || x.Identity() != m.Identities[i] {
				err = diag.Refused("run %s was started by a version that plans cases differently; start a new run", id)
			}
		}
	}
	if err != nil {
		_ = w.Close() // the error above is the one to report
		return campaign.Record{}, err
	}
	job.Cases = cmp.Or(job.Cases, set.Cases)
	return a.drive(ctx, run.Job{Campaigns: c.Campaigns, Sources: c.Sources, Store: st, Writer: w, Journal: j}, m, c.Warnings, job)
}

// drive runs a stored job and closes its writer.
func (a *App) drive(ctx context.Context, rj run.Job, m store.Manifest, warnings diag.List, job Job) (campaign.Record, error) {
	id := rj.Writer.RunID()
	a.last.run, a.last.campaigns = id, rj.Campaigns
	begun := Begun{RunID: id}
	if job.Fleet != nil {
		link, leave, err := a.join(ctx, &rj, m, &job)
		if err != nil {
			_ = rj.Writer.Close() // the error above is the one to report
			return campaign.Record{}, err
		}
		defer leave()
		begun.Watch = func() (*fleet.Watcher, error) { return fleet.Watch(link) }
	}
	if job.Fleet == nil {
		raiseProcessors(job.Workers)
	}
	if job.Begun != nil {
		if err := job.Begun(ctx, begun); err != nil {
			_ = rj.Writer.Close() // the error above is the one to report
			return campaign.Record{}, err
		}
	}
	opt := a.runOptions(&job, warnings)
	rec, err := run.Run(ctx, rj, opt)
	if cerr := rj.Writer.Close(); err == nil && cerr != nil {
		err = diag.Environment("closing the run's journal: %w", cerr)
	}
	if err != nil && rec.RunID == "" { // no record reports it
		err = diag.WithHint(err, "what ran so far is kept; once the cause is fixed, continue with: "+ShellLine(ResumeCommand(job.Store, id)))
	}
	return rec, err
}

// raiseProcessors gives each lane a processor, and one to the garbage collector, because a lane
// that waits for a new process to start blocks its own.
func raiseProcessors(lanes int) {
	if n := lanes + 1; runtime.GOMAXPROCS(0) < n {
		runtime.GOMAXPROCS(n)
	}
}

// runOptions returns a job's settings in the form that package run takes.
func (a *App) runOptions(job *Job, warnings diag.List) run.Options {
	stop := job.Stop
	if stop == nil && job.FailFast {
		stop = func(o *campaign.Outcome) bool { return o.Verdict == campaign.VerdictFail }
	}
	opt := run.Options{
		Workers: job.Workers, Cases: job.Cases, Time: job.Time, Stop: stop, StopFrom: job.StopFrom, MaxErrors: job.MaxErrors, CaseTimeout: job.CaseTimeout,
		Reruns: job.Reruns, Shrink: max(job.Shrink, 0), AllowEmpty: job.AllowEmpty, Progress: job.Progress,
		Reproduce: ReplayCommand(job.Store), Explain: a.framer().explain, Environment: a.environment(job.secrets), Trial: trial(job.Self),
	}
	for _, w := range warnings {
		opt.Warnings = append(opt.Warnings, w.Text())
	}
	return opt
}

func (a *App) environment(c credentials) campaign.Environment {
	return campaign.Environment{
		Command: a.commandLine(c), Version: Version, OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Host: HostName(), Origin: a.origin(),
	}
}

// HostName returns the name of this machine; "" if it has none.
func HostName() string {
	h, err := os.Hostname()
	if err != nil {
		return ""
	}
	return h
}
