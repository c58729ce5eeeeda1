package command

import (
	"bytes"
	"context"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// An accelerator is used if it agrees with spawn on this many inputs and is at least worthwhile
// times as fast. A slow program is tried with fewer inputs.
const (
	trials     = 16
	worthwhile = 1.15
	longTrial  = time.Second
	fewTrials  = 2
)

// trial runs variants of the sample input by an accelerator and by spawn. It returns the number of
// inputs on which they agreed, the accelerator's mean time per input, and spawn's time divided by
// the accelerator's.
func (l *lane) trial(ctx context.Context, fast executor) (ran int, pace time.Duration, gain float64, err error) {
	var fastTime, spawnTime time.Duration
	start := time.Now()
	for i := range trials {
		if i >= fewTrials && time.Since(start) > longTrial {
			break
		}
		quick, slow, told, err := l.tryOne(ctx, fast, variant(l.plan.Calibrate, i))
		if err != nil {
			return ran, pace, gain, err
		}
		if told {
			ran++
			fastTime, spawnTime = fastTime+quick, spawnTime+slow
		}
	}
	if fastTime > 0 {
		pace, gain = fastTime/time.Duration(ran), float64(spawnTime)/float64(fastTime)
	}
	return ran, pace, gain, nil
}

// tryOne runs an input by an accelerator and by spawn and returns how long each took. told is false
// if the accelerator reached its limit, which tells nothing about either. A disagreement is an
// error.
func (l *lane) tryOne(ctx context.Context, fast executor, input []byte) (quick, slow time.Duration, told bool, err error) {
	began := time.Now()
	res, err := fast.run(ctx, probeID, input, l.short)
	quick = time.Since(began)
	if err != nil || res.Status == process.TimedOut {
		return quick, slow, false, err
	}
	seen, err := l.witness(res)
	if err != nil {
		return quick, slow, false, err
	}
	began = time.Now()
	res, err = l.spawn.run(ctx, probeID, input, l.plan.Timeout)
	slow = time.Since(began)
	if err != nil {
		return quick, slow, false, err
	}
	truth, err := l.witness(res)
	if err != nil {
		return quick, slow, false, err
	}
	what, err := l.disagrees(ctx, process.Case{RunID: probeID, Input: input}, seen, truth)
	if err == nil && what != "" {
		err = &process.MismatchError{Case: -1, Executor: fast.name(), What: what}
	}
	return quick, slow, true, err
}

// disagrees describes how an accelerator's result differs from spawn's, or returns "". With
// coverage, if the program's output differs from run to run, only how cases end is compared: spawn
// measures no coverage, and its output would be no truer.
func (l *lane) disagrees(ctx context.Context, c process.Case, seen, truth witness) (string, error) {
	what := seen.differs(truth, l.fickle)
	if what == "" || !l.plan.Coverage || l.fickle {
		return what, nil
	}
	res, err := l.spawn.run(ctx, c.RunID, c.Input, l.plan.Timeout)
	if err != nil {
		return "", err
	}
	again, err := l.witness(res)
	if err != nil {
		return "", err
	}
	if change := truth.differs(again, false); change == "" || truth.ending != again.ending {
		return what, nil
	}
	l.fickle = true
	l.notes = append(l.notes, "the program's output differs from run to run, so only how cases end is cross-checked")
	return seen.differs(truth, true), nil
}

// variant returns a variant of the sample: unchanged, cut, empty, doubled, or with bytes flipped.
// Variants take other paths through the program.
func variant(sample []byte, i int) []byte {
	n := len(sample)
	switch i {
	case 0, 8:
		return sample
	case 1:
		return nil
	case 2, 3:
		return sample[:n*(i-1)/3]
	case 4:
		return append(bytes.Clone(sample), sample...)
	}
	v := bytes.Clone(sample)
	for k := range i {
		if n > 0 {
			v[(k*n/i+i)%n] ^= byte(1 << (k % 8))
		}
	}
	return v
}
