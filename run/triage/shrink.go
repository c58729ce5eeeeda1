package triage

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// errBudget ends a reduction; the smallest payload so far counts.
var errBudget = errors.New("shrink budget spent")

// slowBudget bounds the time that reducing a slow finding may take: a case
// that needs whole seconds (a hang) gets fewer tries. Whole seconds keep the
// number of tries the same from run to run.
const slowBudget = 60 * time.Second

// verifications is how often the smaller payload must fail again before it counts.
const verifications = 2

// maxErrors is how many tries in a row may end without a result.
const maxErrors = 3

// Reduced is the result of minimizing a finding's case.
type Reduced struct {
	Payload  []byte
	Outcome  campaign.Outcome // of the verification
	Tries    int              // executions spent, verification included
	Verified bool             // Payload failed again with the same fingerprint
	NoResult bool             // nor did it hold: no run of it had a result
	Spent    bool             // the budget ended the search
	// OneMinimal names the parts of Payload, such as "byte", if no single one can be
	// removed; "": unknown.
	OneMinimal string
}

// Budget limits what may be spent on minimizing a finding's case.
type Budget struct {
	Tries   int           // executions
	Until   time.Time     // no try begins after it; zero: no limit
	Slowest time.Duration // the longest time that the case took; a slow case gets fewer tries
}

// Reduce asks the campaign for a smaller payload that still fails with the fingerprint,
// within the budget, and verifies the result by running it again. A payload that cannot
// be reduced is returned as it was.
func Reduce(ctx context.Context, r campaign.Reducer, exec Execute, contract, fingerprint string, c campaign.Case, b Budget) (Reduced, error) {
	budget := b.Tries
	if s := int(b.Slowest / time.Second); s > 0 {
		budget = min(budget, int(slowBudget/time.Second)/(s+1))
	}
	var red Reduced
	var failure error
	errs := 0
	test := func(payload []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			failure = err
			return false, err
		}
		if red.Tries >= budget || !b.Until.IsZero() && time.Now().After(b.Until) {
			red.Spent = true
			return false, errBudget
		}
		red.Tries++
		if payload == nil {
			payload = []byte{} // nil would ask for the case's own input
		}
		o, err := exec(ctx, campaign.Case{Round: c.Round, Index: c.Index, Payload: payload})
		if err != nil {
			failure = err
			return false, err
		}
		if o.Verdict != campaign.VerdictError {
			errs = 0
		} else if errs++; errs >= maxErrors {
			red.Spent = true
			return false, errBudget
		}
		return Shows(contract, fingerprint, &o), nil
	}
	red.Payload, red.Spent = c.Payload, budget <= 0
	parts := ""
	if budget > 0 {
		red.Payload, parts = r.Reduce(ctx, c.Payload, test)
		red.Payload = bytes.Clone(red.Payload)
	}
	if red.Payload == nil {
		red.Payload = []byte{}
	}
	if failure != nil && !errors.Is(failure, errBudget) {
		return red, failure
	}
	conf, err := Confirm(ctx, exec, contract, campaign.Case{Round: c.Round, Index: c.Index, Payload: red.Payload}, fingerprint, verifications)
	if err != nil {
		return red, err
	}
	red.Tries += verifications
	red.NoResult = conf.Rerun.Tried == 0
	if red.Verified = !conf.Flaky(); red.Verified {
		red.Outcome = conf.Outcome
		if !red.Spent && ctx.Err() == nil {
			red.OneMinimal = parts
		}
	}
	return red, nil
}
