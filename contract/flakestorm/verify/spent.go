package verify

import (
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/score"
)

// value is what a call cost in tokens or money.
func value(v *config.Invariant, r *Reply) (float64, error) {
	if !r.TokensKnown {
		return 0, fmt.Errorf("%s: the number of tokens is not known: neither the reply says it nor do the agent's calls to its LLM go through Thresh", v.Path)
	}
	if v.Type == "tokens" {
		return float64(r.InputTokens + r.OutputTokens), nil
	}
	return (float64(r.InputTokens)*v.InputPrice + float64(r.OutputTokens)*v.OutputPrice) / 1e6, nil
}

func checkUsage(v *config.Invariant, r *Reply) (Result, error) {
	x, err := value(v, r)
	if err != nil {
		return Result{}, err
	}
	return checkLimit(v, x, ""), nil
}

func checkLimit(v *config.Invariant, x float64, what string) Result {
	r := Result{Passed: (x <= v.Max) != v.Negate, Measure: fmt.Sprintf("%s%g", what, x), Reason: fmt.Sprintf("%s%s within %g", what, v.Type, v.Max)}
	if x > v.Max {
		r.Reason = fmt.Sprintf("%s%s above %g", what, v.Type, v.Max)
	}
	return r
}

// CheckAll checks an invariant over all replies of a cell, by its percentile.
func (c *Checker) CheckAll(v *config.Invariant, replies []Reply) (Result, error) {
	if len(replies) == 0 {
		return Result{}, fmt.Errorf("%s: there is no reply to measure", v.Path)
	}
	values := make([]float64, len(replies))
	for i := range replies {
		if v.Type == "latency" {
			values[i] = float64(replies[i].Latency)
			continue
		}
		x, err := value(v, &replies[i])
		if err != nil {
			return Result{}, err
		}
		values[i] = x
	}
	x, ok := score.Percentile(values, v.Percentile)
	if !ok {
		return Result{}, fmt.Errorf("%s: there is nothing to measure", v.Path)
	}
	what := fmt.Sprintf("p%g of %s: ", v.Percentile, diag.Plural(len(values), "call"))
	if v.Type == "latency" {
		r := latency(v, time.Duration(x))
		r.Measure, r.Reason = what+r.Measure, what+r.Reason
		return r, nil
	}
	return checkLimit(v, x, what), nil
}
