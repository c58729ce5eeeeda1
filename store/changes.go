package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/score"
)

// ScoreChange is a score in two runs; nil where a run has none.
type ScoreChange struct {
	Contract string   `json:"contract"`
	Campaign string   `json:"campaign"`
	Part     string   `json:"part,omitempty"` // of the score; "": the score itself
	A        *float64 `json:"a,omitempty"`
	B        *float64 `json:"b,omitempty"`
	// OtherParts means that the score has other parts in B than in A, so that the two
	// cannot be compared.
	OtherParts bool `json:"other_parts,omitempty"`
	// Chance tests the change of a whole score, by how many of the campaign's cases passed;
	// nil: the score did not change, or it cannot be tested.
	Chance *Chance `json:"chance,omitempty"`
}

// Chance is the result of an exact test of two counts: Fisher's, or McNemar's for pairs.
type Chance struct {
	P       float64 `json:"p"`       // two-sided; for a cell, corrected by Holm's method over all cells of the two runs, or over those of whole campaigns
	Verdict string  `json:"verdict"` // "better", "worse", or "no evidence of a change"
}

// significant is the level of p below which a change counts as significant.
const significant = 0.05

// noEvidence is the verdict on a change that chance explains.
const noEvidence = "no evidence of a change"

// Significant reports whether chance does not explain the change.
func (c *Chance) Significant() bool { return c.P < significant }

const worse = "worse"

func (c *Chance) worse() bool { return c != nil && c.Verdict == worse }

func chance(p float64, better bool) *Chance {
	switch {
	case p >= significant:
		return &Chance{p, noEvidence}
	case better:
		return &Chance{p, "better"}
	}
	return &Chance{p, worse}
}

// CellChange is a cell of a matrix with different rates in the two runs.
type CellChange struct {
	Contract string               `json:"contract"`
	Campaign string               `json:"campaign"`
	Row      string               `json:"row"`
	Column   string               `json:"column"`
	A        *campaign.MatrixCell `json:"a,omitempty"` // nil: the run has no such cell
	B        *campaign.MatrixCell `json:"b,omitempty"`
	Fewer    bool                 `json:"fewer_is_better,omitempty"` // the cell counts failures
	Guided   bool                 `json:"guided,omitempty"`          // replies decided which cases there were, so nothing is tested
	Paired   bool                 `json:"paired,omitempty"`          // counts only what both runs sent, tested by McNemar's exact test
	Chance   *Chance              `json:"chance,omitempty"`          // nil: the cell has no runs on one side, or was not tested
}

// Tested is a campaign whose cells were compared.
type Tested struct {
	Contract string `json:"contract"`
	Campaign string `json:"campaign"`
}

// Better reports whether the cell held more often in run B, or failed less often.
func (c CellChange) Better() bool {
	if c.Fewer && c.A != nil && c.B != nil && c.A.Total > 0 {
		return c.B.Total > 0 && c.B.Hits*c.A.Total < c.A.Hits*c.B.Total
	}
	return c.B != nil && c.B.Total > 0 && (c.A == nil || c.A.Total == 0 || c.B.Hits*c.A.Total > c.A.Hits*c.B.Total)
}

// Worse reports whether a score, or a cell of a matrix, got worse beyond chance.
func (c *Comparison) Worse() bool {
	return slices.ContainsFunc(c.Scores, func(x ScoreChange) bool { return x.Chance.worse() }) ||
		slices.ContainsFunc(c.Cells, func(x CellChange) bool { return x.Chance.worse() })
}

// CellsOfBoth returns the changed cells that have runs on both sides, and the number of the
// others, which can be neither better nor worse.
func (c *Comparison) CellsOfBoth() (both []CellChange, alone int) {
	for _, x := range c.Cells {
		switch {
		case x.Chance != nil:
			both = append(both, x)
		case !x.Guided:
			alone++
		}
	}
	return both, alone
}

// Counterparts pairs the campaigns of two runs by contract and name. If each run has a
// single campaign of a contract, these are a pair too, since the document for another
// version of a program may have another name. nil stands for a missing campaign.
func Counterparts(a, b campaign.Record) [][2]*campaign.CampaignRecord {
	only := func(r campaign.Record, contract string) *campaign.CampaignRecord {
		var one *campaign.CampaignRecord
		for i := range r.Campaigns {
			switch {
			case r.Campaigns[i].Contract != contract:
			case one != nil:
				return nil
			default:
				one = &r.Campaigns[i]
			}
		}
		return one
	}
	var pairs [][2]*campaign.CampaignRecord
	taken := make([]bool, len(b.Campaigns))
	for i := range a.Campaigns {
		x := &a.Campaigns[i]
		at := slices.IndexFunc(b.Campaigns, func(y campaign.CampaignRecord) bool { return y.Contract == x.Contract && y.Name == x.Name })
		if at < 0 && only(a, x.Contract) != nil && only(b, x.Contract) != nil {
			at = slices.IndexFunc(b.Campaigns, func(y campaign.CampaignRecord) bool { return y.Contract == x.Contract })
		}
		if at < 0 || taken[at] {
			pairs = append(pairs, [2]*campaign.CampaignRecord{x, nil})
			continue
		}
		taken[at] = true
		pairs = append(pairs, [2]*campaign.CampaignRecord{x, &b.Campaigns[at]})
	}
	for i := range b.Campaigns {
		if !taken[i] {
			pairs = append(pairs, [2]*campaign.CampaignRecord{nil, &b.Campaigns[i]})
		}
	}
	return pairs
}

// renamed maps the campaigns of run A to those of run B with another name.
func renamed(pairs [][2]*campaign.CampaignRecord) map[campaignKey]campaignKey {
	m := make(map[campaignKey]campaignKey)
	for _, p := range pairs {
		if p[0] != nil && p[1] != nil && p[0].Name != p[1].Name {
			m[campaignKey{p[0].Contract, p[0].Name}] = campaignKey{p[1].Contract, p[1].Name}
		}
	}
	return m
}

// scores returns the scores of campaigns that both runs have, each followed by its parts.
func scores(pairs [][2]*campaign.CampaignRecord) []ScoreChange {
	list := []ScoreChange{}
	for _, p := range pairs {
		a, b := p[0], p[1]
		if a == nil || b == nil || a.Score == nil && b.Score == nil {
			continue
		}
		same := func(x, y campaign.ScorePart) bool { return x.Name == y.Name }
		whole := ScoreChange{
			Contract: b.Contract, Campaign: b.Name, A: a.Score, B: b.Score, OtherParts: !slices.EqualFunc(a.Parts, b.Parts, same),
		}
		if x, y := a.Cases, b.Cases; !whole.OtherParts && a.Score != nil && b.Score != nil && *a.Score != *b.Score && x.Pass+x.Fail > 0 && y.Pass+y.Fail > 0 {
			better, more := *b.Score > *a.Score, y.Pass*x.Fail-x.Pass*y.Fail
			if better && more >= 0 || !better && more <= 0 { // otherwise the weights of cases decide, which counts say nothing about
				whole.Chance = chance(score.Fisher(x.Pass, x.Pass+x.Fail, y.Pass, y.Pass+y.Fail), better)
			}
		}
		list = append(list, whole)
		var names []string
		for _, x := range slices.Concat(a.Parts, b.Parts) {
			if !slices.Contains(names, x.Name) {
				names = append(names, x.Name)
			}
		}
		for _, n := range names {
			list = append(list, ScoreChange{Contract: b.Contract, Campaign: b.Name, Part: n, A: part(a.Parts, n), B: part(b.Parts, n)})
		}
	}
	return list
}

func part(list []campaign.ScorePart, name string) *float64 {
	for i := range list {
		if list[i].Name == name {
			return &list[i].Score
		}
	}
	return nil
}

// cells returns the cells of the campaigns' matrices that differ, in the order of run B;
// cells that only A has come last.
func cells(both [][2]*campaign.CampaignRecord, pair func(a, b *campaign.CampaignRecord) pairs) (list []CellChange, tested []Tested, guided map[campaignKey]pairs) {
	list, guided = []CellChange{}, make(map[campaignKey]pairs)
	var parts, wholes tests
	for _, p := range both {
		if p[0] == nil || p[1] == nil {
			continue
		}
		inA, orderA, measures := cellsOf(p[0])
		inB, orderB, later := cellsOf(p[1])
		maps.Copy(measures, later)
		seen, alls, replies := make(map[cellKey]bool), make(map[cellKey]int), false
		before := len(parts.p) + len(wholes.p)
		for _, k := range slices.Concat(orderB, orderA) {
			if seen[k] {
				continue
			}
			seen[k] = true
			a, b, changed := inA[k], inB[k], -1
			learns := measures[k.matrix] == campaign.OfGuided
			replies = replies || learns
			if !sameCell(a, b) {
				changed = len(list)
				list = append(list, CellChange{Contract: p[1].Contract, Campaign: p[1].Name, Row: k.row, Column: k.column, A: a, B: b, Fewer: learns || measures[k.matrix] == campaign.OfFailures, Guided: learns})
			}
			if !learns && a != nil && b != nil && a.Total > 0 && b.Total > 0 {
				all := cellKey{matrix: k.matrix, row: campaign.RowOfAll, column: k.column}
				if n, known := alls[all]; k == all {
					alls[all] = wholes.add(score.Fisher(a.Hits, a.Total, b.Hits, b.Total), changed)
				} else if known && sameCounts(a, inA[all]) && sameCounts(b, inB[all]) {
					wholes.at[n] = append(wholes.at[n], changed)
				} else {
					parts.add(score.Fisher(a.Hits, a.Total, b.Hits, b.Total), changed)
				}
			}
		}
		if len(parts.p)+len(wholes.p) > before {
			tested = append(tested, Tested{p[1].Contract, p[1].Name})
		}
		if !replies {
			continue
		}
		sent := pair(p[0], p[1])
		if guided[campaignKey{p[0].Contract, p[0].Name}] = sent; sent.both > 0 {
			cell, chance := sent.change(p[1].Contract, p[1].Name)
			wholes.add(chance, len(list))
			list = append(list, cell)
		}
	}
	parts.correct(list)
	wholes.correct(list)
	return list, tested, guided
}

// tests are the tests of the cells that both runs have. Cells of whole campaigns form a
// family of their own: one guard may be better than another even if no single operator
// shows it. A row with the same cases as the whole, such as the only seed, shares its test.
type tests struct {
	p  []float64
	at [][]int // indexes in the list of changes; -1: the cell did not change
}

func (t *tests) add(p float64, at int) (number int) {
	t.p, t.at = append(t.p, p), append(t.at, []int{at})
	return len(t.p) - 1
}

func (t *tests) correct(list []CellChange) {
	for i, p := range score.Holm(t.p) {
		for _, at := range t.at[i] {
			if at >= 0 {
				list[at].Chance = chance(p, list[at].Better())
			}
		}
	}
}

func sameCounts(a, b *campaign.MatrixCell) bool {
	return b != nil && a.Hits == b.Hits && a.Total == b.Total
}

// sameCell reports whether two cells have the same rate. A cell without runs equals a
// missing one.
func sameCell(a, b *campaign.MatrixCell) bool {
	none := func(c *campaign.MatrixCell) bool { return c == nil || c.Total == 0 }
	if none(a) || none(b) {
		return none(a) && none(b)
	}
	return a.Hits*b.Total == b.Hits*a.Total
}

type cellKey struct {
	matrix      string // the title of the matrix, up to what differs between runs
	row, column string
	again       int // number among cells with equal names
}

// cellsOf returns the cells of a campaign's matrices that can be better or worse, and what
// the matrices measure.
func cellsOf(c *campaign.CampaignRecord) (m map[cellKey]*campaign.MatrixCell, order []cellKey, measures map[string]string) {
	m, measures = make(map[cellKey]*campaign.MatrixCell), make(map[string]string)
	for i := range c.Exhibits {
		x := c.Exhibits[i].Matrix
		if x == nil || x.Measures == campaign.OfCounts {
			continue
		}
		title := c.Exhibits[i].Title
		if end := strings.IndexAny(title, ",:"); end >= 0 {
			title = title[:end]
		}
		measures[title] = x.Measures
		for r := range x.Cells {
			for k := range x.Cells[r] {
				key := cellKey{matrix: title, row: nameAt(x.Rows, r), column: nameAt(x.Columns, k)}
				for m[key] != nil {
					key.again++
				}
				m[key] = &x.Cells[r][k]
				order = append(order, key)
			}
		}
	}
	return m, order, measures
}

func nameAt(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprint(i)
}
