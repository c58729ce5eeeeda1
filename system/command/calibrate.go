package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// Calibration: how many runs, and how the short limit follows from them. It is
// generous, since a case that exceeds it costs a second run.
const (
	calibrationRuns = 5
	shortFloor      = 50 * time.Millisecond
	shortFactor     = 10

	// Of a program with a budget, which is to end a case first: 20 times the edges of
	// the seed take less than so many times its time.
	countedFloor  = 250 * time.Millisecond
	countedFactor = 25
)

// countedLimit is the short limit of a program that counts its edges: for cases that
// spin without an edge, or wait.
func countedLimit(short, usual, full time.Duration) time.Duration {
	return min(max(short, countedFloor, countedFactor*usual), full)
}

// calibrate learns the short limit from runs of an input that the program takes
// the usual way, and how long such a run takes, 0 if that is not known. A
// program that is slow to begin with gets the full limit.
func calibrate(ctx context.Context, plan *process.Plan, spawn executor) (short, usual time.Duration, err error) {
	if plan.Calibrate == nil {
		return plan.Timeout, 0, nil
	}
	var took []time.Duration
	for range calibrationRuns {
		res, err := spawn.run(ctx, probeID, plan.Calibrate, plan.Timeout)
		if err != nil {
			return 0, 0, fmt.Errorf("run the program with the seed to learn how long it takes: %w", err)
		}
		if res.Status == process.TimedOut || res.Elapsed*shortFactor >= plan.Timeout {
			return plan.Timeout, res.Elapsed, nil
		}
		took = append(took, res.Elapsed)
	}
	slices.Sort(took)
	usual = took[len(took)/2]
	return min(max(shortFloor, shortFactor*usual), plan.Timeout), usual, nil
}
