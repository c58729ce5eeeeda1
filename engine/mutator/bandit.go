package mutator

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Arm is an operator in a bucket.
type Arm struct{ Bucket, Op string }

// Reward is the result of one application: Value from 0 to 1, and the probability
// with which the operator was chosen.
type Reward struct {
	Arm
	Value       float64
	Probability float64
}

// compare orders arms by bucket and operator.
func (a Arm) compare(b Arm) int {
	return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Op, b.Op))
}

// armState is what is known about an arm.
type armState struct {
	n   int64   // applications
	sum float64 // of their rewards
	log float64 // logarithm of the EXP3 weight
}

// Bandit is what a learning policy has learned. It is an immutable value: Learn
// returns the next one, and all children of a round are chosen by the same one, so
// that none depends on another of its round. The zero value knows nothing.
type Bandit struct {
	arms map[Arm]armState
}

// exploration is the uniform part of EXP3's choices. Auer and others (2002) derive
// it from the horizon, which is unknown here.
const exploration = 0.1

// Learn returns the bandit after a round's rewards, in any order.
func (b Bandit) Learn(rewards []Reward) Bandit {
	rewards = slices.Clone(rewards)
	slices.SortFunc(rewards, func(x, y Reward) int { // sums of floats depend on the order
		return cmp.Or(x.Arm.compare(y.Arm), cmp.Compare(x.Probability, y.Probability), cmp.Compare(x.Value, y.Value))
	})
	next := Bandit{arms: maps.Clone(b.arms)}
	if next.arms == nil {
		next.arms = make(map[Arm]armState)
	}
	kinds := make(map[string]int)
	for a := range next.arms {
		kinds[a.Bucket]++
	}
	sums := make(map[Arm]float64)
	for _, r := range rewards {
		s, known := next.arms[r.Arm]
		if !known {
			kinds[r.Bucket]++
		}
		s.n++
		s.sum += r.Value
		next.arms[r.Arm] = s
		sums[r.Arm] += r.Value / max(r.Probability, 1e-3)
	}
	pulls := make(map[string]int)
	for _, r := range rewards {
		pulls[r.Bucket]++
	}
	for a, sum := range sums {
		s := next.arms[a]
		s.log += rate(kinds[a.Bucket], pulls[a.Bucket]) * sum
		next.arms[a] = s
	}
	return next
}

// rate is how far one estimate of EXP3 moves a weight, for a number of kinds. All
// choices of a round use one state, so a large round would push weights to their
// extremes: it counts as at most sixteen applications of every kind.
func rate(kinds, pulls int) float64 {
	return exploration / float64(kinds) * min(1, float64(16*kinds)/float64(max(pulls, 1)))
}

// Recall returns a bandit that starts with earlier statistics: a failed verdict is
// a reward of 1, a score counts as it is.
func Recall(stats *Stats) Bandit {
	b := Bandit{arms: make(map[Arm]armState)}
	for _, bucket := range stats.Buckets() {
		total := int64(0)
		for _, op := range stats.Operators(bucket) {
			total += stats.Get(bucket, op).N
		}
		for _, op := range stats.Operators(bucket) {
			t := stats.Get(bucket, op)
			s := armState{n: t.N, sum: float64(t.Fail)}
			if t.Scored > 0 && t.Pass+t.Fail == 0 {
				s.sum = t.MeanScore * float64(t.N)
			}
			kinds := len(stats.Operators(bucket))
			s.log = rate(kinds, int(total)) * s.sum * float64(kinds) // each was chosen one time in kinds
			b.arms[Arm{bucket, op}] = s
		}
	}
	return b
}

// Mean returns the number of rewards of an arm and their mean.
func (b Bandit) Mean(a Arm) (n int64, mean float64) {
	s := b.arms[a]
	if s.n == 0 {
		return 0, 0
	}
	return s.n, s.sum / float64(s.n)
}

// Arms returns the arms with a reward, by bucket and operator.
func (b Bandit) Arms() []Arm {
	return slices.SortedFunc(maps.Keys(b.arms), Arm.compare)
}

// exp3 returns the weights of EXP3 (Auer and others 2002), in the order of ops.
func (b Bandit) exp3(bucket string, ops []string) []float64 {
	weights := make([]float64, len(ops))
	top := math.Inf(-1)
	for _, op := range ops {
		top = max(top, b.arms[Arm{bucket, op}].log)
	}
	sum := 0.0
	for i, op := range ops {
		weights[i] = math.Exp(b.arms[Arm{bucket, op}].log - top)
		sum += weights[i]
	}
	for i := range weights {
		weights[i] = (1-exploration)*weights[i]/sum + exploration/float64(len(ops))
	}
	return weights
}

// ucb1 returns the weights of UCB1 (Auer and others 2002). The rule itself names
// one arm, the one with the highest bound; for a round of independent children its
// answers are computed in advance, as if every arm continued as before. How often
// it names each arm is the arm's weight.
func (b Bandit) ucb1(bucket string, ops []string) []float64 {
	type arm struct{ n, mean float64 }
	arms := make([]arm, len(ops))
	total := 0.0
	for i, op := range ops {
		n, mean := b.Mean(Arm{bucket, op})
		arms[i] = arm{float64(n), mean}
		total += float64(n)
	}
	weights := make([]float64, len(ops))
	for range 8 * len(ops) {
		best, bound := 0, math.Inf(-1)
		for i := range arms {
			u := math.Inf(1)
			if arms[i].n > 0 {
				u = arms[i].mean + math.Sqrt(2*math.Log(max(total, 1))/arms[i].n)
			}
			if u > bound {
				best, bound = i, u
			}
		}
		arms[best].n++
		total++
		weights[best]++
	}
	return weights
}
