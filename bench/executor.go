package main

import (
	"context"
	"fmt"
	"os"
	"time"

	engine "github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/command"
)

// executorAlone is package system/command without the rest of a run: no mutation, journal or
// judging, and no cross-checks by spawn. It runs in the bench's own process; its processor time is
// unknown.
func (l *lab) executorAlone(executor engine.Executor, p process) contender {
	return contender{name: "system/command alone, " + string(executor), pilot: p.pilot, run: func(ctx context.Context, workers int, cases int64) (burst, error) {
		seed, err := os.ReadFile(l.path("seed.json"))
		if err != nil {
			return burst{}, err
		}
		plan := engine.Plan{
			Command: func(at engine.Paths) engine.Command {
				return engine.Command{Path: p.argv[0], Argv: l.command(p.argv, at.InputPath)}
			},
			Input: "input/seed.json", OutDir: "out", Timeout: 5 * time.Second, Executor: executor, Calibrate: seed,
		}
		return l.each(workers, func(worker int, _ string) (burst, error) {
			return runAlone(ctx, plan, worker, workers, max(cases/int64(workers), 1))
		})
	}}
}

func runAlone(ctx context.Context, plan engine.Plan, lane, lanes int, cases int64) (burst, error) {
	r, err := command.Open(ctx, plan, lane, lanes, false)
	if err != nil {
		return burst{}, err
	}
	defer r.Close()
	if s, ok := r.(engine.Settler); ok {
		defer s.Settle()()
	}
	input := append([]byte(nil), plan.Calibrate...)
	other := int64(0)
	began := time.Now()
	for i := range cases {
		input[0] = byte(i)
		// Case 33 follows the first cases, which are cross-checked, and is not a multiple of 256.
		res, err := r.Run(ctx, engine.Case{Index: 33, RunID: fmt.Sprintf("%032x", i), Input: input})
		if err != nil {
			return burst{}, err
		}
		if res.Executor != plan.Executor {
			other++ // spawn repeats a case that seemed to take too long on a busy machine
		}
	}
	if other > cases/100 {
		return burst{}, fmt.Errorf("%d of %d cases were not run by %s", other, cases, plan.Executor)
	}
	return burst{cases: cases, seconds: time.Since(began).Seconds()}, nil
}
