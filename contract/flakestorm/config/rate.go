package config

import (
	"fmt"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/score"
)

// DefaultMaxRuns is how often a cell is run at most to judge its rate.
const DefaultMaxRuns = 200

// rate reads min_pass_rate, 0 if it is not given.
func (d *decoder) rate(s *section) float64 {
	const key = "min_pass_rate"
	n := s.opt(key)
	if f, ok := 0.0, n != nil; ok {
		if f, ok = looseNumber(n); ok && (f == 0 || f == 1) { // others are out of range
			d.report(diag.Error, n.Pos, "range", s.at(key), "leave it out to demand that every run holds", "must be above 0 and below 1, got %s", n.Text)
			return 0
		}
	}
	return s.number(key, 0)
}

// sampled gives the rows of the matrix the rate and the bound of the contract
// where they have none of their own. Elsewhere a prompt is asked once.
func (d *decoder) sampled(c *Config) {
	lists := [][]Invariant{c.Invariants}
	if c.Contract != nil {
		lists = append(lists, c.Contract.Invariants)
	}
	for i := range c.Prompts {
		lists = append(lists, c.Prompts[i].Expect)
		for _, t := range c.Prompts[i].Turns {
			lists = append(lists, t.Expect)
		}
	}
	for i, list := range lists {
		for k := range list {
			v := &list[k]
			if i > 0 && c.Contract != nil {
				d.row(v, c.Contract)
			} else if v.MinRate > 0 {
				d.warn(v.At, "no-effect", v.Path+".min_pass_rate", "put the invariant under contract.invariants", "only cells of a contract have rates")
				v.MinRate = 0
			}
		}
	}
}

func (d *decoder) row(v *Invariant, c *Contract) {
	own := v.MinRate > 0
	if v.MaxRuns == 0 {
		v.MaxRuns = c.MaxRuns
	}
	if v.Percentile > 0 {
		if own {
			d.fail(v.At, "two-rates", v.Path+".min_pass_rate", "is given together with percentile, which judges all runs of the cell at once: keep one of them")
		}
		v.MinRate = 0
		return
	}
	if !own {
		v.MinRate = c.MinRate
	}
	if v.MinRate > 0 && !score.NewSequence(v.MinRate, v.MaxRuns).Reachable() {
		d.warn(v.At, "too-few-runs", v.Path+".max_runs", fmt.Sprintf("%d runs can", needed(v.MinRate)), "%d runs cannot show a rate of %g even if all of them hold: the cell can only fail or stay undecided", v.MaxRuns, v.MinRate)
	}
}

// needed is the fewest runs that can show a rate: all of them hold.
func needed(rate float64) int {
	n := 1
	for p := rate; p > score.Level; p *= rate {
		n++
	}
	return n
}
