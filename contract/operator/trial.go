package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// giveUpAfter is the number of hangs after which a trial gives up an operator: each one costs the
// time limit of a call.
const giveUpAfter = 2

// Trial tries the selected Python operators on a few texts before a run, and returns the op_ids of
// those that hung too often. They are given up for the whole run: the decision depends on the
// operator alone, so that no child depends on earlier children. An operator that seldom hangs is
// applied however often it is chosen.
func (p *Plugins) Trial(ctx context.Context, chosen mutator.Filter) (endless []string, err error) {
	chosen.Controls = true
	host, err := p.Open(ctx)
	if err != nil || host == nil {
		return nil, err
	}
	defer host.Close()
	derive := textop.NewDeriver(textop.RuleContract, big.NewInt(snapshotBase))
	for i := range p.Entries {
		e := &p.Entries[i]
		if e.New != nil || !chosen.Allows(e.Meta) {
			continue
		}
		hung := 0
		for j, text := range probeTexts() {
			if strings.TrimSpace(text) == "" { // most operators leave it unchanged
				continue
			}
			pr := probe{text: text, strength: e.Meta.Strength.Clamp(2), testcase: fmt.Sprintf("trial:%d", j)}
			if len(e.Meta.Surfaces) > 0 {
				pr.surface = e.Meta.Surfaces[j%len(e.Meta.Surfaces)]
			}
			_, end, err := applyRemote(ctx, host, e, pr.text, pr.context(), derive.Seed(pr.testcase))
			if err != nil {
				return nil, fmt.Errorf("trying %s: %w", e.Meta.ID, err)
			}
			if end == pyhost.Hung {
				hung++
			}
			if hung == giveUpAfter {
				endless = append(endless, e.Meta.ID)
				break
			}
		}
	}
	return endless, nil
}

// GiveUp returns the mutator without the operators that hung in a trial.
func GiveUp(m *mutator.Mutator, endless []string) *mutator.Mutator {
	for _, id := range endless {
		if op := m.Registry().Find(id); op >= 0 {
			m = m.GivingUp(op)
		}
	}
	return m
}

// trialFacts is the result of a trial, for a run and for its resumption.
func trialFacts(endless []string) (campaign.Facts, error) {
	if len(endless) == 0 {
		return campaign.Facts{}, nil
	}
	data, err := json.Marshal(endless)
	if err != nil {
		return campaign.Facts{}, fmt.Errorf("writing the result of the trial of operators: %w", err)
	}
	return campaign.Facts{Data: data, Warnings: []string{EndlessWords(endless)}}, nil
}

// endlessOf decodes the result of [trialFacts].
func endlessOf(f campaign.Facts) []string {
	var endless []string
	if json.Unmarshal(f.Data, &endless) != nil { // none
		return nil
	}
	return endless
}

// EndlessWords describes the operators that were given up.
func EndlessWords(endless []string) string {
	return fmt.Sprintf("excluded, as they hung %d times when they were tried: %s", giveUpAfter, strings.Join(endless, ", "))
}
