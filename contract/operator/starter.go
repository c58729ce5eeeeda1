package operator

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/seq"
)

//go:embed starter/operators.json
var starterSpec []byte

//go:embed starter/seeds.jsonl
var starterSeeds []byte

//go:embed starter/assistant.system.yaml
var starterSystem []byte

//go:embed starter/op_lex_reverse_words.star
var starterOperator []byte

// starter returns a document that runs, its seeds, the system that receives them and an operator.
func starter() []campaign.File {
	return []campaign.File{
		{Name: "operators.json", Data: slices.Clone(starterSpec)},
		{Name: "seeds.jsonl", Data: slices.Clone(starterSeeds)},
		{Name: "assistant.system.yaml", Data: slices.Clone(starterSystem)},
		{Name: "operators/op_lex_reverse_words.star", Data: slices.Clone(starterOperator)},
	}
}

// shownChildren is the number of children shown in full, each of a different seed.
const shownChildren = 3

// examples shows children of the first seeds, made again because outcomes keep no texts: from seed
// to child, word by word, with the steps. There are none if an operator runs outside this process,
// or with an attacker, whose prompts are not made from seeds.
func (c *Campaign) examples(ctx context.Context, s *state) []campaign.Exhibit {
	entries := c.base.Registry().Entries()
	if c.attacker != nil || slices.ContainsFunc(entries, func(e mutator.Entry) bool { return e.New == nil }) {
		return nil
	}
	facts, err := trialFacts(seq.Map(s.m.GivenUp(), func(op int) string { return entries[op].Meta.ID }))
	if err != nil { // cannot fail: names
		return nil
	}
	first := c.Start(facts)
	shown := make(map[int32]bool)
	var jobs []mutator.Job
	for i := int64(0); i < min(c.due(first), s.done) && len(jobs) < shownChildren; i++ {
		if unit, job := c.job(first, i); !shown[unit] {
			shown[unit] = true
			jobs = append(jobs, job)
		}
	}
	lane := c.base.NewLane(nil)
	lane.Use(first.m)
	var list []campaign.Exhibit
	// No operator is remote, so only the context can cause an error.
	_ = makeLane(ctx, lane, jobs, func(child *mutator.Child) error {
		var line struct {
			Trace []step `json:"mutation_trace"`
		}
		if json.Unmarshal(mutator.AppendChild(nil, child), &line) != nil {
			return nil
		}
		diff, steps := diffExhibit("From seed to child "+child.ID, child.Seed.Text, child.Text), traceTable(line.Trace)
		steps.Title = fmt.Sprintf("Steps of %s, %s", child.ID, child.Status)
		list = append(list, diff, steps)
		return nil
	})
	return list
}
