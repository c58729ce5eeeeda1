package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// executor runs one case from beginning to end. It hides all differences between spawn and the
// accelerators.
type executor interface {
	name() process.Executor
	// run returns the case's result; byte slices in it are valid until the next run on the same
	// lane. An error that wraps errDied means that the executor is of no further use.
	run(ctx context.Context, runID string, input []byte, limit time.Duration) (process.Result, error)
	close() error
}

// errDied is wrapped by an accelerator's error when the process it forks from is gone.
var errDied = errors.New("the accelerator died")

// errUnsuited is wrapped by an accelerator's error for a case that it cannot run.
var errUnsuited = errors.New("not a case for the accelerator")

// probeID is the run id of runs that are not cases: calibration and trials.
const probeID = "00000000000000000000000000000000"

// How often an accelerator is cross-checked with spawn: in the first cases and then in every 256th,
// so that its errors show within minutes. A case of a persistent program takes a hundredth of
// spawn's time and coverage needs many cases, so with coverage it is every 2,048th.
const (
	checkedFirst  = 32
	checkedEvery  = 256
	coverageEvery = 2048
	maxRestarts   = 3
)

// lane is the runner of one lane: it decides which executor runs a case, at which limit, and
// whether to trust the result.
type lane struct {
	plan  *process.Plan
	spawn executor
	short time.Duration // calibrated; at most plan.Timeout

	fast    executor                 // nil: spawn alone
	restart func() (executor, error) // makes a new fast
	outDir  string                   // absolute
	program string                   // path of the program; "": it differs from case to case
	settle  func() (leave func())    // nil: it would gain nothing
	allow   func(budget uint64)      // sets the budget of the next cases; nil: no budgets
	notes   []string
	inputs  [][]byte // of a batch

	restarts                                         int
	accelerated, spawned, checks, mismatches, redone int64

	blind string // why the stack of a crash could not be read

	fickle bool // the program's output differs from run to run
}

// Run implements process.Runner.
func (l *lane) Run(ctx context.Context, c process.Case) (process.Result, error) {
	if err := ctx.Err(); err != nil {
		return process.Result{}, err
	}
	if l.allow != nil {
		l.allow(c.Budget)
	}
	if c.Confirm {
		l.spawned++
		return l.spawn.run(ctx, c.RunID, c.Input, l.plan.Timeout)
	}
	if l.fast == nil {
		return l.truth(ctx, c, l.short)
	}
	return l.accelerate(ctx, c)
}

// RunBatch implements process.Batcher.
func (l *lane) RunBatch(ctx context.Context, cases []process.Case, each func(i int, res process.Result) error) (int, error) {
	f, ok := l.fast.(interface {
		batch(context.Context, [][]byte, time.Duration) ([]process.Result, error)
	})
	l.inputs = l.inputs[:0]
	for _, c := range cases {
		if c.Confirm || c.Budget != cases[0].Budget || l.checked(c.Index) {
			break
		}
		l.inputs = append(l.inputs, c.Input)
	}
	if !ok || len(l.inputs) < 2 || !l.plan.Coverage {
		return 0, nil
	}
	if l.allow != nil {
		l.allow(cases[0].Budget)
	}
	list, err := f.batch(ctx, l.inputs, l.short)
	if err != nil {
		return 0, err
	}
	l.accelerated += int64(len(list))
	for i := range list {
		if err := each(i, list[i]); err != nil {
			return i, err
		}
	}
	return len(list), nil
}

// truth runs a case by spawn, first at the given limit, which may be short; if the case exceeds it,
// again at the plan's.
func (l *lane) truth(ctx context.Context, c process.Case, limit time.Duration) (process.Result, error) {
	l.spawned++
	began := time.Now()
	res, err := l.spawn.run(ctx, c.RunID, c.Input, limit)
	if err == nil && res.Status == process.TimedOut && limit < l.plan.Timeout {
		l.redone++
		began = time.Now()
		res, err = l.spawn.run(ctx, c.RunID, c.Input, l.plan.Timeout)
	}
	if took := time.Since(began); ctx.Err() != nil && took > l.plan.Timeout {
		l.notes = append(l.notes, fmt.Sprintf("the run ended during a case that had taken %s, more than its limit of %s: it had "+
			"waited for a processor, so it may or may not hang; give --time more", took.Round(100*time.Millisecond), l.plan.Timeout))
	}
	return res, err
}

func (l *lane) accelerate(ctx context.Context, c process.Case) (process.Result, error) {
	res, err := l.fast.run(ctx, c.RunID, c.Input, l.short)
	if errors.Is(err, errDied) {
		if err := l.revive(err); err != nil {
			return process.Result{}, err
		}
		if l.fast == nil || !l.plan.Coverage {
			return l.truth(ctx, c, l.plan.Timeout)
		}
		// Edges come from this executor alone; a second death is final.
		res, err = l.fast.run(ctx, c.RunID, c.Input, l.short)
		if errors.Is(err, errDied) {
			if err := l.revive(err); err != nil {
				return process.Result{}, err
			}
			return l.truth(ctx, c, l.plan.Timeout)
		}
	}
	if errors.Is(err, errUnsuited) {
		return l.truth(ctx, c, l.short)
	}
	if err != nil {
		return res, err
	}
	l.accelerated++
	switch {
	case res.Status == process.OverBudget:
		return res, nil
	case res.Status == process.TimedOut && l.plan.Coverage:
		// How far the case got is chance and must not be visible.
		res.Status, res.Edges = process.SetAside, nil
		return res, nil
	case res.Status == process.TimedOut:
		l.redone++
		return l.truth(ctx, c, l.plan.Timeout)
	}
	if !l.checked(c.Index) {
		return res, nil
	}
	return l.check(ctx, c, res)
}

// checked reports whether a case is cross-checked.
func (l *lane) checked(index int64) bool {
	every := int64(checkedEvery)
	if l.plan.Coverage {
		every = coverageEvery
	}
	return index < checkedFirst || index%every == 0
}

// check compares an accelerator's result with spawn's, and returns spawn's.
func (l *lane) check(ctx context.Context, c process.Case, fast process.Result) (process.Result, error) {
	l.checks++
	seen, err := l.witness(fast)
	if err != nil {
		return process.Result{}, err
	}
	edges, work := slices.Clone(fast.Edges), fast.Work
	res, err := l.truth(ctx, c, l.short)
	if err != nil {
		return res, err
	}
	truth, err := l.witness(res)
	if err != nil {
		return process.Result{}, err
	}
	if fast.OutputLimit && res.OutputLimit {
		return res, nil // how far a stopped program got is chance
	}
	known := l.fickle
	what, err := l.disagrees(ctx, c, seen, truth)
	if err == nil && l.fickle != known { // disagrees has run it once more
		res, err = l.truth(ctx, c, l.short)
	}
	if err != nil {
		return res, err
	}
	if what != "" {
		l.mismatches++
		return res, fmt.Errorf("case %d: %w", c.Index, &process.MismatchError{Case: c.Index, Executor: l.fast.name(), What: what})
	}
	if l.plan.Coverage {
		res.Edges, res.Work, res.Kept = edges, work, fast.Kept
	}
	return res, nil
}

// revive restarts an accelerator that died, or continues without one.
func (l *lane) revive(cause error) error {
	name := l.fast.name()
	if err := l.fast.close(); err != nil {
		return err
	}
	l.fast = nil
	l.restarts++
	if l.restarts > maxRestarts {
		l.notes = append(l.notes, fmt.Sprintf("the %s executor died %d times (%v); the rest was run by spawn", name, l.restarts, cause))
		return nil
	}
	fast, err := l.restart()
	if err != nil {
		l.notes = append(l.notes, fmt.Sprintf("the %s executor died (%v) and could not be started again: %v; the rest was run by spawn", name, cause, err))
		return nil
	}
	l.fast = fast
	return nil
}

// Compare implements process.Comparer.
func (l *lane) Compare(ctx context.Context, c process.Case) ([]process.Comparison, error) {
	f, ok := l.fast.(interface {
		compare(context.Context, string, []byte, time.Duration) ([]process.Comparison, error)
	})
	if !ok {
		return nil, nil
	}
	if l.allow != nil {
		l.allow(c.Budget)
	}
	list, err := f.compare(ctx, c.RunID, c.Input, l.short)
	if errors.Is(err, errUnsuited) {
		return nil, nil
	}
	return list, err
}

// Trace implements process.Tracer.
func (l *lane) Trace(ctx context.Context, c process.Case) (*process.Crash, error) {
	t, ok := l.spawn.(interface {
		trace(context.Context, process.Case) (*process.Crash, error)
	})
	if !ok {
		return nil, errors.New("stacks are read only on Linux for amd64")
	}
	crash, err := t.trace(ctx, c)
	if err != nil && ctx.Err() == nil && l.blind == "" {
		l.blind = err.Error()
	}
	return crash, err
}

// Notes implements process.Runner.
func (l *lane) Notes() []string {
	notes := append([]string(nil), l.notes...)
	if l.blind != "" {
		notes = append(notes, "crashes are distinguished only by their signal: "+l.blind)
	}
	switch {
	case l.plan.Coverage:
		notes = append(notes, fmt.Sprintf("a case that used %s of processor time was set aside", l.short))
	case l.short < l.plan.Timeout:
		notes = append(notes, fmt.Sprintf("cases were given %s first and the full %s only if that was not enough (%d times)", l.short, l.plan.Timeout, l.redone))
	}
	if l.accelerated > 0 {
		notes = append(notes, fmt.Sprintf("%d cases run by an accelerator, %d by spawn; %d cross-checks, %d mismatches, %d restarts",
			l.accelerated, l.spawned, l.checks, l.mismatches, l.restarts))
	}
	return notes
}

// Settle implements process.Settler.
func (l *lane) Settle() func() {
	if l.settle == nil {
		return func() {}
	}
	return l.settle()
}

// Close implements process.Runner.
func (l *lane) Close() error {
	var err error
	if l.fast != nil {
		err = l.fast.close()
		l.fast = nil
	}
	return errors.Join(err, l.spawn.close())
}

// Calibration: the number of runs, and how the short limit follows from them. The limit is
// generous, because a case that exceeds it costs a second run.
const (
	calibrationRuns = 5
	shortFloor      = 50 * time.Millisecond
	shortFactor     = 10

	// For a program with a budget of edges, which should end a case before this limit does: 20
	// times the seed's edges take less than countedFactor times the seed's time.
	countedFloor  = 250 * time.Millisecond
	countedFactor = 25
)

// countedLimit returns the short limit of a program that counts its edges. It catches cases that
// spin without passing an edge, or wait.
func countedLimit(short, usual, full time.Duration) time.Duration {
	return min(max(short, countedFloor, countedFactor*usual), full)
}

// calibrate derives the short limit from runs of an input that the program accepts. usual is the
// duration of such a run, 0 if unknown. A program whose runs are slow gets the full limit.
func calibrate(ctx context.Context, plan *process.Plan, spawn executor) (short, usual time.Duration, err error) {
	if plan.Calibrate == nil {
		return plan.Timeout, 0, nil
	}
	var took []time.Duration
	sum := time.Duration(0)
	for len(took) < calibrationRuns && sum < longTrial {
		res, err := spawn.run(ctx, probeID, plan.Calibrate, plan.Timeout)
		if err != nil {
			return 0, 0, fmt.Errorf("run the program with the seed to learn how long it takes: %w", err)
		}
		if res.Status == process.TimedOut || res.Elapsed*shortFactor >= plan.Timeout {
			return plan.Timeout, res.Elapsed, nil
		}
		took, sum = append(took, res.Elapsed), sum+res.Elapsed
	}
	slices.Sort(took)
	usual = took[len(took)/2]
	return min(max(shortFloor, shortFactor*usual), plan.Timeout), usual, nil
}
