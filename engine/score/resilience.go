package score

import (
	"fmt"
	"strings"
)

// Trial is one test with a weight, such as a mutated prompt of a type.
type Trial struct {
	Weight float64
	Passed bool
}

// Weighted returns the share of the weight that passed, from 0 to 1. ok is false if
// no weight is above zero: nothing was tested, or nothing that counts.
func Weighted(trials []Trial) (score float64, ok bool) {
	var won, all float64
	for _, t := range trials {
		all += t.Weight
		if t.Passed {
			won += t.Weight
		}
	}
	if all <= 0 {
		return 0, false
	}
	return won / all, true
}

// Weights are the weights of the components in the whole.
type Weights struct {
	Mutation float64 `json:"mutation"`
	Chaos    float64 `json:"chaos"`
	Contract float64 `json:"contract"`
	Replay   float64 `json:"replay"`
}

type named struct {
	name   string
	weight float64
}

func (w Weights) list() []named {
	return []named{{"mutation", w.Mutation}, {"chaos", w.Chaos}, {"contract", w.Contract}, {"replay", w.Replay}}
}

// Parts are the scores of the components, from 0 to 1; nil: the component did not
// run.
type Parts struct{ Mutation, Chaos, Contract, Replay *float64 }

// Share is one component's share of the whole.
type Share struct {
	Name   string  `json:"name"`
	Ran    bool    `json:"ran"`
	Score  float64 `json:"score"`
	Weight float64 `json:"weight"` // as configured
	// Counts is the weight after distributing the weights of components that did not
	// run: weight divided by the sum of weights that ran.
	Counts float64 `json:"counts"`
}

// Whole is the resilience score.
type Whole struct {
	Score  float64 `json:"score"` // 0 to 1
	Shares []Share `json:"shares"`
	// Absent are components that did not run, so that the weights of the others were
	// scaled up; a report must say so.
	Absent []string `json:"absent,omitempty"`
}

// Interval returns the 95 % interval of the whole, given the number of tests of
// equal weight by component name.
func (w Whole) Interval(tests map[string]float64) (low, high float64) {
	spread := 0.0
	for _, s := range w.Shares {
		if n := tests[s.Name]; s.Ran && n > 0 {
			spread += s.Counts * s.Counts / n
		}
	}
	if spread == 0 {
		return 0, 1
	}
	return Interval(w.Score, 1/spread)
}

// Resilience returns the weighted mean of the components that ran. ok is false if
// none ran, or none with a weight above zero.
func Resilience(p Parts, w Weights) (whole Whole, ok bool) {
	scores := []*float64{p.Mutation, p.Chaos, p.Contract, p.Replay}
	sum := 0.0
	for i, c := range w.list() {
		s := Share{Name: c.name, Weight: c.weight}
		if scores[i] == nil {
			whole.Absent = append(whole.Absent, c.name)
		} else {
			s.Ran, s.Score = true, *scores[i]
			sum += c.weight
		}
		whole.Shares = append(whole.Shares, s)
	}
	if sum <= 0 {
		return whole, false
	}
	for i := range whole.Shares {
		if s := &whole.Shares[i]; s.Ran {
			s.Counts = s.Weight / sum
			whole.Score += s.Score * s.Weight
		}
	}
	whole.Score /= sum
	return whole, true
}

// String returns the whole in one line: "73.1% = 0.22 x 100.0% (mutation) + ...".
func (w Whole) String() string {
	var terms []string
	for _, s := range w.Shares {
		if s.Ran {
			terms = append(terms, fmt.Sprintf("%.2f x %s (%s)", s.Counts, Percent(s.Score), s.Name))
		}
	}
	text := fmt.Sprintf("%s = %s", Percent(w.Score), strings.Join(terms, " + "))
	if len(w.Absent) > 0 {
		text += "; did not run: " + strings.Join(w.Absent, ", ")
	}
	return text
}
