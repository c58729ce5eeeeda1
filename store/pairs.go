package store

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/score"
)

// pairs is how two runs of a campaign ended that sent the same.
type pairs struct {
	a, b, both   int64          // failures of each, and how much both sent
	onlyA, onlyB int64          // of those, failures of one run alone
	resent       map[int64]bool // cases of A whose prompts B sent too
}

// pair counts what both runs sent of a campaign whose replies decide what is sent
// next. Of such runs these pairs alone can be tested: whether the system fails on
// something does not hang on how the run came to send it.
func (s *Store) pair(runA, runB string) func(a, b *campaign.CampaignRecord) pairs {
	return func(a, b *campaign.CampaignRecord) (p pairs) {
		if s.Pairer == nil {
			return p
		}
		inA, inB := s.sent(runA, a), s.sent(runB, b)
		p.resent = make(map[int64]bool)
		for what, x := range inA {
			y, both := inB[what]
			if !both {
				continue
			}
			p.both++
			p.resent[x.index] = true
			if x.failed {
				p.a++
			}
			if y.failed {
				p.b++
			}
			switch {
			case x.failed && !y.failed:
				p.onlyA++
			case y.failed && !x.failed:
				p.onlyB++
			}
		}
		return p
	}
}

// sending is the first case that sent something, and whether the system failed then.
type sending struct {
	index  int64
	failed bool
}

// sent is what the cases of a campaign sent.
func (s *Store) sent(runID string, c *campaign.CampaignRecord) map[uint64]sending {
	pairer := s.Pairer(c.Contract)
	j, err := s.OpenJournal(runID)
	if err != nil || pairer == nil {
		return nil // the run is a report's, or sends nothing
	}
	defer j.Close()
	k := slices.Index(j.Manifest().Identities, campaign.Identity{Contract: c.Contract, Name: c.Name, Digest: c.Identity})
	sent, attempt := make(map[uint64]sending), 0
	for e, err := range j.Entries() {
		if err != nil {
			break
		}
		if e.Kind != KindOutcome || e.Campaign != k || e.Attempt < attempt {
			continue
		}
		if e.Attempt > attempt {
			clear(sent)
			attempt = e.Attempt
		}
		if what, failed, ok := pairer.Sent(e.Outcome.Data); ok {
			if _, again := sent[what]; !again {
				sent[what] = sending{e.Case.Index, failed}
			}
		}
	}
	return sent
}

// change is what the pairs of two runs say, as a cell, and the p-value of McNemar's test.
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
