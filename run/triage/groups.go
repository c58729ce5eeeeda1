package triage

import "github.com/thresh-dev/thresh/campaign"

// Limits that bound memory, whatever the target does.
const (
	// MaxPlaced is for how many failing cases a collection knows their groups.
	MaxPlaced = 1 << 16
	// MaxSamples is how many distinct inputs a group keeps.
	MaxSamples = 5
	// MaxGroups is how many groups a run distinguishes. Failing cases beyond
	// them are counted together in a group with fingerprint Overflow.
	MaxGroups = 10_000
)

// Overflow is the fingerprint of the group for failures beyond MaxGroups.
const Overflow = "overflow"

// Group is the failing cases of one fingerprint.
type Group struct {
	Fingerprint string
	Outcome     campaign.Outcome // of the first case, in case order
	Cases       int64
	Samples     []Sample // first distinct inputs, in case order
}

// Sample is one failing case of a group.
type Sample struct {
	Case  campaign.Case
	Input string // digest of the input; "" if the contract gives none
}

// Groups collects failing cases, which must come in case order.
type Groups struct {
	contract string
	most     int
	order    []*Group
	byPrint  map[string]*Group
	byCase   map[int64]*Group // of the first [MaxPlaced] failing cases
}

// NewGroups returns an empty collection for a contract's campaign. It
// distinguishes the groups that the run's earlier campaigns, which have before
// groups, leave of MaxGroups.
func NewGroups(contract string, before int) *Groups {
	return &Groups{contract: contract, most: max(MaxGroups-before, 0), byPrint: make(map[string]*Group), byCase: make(map[int64]*Group)}
}

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.order) }

// All returns the groups, ordered by first case.
func (g *Groups) All() []*Group { return g.order }

// Of returns the group of a failing case; nil: the case did not fail, or
// [MaxPlaced] others failed before it.
func (g *Groups) Of(index int64) *Group { return g.byCase[index] }

// Add counts one failing case. It returns the case's group, and whether the
// case was kept as a sample.
func (g *Groups) Add(c campaign.Case, o *campaign.Outcome) (group *Group, sampled bool) {
	print := Fingerprint(g.contract, o)
	group, known := g.byPrint[print]
	if !known && len(g.order) >= g.most {
		print = Overflow
		group, known = g.byPrint[print]
	}
	if !known {
		group = &Group{Fingerprint: print, Outcome: *o}
		group.Outcome.Evidence = nil
		if print == Overflow {
			group.Outcome.Title = "further failures, not distinguished"
			group.Outcome.Cause, group.Outcome.Signature = nil, ""
		}
		g.byPrint[print] = group
		g.order = append(g.order, group)
	}
	if len(g.byCase) < MaxPlaced {
		g.byCase[c.Index] = group
	}
	group.Cases++
	group.Outcome.Severity = max(group.Outcome.Severity, o.Severity)
	if len(group.Samples) >= MaxSamples {
		return group, false
	}
	for _, s := range group.Samples {
		if o.Input != "" && s.Input == o.Input {
			return group, false
		}
	}
	group.Samples = append(group.Samples, Sample{Case: c, Input: o.Input})
	return group, true
}
