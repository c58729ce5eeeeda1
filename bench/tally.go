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

// row is a contender with a number of workers, and what came of its bursts.
type row struct {
	contest string
	contender
	workers int
	base    *row  // nil: it is one
	size    int64 // cases of a burst; 0 until a pilot has told

	rates, steadies, setups   []float64
	ratios, steadyRatios, cpu []float64
	foreign                   []float64
	lastRate                  float64 // of this round; 0 if there is none
	failed                    error   // it is not run again
}

// tally is all rows, in the order in which they are run.
type tally struct{ rows []*row }

// newTally makes a row for each contender with one worker and with as many as
// there are processors. A base comes before what is held against it.
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

// patience bounds one burst; a tool that hangs must not hang the bench.
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

// burst runs one burst and notes what came of it.
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

// resize makes the next bursts as long as they are meant to be, going by the
// last; it never makes them shorter, which a disturbed one would.
func (r *row) resize(b burst, o options) {
	r.size = max(r.size, int64(max(b.rate(), b.steady())*o.seconds), int64(r.workers))
}

// calmTries is how often a burst is made, if others disturb it, before it is
// taken as it is.
const calmTries = 8

// add notes a burst, and how it compares with the base's of the same round.
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

// err is what went wrong with Thresh itself. That another tool refuses to work
// here is told in the table and no failure of the bench.
func (t *tally) err() error {
	var errs []error
	for _, r := range t.rows {
		if r.failed != nil && isThresh(r.name) {
			errs = append(errs, fmt.Errorf("%s: %s, %d workers: %w", r.contest, r.name, r.workers, r.failed))
		}
	}
	return errors.Join(errs...)
}

// median is the middle value, of an even number the mean of the two in the
// middle, and 0 of none.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(list))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
