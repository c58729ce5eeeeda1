package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
	"github.com/thresh-dev/thresh/store/inflight"
)

// Job is what to run.
type Job struct {
	Campaigns []campaign.Any
	Sources   []string // document of each campaign, as the user named it
	Store     *store.Store
	Writer    *store.Writer
	Journal   *store.Journal // what earlier processes did; nil for a new run
}

// Run executes the campaigns of a job and returns the run's record, which it also
// saves in the store. It returns the record as far as it goes with every error but
// those of the store. An interruption (ctx ended) is not an error: the record says
// so, and the run can be resumed.
func Run(ctx context.Context, job Job, opt Options) (campaign.Record, error) {
	if len(job.Campaigns) == 0 && !opt.AllowEmpty {
		return campaign.Record{}, diag.Refused("nothing to run: there is no campaign")
	}
	opt.Workers = max(opt.Workers, 1)
	r := &runner{job: job, opt: opt, start: time.Now(), digest: sha256.New(), disputes: make(map[int]disputes), findingRoom: findingsShown, campaignRoom: campaignsShown}
	r.live.campaigns = len(job.Campaigns)
	for _, w := range opt.Warnings {
		r.warn("%s", w)
	}
	r.created = r.start
	if job.Journal != nil {
		r.created = job.Journal.Manifest().Created
		r.readHistory()
	}
	r.work, r.endWork = context.WithCancel(ctx)
	defer r.endWork()
	if opt.Time > 0 {
		r.deadline = r.start.Add(opt.Time)
		share := opt.Time / confirmShare
		early := time.AfterFunc(opt.Time-share, func() {
			if r.late.Store(true); r.live.findings.Load() > 0 || r.closable.Load() {
				r.stopStarting(StoppedTime)
			}
		})
		defer early.Stop()
		// A case that hangs must not use up the time for confirming.
		half := time.AfterFunc(opt.Time-share/2, func() {
			if r.stopReason() != "" {
				r.endWork()
			}
		})
		defer half.Stop()
		last := time.AfterFunc(opt.Time, func() {
			r.stopStarting(StoppedTime)
			r.endWork()
		})
		defer last.Stop()
	}
	if err := r.watchDeaths(); err != nil {
		return campaign.Record{}, err
	}
	defer r.inflight.Close()
	stopProgress := r.startProgress()
	err := r.campaigns(ctx)
	if cerr := r.cache.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("closing what campaigns shared: %w", cerr)
	}
	r.live.phase.Store(new(PhaseDone))
	stopProgress()
	if je, ok := errors.AsType[*journalError](err); ok {
		return campaign.Record{}, diag.Environment("%w", je)
	}
	return r.finish(ctx, err)
}

// confirmShare: one part in so many of the run's time is reserved for closing a
// campaign, and for confirming and minimizing what was found.
const confirmShare = 5

// runner is the state of one run in this process.
type runner struct {
	void    bool // a campaign says that its cases tested nothing
	job     Job
	opt     Options
	start   time.Time // of this process
	created time.Time // of the run
	// deadline is when the run must end; zero: never. late means that the remaining
	// time is for findings and closing rounds.
	deadline time.Time
	late     atomic.Bool
	closable atomic.Bool     // the campaign has closing rounds
	work     context.Context // context of cases; ends when the time for them is over
	endWork  context.CancelFunc

	history  history
	cache    campaign.Cache   // what campaigns leave to later ones
	inflight *inflight.File   // what this process is doing
	disputes map[int]disputes // found by this process, by campaign
	digest   hash.Hash        // over the digests of the campaigns
	outcomes campaign.Tree    // over the roots of the campaigns
	records  []campaign.CampaignRecord
	findings []campaign.Finding
	warnings []string
	hints    []hint
	notes    []string

	findingRoom, campaignRoom int // bytes left of findingsShown and campaignsShown
	unshown, unshownCampaigns int // how many did not fit

	sched    atomic.Pointer[schedule]
	ahead    atomic.Pointer[ahead]
	stopWhy  atomic.Pointer[string]
	evidence atomic.Int64 // bytes of evidence in results that are not collected yet
	live     live
	points   []campaign.ProgressPoint
}

// note appends a journal entry with a JSON payload.
func (r *runner) note(kind store.Kind, k int, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding a journal entry: %w", err)
	}
	err = r.job.Writer.Append(store.Entry{Kind: kind, Campaign: k, Data: data, At: time.Since(r.created)})
	if err != nil {
		return &journalError{err}
	}
	return nil
}

// warn adds a warning to the run, once.
func (r *runner) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	if !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}

// stopStarting ends the run early: what is in flight finishes, and nothing more is
// started.
func (r *runner) stopStarting(why string) {
	r.stopWhy.CompareAndSwap(nil, &why)
	if s := r.sched.Load(); s != nil {
		s.stop()
	}
	r.ahead.Load().hold(true)
}

// withdrawStop cancels a stop at a case whose attempt at the campaign is dropped.
func (r *runner) withdrawStop() {
	why := r.stopWhy.Load()
	if why == nil || *why != StoppedFailFast && *why != StoppedErrors {
		return
	}
	r.stopWhy.Store(nil)
	r.ahead.Load().hold(false)
	if r.opt.Time > 0 && time.Since(r.start) >= r.opt.Time {
		r.stopStarting(StoppedTime)
	}
}

func (r *runner) stopReason() string {
	if why := r.stopWhy.Load(); why != nil {
		return *why
	}
	return ""
}

// campaigns runs the campaigns in order. Those that allow it have cases executed
// before their turn. What ends one of them does not keep the others from running,
// unless nothing can be journaled any more.
func (r *runner) campaigns(ctx context.Context) (err error) {
	defer func() { err = joined(err, r.ahead.Load().close()) }()
	var errs []error
	for k, c := range r.job.Campaigns {
		if h := r.ahead.Load(); h == nil || h.unit(k) == nil {
			if err := h.close(); err != nil {
				errs = append(errs, err)
			}
			r.ahead.Store(r.startAhead(ctx, k))
		}
		id := c.Identity()
		r.live.begin()
		r.live.phase.Store(new(PhaseProbe))
		r.live.campaign.Store(&campaignLive{name: id.Name, index: k + 1})
		r.records = append(r.records, campaign.CampaignRecord{
			Contract: id.Contract, Name: id.Name, Identity: id.Digest, Source: r.job.Sources[k], Prompts: campaign.TraitsOf(c).Prompts,
		})
		if ctx.Err() != nil || r.stopReason() != "" {
			r.records[k].Cases.Planned = campaign.TraitsOf(c).Planned
			continue
		}
		if err := r.campaign(ctx, k, c); err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", id.Contract, id.Name, err))
			if !continues(err) {
				break
			}
		}
	}
	return joined(errs...)
}

// continues reports whether other campaigns can run, and findings be settled, after an error.
func continues(err error) bool {
	_, stuck := errors.AsType[*journalError](err)
	return !stuck
}

// joined joins errors; one that is part of another is not repeated.
func joined(errs ...error) error {
	var list []error
	for _, err := range errs {
		if err != nil && !slices.ContainsFunc(list, func(other error) bool { return strings.Contains(other.Error(), err.Error()) }) {
			list = append(list, err)
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return errors.Join(list...)
}

// finish makes the record, saves it and decides the verdict.
func (r *runner) finish(ctx context.Context, runErr error) (campaign.Record, error) {
	stopped := r.stopReason()
	r.tellUnshown()
	switch {
	case runErr != nil && ctx.Err() == nil:
		stopped = StoppedFatal
		for line := range strings.SplitSeq(runErr.Error(), "\n") {
			r.warn("%s", line)
		}
	case ctx.Err() != nil:
		stopped, runErr = StoppedInterrupted, nil
	}
	rec := campaign.Record{
		RunID: r.job.Writer.RunID(), Digest: hex.EncodeToString(r.digest.Sum(nil)), Complete: stopped == "", Stopped: stopped,
		Campaigns: r.records, Findings: r.findings, Warnings: r.warnings, Hints: r.advice(), Environment: r.opt.Environment,
	}
	var total campaign.Counts
	for _, c := range rec.Campaigns {
		total.Run += c.Cases.Run
		total.Fail += c.Cases.Fail
		total.Error += c.Cases.Error
		if c.Cases.Run == 0 && stopped == "" && !r.opt.AllowEmpty {
			rec.Warnings = append(rec.Warnings, fmt.Sprintf("%s %s: no case was run, so nothing was tested", c.Contract, c.Name))
			rec.Verdict = "error"
		}
	}
	switch {
	case total.Fail > 0, len(r.findings) > 0:
		rec.Verdict = "fail"
	case rec.Verdict == "error", r.void, total.Error > 0, stopped == StoppedFatal:
		rec.Verdict = "error"
	case total.Run == 0 && !r.opt.AllowEmpty:
		rec.Verdict = "error"
	default:
		rec.Verdict = "pass"
	}
	if rec.Warnings == nil {
		rec.Warnings = []string{}
	}
	if rec.Findings == nil {
		rec.Findings = []campaign.Finding{}
	}
	e := &rec.Environment
	e.Started, e.Finished = r.created.UTC(), time.Now().UTC()
	e.Seconds = r.history.seconds + time.Since(r.start).Seconds()
	e.Workers = r.opt.Workers
	if s := time.Since(r.start).Seconds(); s > 0 {
		e.Rate = float64(r.live.executed.Load()) / s
	}
	e.Notes = append(e.Notes, r.notes...)
	evidence, err := r.job.Writer.EvidenceRoot()
	if err != nil {
		return rec, diag.Environment("saving the run's record: %w", err)
	}
	e.Root = root(&r.outcomes, evidence)
	e.Progress = downsample(append(slices.Clone(r.history.points), r.points...))

	status := "done"
	switch stopped {
	case StoppedInterrupted:
		status = "interrupted"
	case StoppedFatal:
		status = "error"
	}
	if err := r.job.Writer.Finish(rec, status, time.Since(r.created)); err != nil {
		return rec, diag.Environment("saving the run's record: %w", err)
	}
	if runErr != nil {
		return rec, diag.Environment("%w", runErr)
	}
	return rec, nil
}
