package operator

import (
	"context"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/engine/mutator"
)

// One in repeatEvery children that Python operators may have had a part in is
// made twice: what differs then does not depend on the generator alone.
const repeatEvery = 8

// breachRepeat is the kind of a child that cannot be made again.
const breachRepeat = "nondeterministic"

// makeChildren is [mutator.Lane.Make], with some children made twice and a breach
// in those that differ.
func makeChildren(ctx context.Context, lane *mutator.Lane, jobs []mutator.Job, yield func(*mutator.Child) error) error {
	if !lane.Remote() {
		return makeLane(ctx, lane, jobs, yield)
	}
	var twice []mutator.Job
	for _, j := range jobs {
		if len(jobs) == 1 || mutator.FingerprintOf(j.ID).Exact%repeatEvery == 0 {
			twice = append(twice, j)
		}
	}
	first := make(map[mutator.Job][]string, len(twice))
	err := makeLane(ctx, lane, twice, func(c *mutator.Child) error {
		first[c.Job] = stepLines(c)
		return nil
	})
	if err != nil {
		return err
	}
	return makeLane(ctx, lane, jobs, func(c *mutator.Child) error {
		if before, ok := first[c.Job]; ok {
			if now := stepLines(c); !slices.Equal(before, now) {
				differs(lane.Registry(), c, before, now)
			}
		}
		return yield(c)
	})
}

// stepLines are the steps of a child, each with what it made of the text.
func stepLines(c *mutator.Child) []string {
	lines := make([]string, len(c.Steps))
	for i := range c.Steps {
		lines[i] = fmt.Sprintf("%s %x", mutator.AppendStep(nil, &c.Steps[i]), c.Applied[i].After)
	}
	return lines
}

// differs blames an operator from outside for a child that came out differently:
// the one of the first step that did, or the last one before it, which may have
// drawn other numbers.
func differs(r *mutator.Registry, c *mutator.Child, before, now []string) {
	at := 0
	for at < min(len(before), len(now))-1 && before[at] == now[at] {
		at++
	}
	for ; at >= 0; at-- {
		if e := &r.Entries()[c.Applied[at].Op]; e.Kind == mutator.Python {
			c.Breaches = append(c.Breaches, mutator.Breach{
				Op: c.Applied[at].Op, Step: at, Kind: breachRepeat, At: e.Source,
				Text: "gives another result for the same text, context and generator (OC-5.3)",
			})
			return
		}
	}
}
