package mutator

import (
	"math/big"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/textop"
)

// Seed is a text to make children of.
type Seed struct {
	ID      string
	Text    string
	Bucket  textop.Bucket  // "": operators of any bucket
	Surface textop.Surface // "": operators of any surface
	// BucketTag and SurfaceTag are the two in the words of the seed's file.
	BucketTag, SurfaceTag string
	Ordinal               int64               // place among the seeds, from 0
	Goal                  string              // what the text was written for; "": it is the goal
	Strength              textop.Range        // in place of the configuration's, if it is not zero
	Constraints           *textop.Constraints // in place of the configuration's
}

// Config is how children are made.
type Config struct {
	SeedBase *big.Int
	Rule     textop.Rule
	Steps    int          // operators applied to a child; at least 1
	Strength textop.Range // drawn from it, if it is not one value
	Filter   Filter       // its bucket and surface are those of each seed
	Policy   Policy
	Weights  Weights // for Weighted
	// Chain is what every child is made by, in this order, in place of what a
	// policy chooses; an operator that skips has had its turn.
	Chain []Link
	// Redraws is how many further operators a step may try if one skips.
	Redraws     int
	Constraints textop.Constraints
	Partners    []string // texts for operators that cross two
}

// Mutator is a registry with a configuration. It is never changed once it is
// made; Learned makes another.
type Mutator struct {
	registry *Registry
	cfg      Config
	bandit   Bandit
	givenUp  []int // operators that are not applied any more
}

// New returns a mutator.
func New(r *Registry, cfg Config) *Mutator {
	if cfg.SeedBase == nil {
		cfg.SeedBase = big.NewInt(DefaultSeedBase)
	}
	cfg.Steps = max(cfg.Steps, 1)
	return &Mutator{registry: r, cfg: cfg}
}

// DefaultSeedBase is the seed_base of the engine that users know.
const DefaultSeedBase = 1337

// Learned returns the mutator with what a bandit has learned.
func (m *Mutator) Learned(b Bandit) *Mutator {
	next := *m
	next.bandit = b
	return &next
}

// Fixed returns the mutator with weights in place of what its policy says, for a
// bucket: what it chose by in a round that is over.
func (m *Mutator) Fixed(b textop.Bucket, weights map[string]float64) *Mutator {
	next := *m
	next.cfg.Policy, next.cfg.Weights = Weighted, Weights{b: weights}
	return &next
}

func (m *Mutator) key(b textop.Bucket, s textop.Surface) planKey {
	return planKey{b, s, m.cfg.Constraints.KeepControls}
}

// Odds returns how likely each operator is chosen for a bucket and a surface; nil unless the
// policy learns.
func (m *Mutator) Odds(b textop.Bucket, s textop.Surface) map[string]float64 {
	if !m.cfg.Policy.Learns() {
		return nil
	}
	p := m.plan(m.key(b, s))
	odds := make(map[string]float64, len(p.ops))
	for _, op := range p.ops {
		odds[m.registry.entries[op].Meta.ID] = p.probability(op)
	}
	return odds
}

// Filter returns the filter of the configuration.
func (m *Mutator) Filter() Filter { return m.cfg.Filter }

// Derive returns the derived seed of a testcase (OC-7.3).
func (m *Mutator) Derive(testcase string) uint64 {
	return textop.NewDeriver(m.cfg.Rule, m.cfg.SeedBase).Seed(testcase)
}

// Registry returns the operators that the mutator chooses from.
func (m *Mutator) Registry() *Registry { return m.registry }

// Operators returns those that can be chosen for a bucket and a surface, by their
// places in the registry. controls: children may hold control characters.
func (m *Mutator) Operators(b textop.Bucket, s textop.Surface, controls bool) []int {
	return m.plan(planKey{b, s, controls}).ops
}

// Candidates returns how many operators can be chosen for a bucket and a surface.
func (m *Mutator) Candidates(b textop.Bucket, s textop.Surface) int {
	return len(m.plan(m.key(b, s)).ops)
}

// maxChars is the length that children of a seed may have: what the
// constraints say or else the default of the guard, but room for twice the
// seed, so that a long seed is not beyond every operator.
func maxChars(c *textop.Constraints, seed string) int {
	switch {
	case c.MaxChars > 0:
		return c.MaxChars
	case 2*len(seed) <= textop.DefaultMaxChars: // bytes are no fewer than code points
		return textop.DefaultMaxChars
	}
	return max(textop.DefaultMaxChars, 2*utf8.RuneCountInString(seed))
}
