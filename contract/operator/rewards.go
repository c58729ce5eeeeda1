package operator

import (
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// judged is what an oracle says of a case.
func (c *Campaign) judged(id string, f *facts) (v Verdict, judged bool) {
	switch {
	case f.unjudged:
		return Verdict{}, false
	case f.judged:
		return Verdict{Judgement: f.judgement, Score: f.score}, true
	}
	v, judged = c.verdicts[id]
	return v, judged
}

// rewards is what a child was worth to the operators that made it: what the
// oracle says, and without one whether the child is new.
func (c *Campaign) rewards(odds map[string]float64, seed *mutator.Seed, f *facts, match mutator.Match, judged bool, v Verdict) []mutator.Reward {
	if f.unjudged {
		return nil // nobody knows what it was worth
	}
	value := 0.0
	switch {
	case judged:
		value = v.reward()
	case c.oracle == "" && c.plan == nil && c.verdicts == nil && f.status == textop.OK && !c.rejects(match):
		value = 1
	}
	var list []mutator.Reward
	for _, a := range f.applied {
		if a.Status != textop.OK && judged {
			continue // had no part in what was judged
		}
		id := c.base.Registry().Entries()[a.Op].Meta.ID
		r := mutator.Reward{Arm: mutator.Arm{Bucket: string(seed.Bucket), Op: id}, Probability: odds[id]}
		if a.Status == textop.OK {
			r.Value = value
		}
		list = append(list, r)
	}
	return list
}
