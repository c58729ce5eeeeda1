package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
)

// row is a contender with a number of workers, and the results of its bursts.
type row struct {
	contest string
	contender
	workers int
	base    *row  // nil: it is a base
	size    int64 // cases per burst; 0 until the pilot has run

	rates, steadies, setups   []float64
	ratios, steadyRatios, cpu []float64
	foreign                   []float64
	lastRate                  float64 // of this round; 0 if there is none
	failed                    error   // if set, it is not run again
}

// tally holds all rows, in the order they run.
type tally struct{ rows []*row }

// newTally makes a row for each contender with one worker and with one per processor. A base
// precedes the rows compared with it.
func newTally(contests []contest) *tally {
	t := &tally{}
	counts := []int{1}
	if n := runtime.NumCPU(); n > 1 {
		counts = append(counts, n)
	}
	for _, c := range contests {
		for _, w := range counts {
			var base *row
			if c.base != nil {
				base = &row{contest: c.name, contender: *c.base, workers: w}
				t.rows = append(t.rows, base)
			}
			for _, x := range c.contenders {
				t.rows = append(t.rows, &row{contest: c.name, contender: x, workers: w, base: base})
			}
		}
	}
	return t
}

// patience limits one burst; a hanging tool must not hang the bench.
const patience = 2 * time.Minute

// round runs a burst of every row that has not failed.
func (t *tally) round(ctx context.Context, o options) error {
	for _, r := range t.rows {
		r.lastRate = 0
		if r.failed != nil {
			continue
		}
		select {
		case <-time.After(time.Duration(o.rest * float64(time.Second))):
		case <-ctx.Done():
			return ctx.Err()
		}
		fmt.Fprintf(os.Stderr, "  %s: %s, %d workers\n", r.contest, r.name, r.workers)
		if err := r.burst(ctx, o); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.failed = err
		}
	}
	return nil
}

// burst runs one burst and records its result.
func (r *row) burst(ctx context.Context, o options) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if r.size == 0 {
		r.size = r.pilot * int64(r.workers)
		if !o.smoke {
			b, err := r.run(ctx, r.workers, r.size)
			if err != nil {
				return err
			}
			r.size = 0
			r.resize(b, o)
		}
	}
	for try := 1; ; try++ {
		before := readLoad()
		b, err := r.run(ctx, r.workers, r.size)
		if err != nil {
			return err
		}
		if b.cases == 0 {
			return errors.New("it ran no case")
		}
		share, known := before.foreign(readLoad(), b.cpu+b.fewCPU)
		if known && share > o.calm/100 && try < calmTries {
			continue
		}
		r.add(b)
		if !o.smoke {
			r.resize(b, o)
		}
		if known {
			r.foreign = append(r.foreign, share)
		}
		return nil
	}
}

// resize sets the size of the next bursts to the intended duration, judging by the last burst. It
// never shrinks them, which a disturbed burst would cause.
func (r *row) resize(b burst, o options) {
	r.size = max(r.size, int64(max(b.rate(), b.steady())*o.seconds), int64(r.workers))
}

// calmTries limits the repetitions of a burst that others disturb.
const calmTries = 8

// add records a burst, and how it compares with the base's burst of the same round.
func (r *row) add(b burst) {
	r.lastRate = b.rate()
	r.rates = append(r.rates, b.rate())
	r.cpu = append(r.cpu, b.cpuMicros())
	if b.few > 0 {
		r.setups = append(r.setups, b.setup)
		r.steadies = append(r.steadies, b.steady())
	}
	if r.base == nil || r.base.lastRate == 0 {
		return
	}
	r.ratios = append(r.ratios, b.rate()/r.base.lastRate)
	if b.few > 0 {
		r.steadyRatios = append(r.steadyRatios, b.steady()/r.base.lastRate)
	}
}

// err returns the errors of Thresh itself. Another tool that does not work here is shown in the
// table and does not fail the bench.
func (t *tally) err() error {
	var errs []error
	for _, r := range t.rows {
		if r.failed != nil && isThresh(r.name) {
			errs = append(errs, fmt.Errorf("%s: %s, %d workers: %w", r.contest, r.name, r.workers, r.failed))
		}
	}
	return errors.Join(errs...)
}

// median is the middle value, or the mean of the two middle values, or 0 for an empty list.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(list))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
