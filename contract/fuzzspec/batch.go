package fuzzspec

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/process"
)

// batchExecutor passes many cases at once to the program of a guided campaign.
type batchExecutor struct {
	*executor
	batcher process.Batcher
	inputs  []byte // of a batch
	cases   []process.Case
}

// Unwrap implements [campaign.Wrapper].
func (x *batchExecutor) Unwrap() any { return x.executor }

// Batch implements [campaign.Batcher].
func (x *batchExecutor) Batch() (aim time.Duration, most int64) {
	return 16 * time.Millisecond, guidedRound
}

// ExecuteBatch implements [campaign.Batcher].
func (x *batchExecutor) ExecuteBatch(ctx context.Context, s any, cases []campaign.Case, each func(campaign.Case, campaign.Outcome) error) (time.Duration, error) {
	began := time.Now()
	st := s.(*state)
	from := x.c.pool(st)
	x.inputs, x.cases = x.inputs[:0], x.cases[:0]
	for _, at := range cases {
		if at.Payload == nil {
			start := len(x.inputs)
			x.inputs = append(x.inputs, x.lane.input(from, x.c.start+at.Index)...)
			pc := x.c.processCase(st, at, CaseRunID(x.c.set.campaignID, x.c.start+at.Index), x.inputs[start:len(x.inputs):len(x.inputs)], false)
			x.cases = append(x.cases, pc)
		}
	}
	made := x.cases
	for len(cases) > 0 {
		n, err := 0, error(nil)
		if len(made) == len(cases) {
			n, err = x.batcher.RunBatch(ctx, made, func(i int, res process.Result) error {
				o, err := x.outcome(ctx, st, cases[i], made[i], res)
				if err != nil {
					return err
				}
				return each(cases[i], o)
			})
			made = made[n:]
		}
		if err == nil && n == 0 {
			var o campaign.Outcome
			if o, err = x.Execute(ctx, st, cases[0]); err == nil {
				err = each(cases[0], o)
			}
			n, made = 1, made[min(1, len(made)):]
		}
		if err != nil {
			return time.Since(began), err
		}
		cases = cases[n:]
	}
	return time.Since(began), nil
}
