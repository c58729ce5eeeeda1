package mutator

import (
	"fmt"
	"sort"

	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Policy is how operators are chosen among those that pass the filter.
type Policy string

// The policies. Those that learn do so between rounds, from a [Bandit].
const (
	Uniform    Policy = "uniform"     // each as likely as any other
	Weighted   Policy = "weighted"    // by the weights that are given
	RoundRobin Policy = "round-robin" // in turn, by the child's index
	UCB1       Policy = "ucb1"        // by upper confidence bounds of rewards
	EXP3       Policy = "exp3"        // by exponential weights
	Search     Policy = "search"      // chains that engine/redteam finds; without chains, like Uniform
)

// Policies returns all policies.
func Policies() []Policy { return []Policy{Uniform, Weighted, RoundRobin, UCB1, EXP3, Search} }

// Learns reports whether the policy depends on rewards.
func (p Policy) Learns() bool { return p == UCB1 || p == EXP3 }

// Weights are factors by bucket and operator; the bucket "" is for all.
// Anything else has factor 1.
type Weights map[textop.Bucket]map[string]float64

// Of returns the factor of an operator in a bucket, at least 0.
func (w Weights) Of(b textop.Bucket, op string) float64 {
	f, ok := w[b][op]
	if !ok {
		f, ok = w[""][op]
	}
	if !ok {
		return 1
	}
	return max(f, 0)
}

// plan is what can be chosen for a bucket and a surface.
type plan struct {
	ops  []int     // indexes in the registry
	sums []float64 // running sums of their weights; nil: equal weights
	turn bool      // choose in turn
}

// plan makes the plan for seeds of a kind.
func (m *Mutator) plan(key planKey) *plan {
	f, b := m.cfg.Filter, key.bucket
	f.Bucket, f.Surface, f.Controls = b, key.surface, key.controls
	p := &plan{ops: m.registry.Select(f), turn: m.cfg.Policy == RoundRobin}
	if len(p.ops) == 0 {
		return p
	}
	var weights []float64
	ids := seq.Map(p.ops, func(op int) string { return m.registry.entries[op].Meta.ID })
	switch m.cfg.Policy {
	case Weighted:
		weights = make([]float64, len(ids))
		for i, id := range ids {
			weights[i] = m.cfg.Weights.Of(b, id)
		}
	case UCB1:
		weights = m.bandit.ucb1(string(b), ids)
	case EXP3:
		weights = m.bandit.exp3(string(b), ids)
	}
	total := 0.0
	for i, w := range weights {
		total += w
		weights[i] = total
	}
	if total > 0 {
		p.sums = weights
	}
	return p
}

// pick chooses an operator of the plan. turn is the child's position in its
// seed's sequence, counted in applications.
func (p *plan) pick(rng *pyrand.Rand, turn uint64) int {
	switch {
	case p.turn:
		return p.ops[turn%uint64(len(p.ops))]
	case p.sums == nil:
		return p.ops[rng.Below(uint64(len(p.ops)))]
	}
	at := rng.Float64() * p.sums[len(p.sums)-1]
	i := sort.Search(len(p.sums)-1, func(i int) bool { return p.sums[i] > at })
	return p.ops[i]
}

// probability returns how likely pick chooses an operator.
func (p *plan) probability(op int) float64 {
	for i, o := range p.ops {
		if o != op {
			continue
		}
		if p.sums == nil {
			return 1 / float64(len(p.ops))
		}
		w := p.sums[i]
		if i > 0 {
			w -= p.sums[i-1]
		}
		return w / p.sums[len(p.sums)-1]
	}
	return 0
}

// ParsePolicy reads the name of a policy.
func ParsePolicy(name string) (Policy, error) {
	for _, p := range Policies() {
		if string(p) == name {
			return p, nil
		}
	}
	return "", fmt.Errorf("there is no policy %q: expected one of %v", name, Policies())
}
