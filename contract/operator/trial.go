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

// giveUpAfter is how often an operator may hang while it is tried: every time
// costs what a call may take.
const giveUpAfter = 2

// Trial tries the operators in Python that can be chosen on a few texts before a
// run, and returns
// the op_ids of those that hung too often. They are given up for the whole run:
// what is decided here depends on the operator alone, so that no child depends
// on the children before it. An operator that hangs seldom is applied, however
// often it is chosen.
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
			if strings.TrimSpace(text) == "" { // which most operators leave alone
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

// GiveUp returns the mutator without the operators that a trial found to hang.
func GiveUp(m *mutator.Mutator, endless []string) *mutator.Mutator {
	for _, id := range endless {
		if op := m.Registry().Find(id); op >= 0 {
			m = m.GivingUp(op)
		}
	}
	return m
}

// trialFacts is what a trial found, for a run and whoever resumes it.
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

// endlessOf reads what [trialFacts] wrote.
func endlessOf(f campaign.Facts) []string {
	var endless []string
	if json.Unmarshal(f.Data, &endless) != nil { // none
		return nil
	}
	return endless
}

// EndlessWords says what was given up.
func EndlessWords(endless []string) string {
	return fmt.Sprintf("excluded, as they hung %d times when they were tried: %s", giveUpAfter, strings.Join(endless, ", "))
}
