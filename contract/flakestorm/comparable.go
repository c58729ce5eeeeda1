package flakestorm

import "github.com/thresh-dev/thresh/campaign"

// Comparable implements [campaign.Comparable]: an agent may put the same into other
// words, and holds or breaks its invariants all the same.
func (c *Campaign) Comparable() campaign.Comparison { return campaign.CompareVerdict }
