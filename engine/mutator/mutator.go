package mutator

import (
	"math/big"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/textop"
)

// Seed is a text to mutate.
type Seed struct {
	ID      string
	Text    string
	Bucket  textop.Bucket  // "": operators of any bucket
	Surface textop.Surface // "": operators of any surface
	// BucketTag and SurfaceTag are bucket and surface in the words of the seed's file.
	BucketTag, SurfaceTag string
	Ordinal               int64               // index among the seeds, from 0
	Goal                  string              // the goal of the text; "": the text is the goal
	Strength              textop.Range        // replaces the configuration's, unless zero
	Constraints           *textop.Constraints // replace the configuration's
}

// Config says how children are made.
type Config struct {
	SeedBase *big.Int
	Rule     textop.Rule
	Steps    int          // operators applied to a child; at least 1
	Strength textop.Range // drawn from it, if it is not one value
	Filter   Filter       // its bucket and surface are those of each seed
	Policy   Policy
	Weights  Weights // for Weighted
	// Chain lists the operators that make every child, in this order, instead of a policy's
	// choice; an operator that skips uses up its turn.
	Chain []Link
	// Redraws is how many further operators a step may try if one skips.
	Redraws     int
	Constraints textop.Constraints
	Partners    []string // texts for operators that combine two
}

// Mutator is a registry with a configuration. It is immutable; Learned makes another.
type Mutator struct {
	registry *Registry
	cfg      Config
	bandit   Bandit
	givenUp  []int // operators that are no longer applied
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

// Fixed returns the mutator with weights for a bucket instead of those of its policy, such
// as the weights of an earlier round.
func (m *Mutator) Fixed(b textop.Bucket, weights map[string]float64) *Mutator {
	next := *m
	next.cfg.Policy, next.cfg.Weights = Weighted, Weights{b: weights}
	return &next
}

func (m *Mutator) key(b textop.Bucket, s textop.Surface) planKey {
	return planKey{b, s, m.cfg.Constraints.KeepControls}
}

// Odds returns the probability of each operator for a bucket and a surface; nil unless the
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

// Operators returns the operators that can be chosen for a bucket and a surface, by index in
// the registry. controls: children may contain control characters.
func (m *Mutator) Operators(b textop.Bucket, s textop.Surface, controls bool) []int {
	return m.plan(planKey{b, s, controls}).ops
}

// Candidates returns how many operators can be chosen for a bucket and a surface.
func (m *Mutator) Candidates(b textop.Bucket, s textop.Surface) int {
	return len(m.plan(m.key(b, s)).ops)
}

// maxChars returns the maximum length of children of a seed: that of the constraints or else
// the guard's default, but at least twice the length of the seed, so that operators can work
// on a long seed.
func maxChars(c *textop.Constraints, seed string) int {
	switch {
	case c.MaxChars > 0:
		return c.MaxChars
	case 2*len(seed) <= textop.DefaultMaxChars: // bytes are no fewer than code points
		return textop.DefaultMaxChars
	}
	return max(textop.DefaultMaxChars, 2*utf8.RuneCountInString(seed))
}
