package store

import (
	"fmt"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/score"
)

// pairs counts how two runs of a campaign ended on what both of them sent.
type pairs struct {
	a, b, both   int64 // failures of each, and how much both sent
	onlyA, onlyB int64 // failures of only one run
}

// pair counts what both runs sent of a campaign whose replies decide what is sent next.
// Only these pairs can be tested in such runs: whether the system fails on something does
// not depend on how the run came to send it.
func (s *Store) pair(runA, runB string) func(a, b *campaign.CampaignRecord) pairs {
	return func(a, b *campaign.CampaignRecord) (p pairs) {
		if s == nil {
			return p
		}
		inA, inB := s.sent(runA, a), s.sent(runB, b)
		for what, x := range inA {
			y, both := inB[what]
			if !both {
				continue
			}
			p.both++
			if x {
				p.a++
			}
			if y {
				p.b++
			}
			switch {
			case x && !y:
				p.onlyA++
			case y && !x:
				p.onlyB++
			}
		}
		return p
	}
}

// sent maps what the cases of a campaign sent to whether the system failed the first time.
func (s *Store) sent(runID string, c *campaign.CampaignRecord) map[uint64]bool {
	pairer, sends := s.contract(c.Contract).(campaign.Pairer)
	if !sends {
		return nil
	}
	sent := make(map[uint64]bool)
	s.outcomes(runID, c, func(e Entry, again bool) {
		if again {
			clear(sent)
		}
		if what, failed, ok := pairer.Sent(e.Outcome.Data); ok {
			if _, again := sent[what]; !again {
				sent[what] = failed
			}
		}
	})
	return sent
}

// change returns the pairs of two runs as a cell, and the p-value of McNemar's test.
func (p pairs) change(contract, name string) (CellChange, float64) {
	cell := func(hits int64) *campaign.MatrixCell {
		m := campaign.MatrixCell{Hits: hits, Total: p.both}
		m.Low, m.High = score.Wilson(int(hits), int(p.both))
		return &m
	}
	return CellChange{Contract: contract, Campaign: name, Row: "prompts that both runs sent", Column: "success", A: cell(p.a), B: cell(p.b), Fewer: true, Paired: true}, score.McNemar(p.onlyA, p.onlyB)
}

// few says how to test more than the pairs.
func (p pairs) few(name string) string {
	return fmt.Sprintf("the runs of %s have %s in common, since replies decide what it sends next; with --policy uniform both runs send the same", name, diag.Plural(int(p.both), "prompt"))
}
