package score

import "math"

// Answer is what runs say about a rate.
type Answer uint8

// The answers.
const (
	Undecided Answer = iota
	Holds            // the rate is at least the target
	Fails            // it is below
)

func (a Answer) String() string { return [...]string{"undecided", "holds", "fails"}[a] }

// Level is the probability of either wrong answer.
const Level = 0.05

// Sequence decides, by runs one after the other, whether a rate is at least a target; it may be
// asked after each run. A rate below the target is judged to hold with a probability of at most 5
// %, over all looks together, and a rate that holds is judged to fail with no more. A bound for a
// single look would err more often the more often it is asked.
//
// Either probability is spent as runs accumulate (Lan and DeMets, 1983), and the limits are exact:
// they come from the binomial probabilities of all paths that reach a limit without having crossed
// one before.
type Sequence struct {
	holds []int // by runs: the fewest passes that prove it
	fails []int // by runs: the most passes that prove the opposite; -1: none do
}

// NewSequence returns the rule for a target above 0 and below 1, and a maximum number of runs, not
// counting those without a result.
func NewSequence(target float64, most int) Sequence {
	s := Sequence{holds: limits(target, most), fails: limits(1-target, most)}
	for n := range s.fails { // of the failures, as passes
		s.fails[n] = n - s.fails[n]
	}
	return s
}

// limits returns, for each number of runs, the fewest hits that a rate of hits below p reaches,
// over all runs up to then, with a probability of no more than what is spent.
func limits(p float64, most int) []int {
	list := make([]int, most+1)
	list[0] = 1
	chance := make([]float64, most+2) // by hits: not crossed so far
	chance[0] = 1
	spent := 0.0
	for n := 1; n <= most; n++ {
		for k := n; k > 0; k-- {
			chance[k] = chance[k]*(1-p) + chance[k-1]*p
		}
		chance[0] *= 1 - p
		budget := Level * math.Pow(float64(n)/float64(most), spending)
		k := n + 1
		for ; k > 0 && spent+chance[k-1] <= budget; k-- {
			spent += chance[k-1]
			chance[k-1] = 0
		}
		list[n] = k
	}
	return list
}

// spending is the power of time with which the probability is spent: the higher, the later, and the
// surer the last look.
const spending = 1.5

// Judge returns what the passes among the runs say; there are at most [Sequence.Most] runs.
func (s Sequence) Judge(passed, runs int) Answer {
	switch {
	case passed >= s.holds[runs]:
		return Holds
	case passed <= s.fails[runs]:
		return Fails
	}
	return Undecided
}

// More returns how many runs to make next: few at first, as a bad rate shows soon, an eighth of the
// existing ones later, and no more than would prove that the target holds if all of them pass.
func (s Sequence) More(passed, runs int) int {
	left := len(s.holds) - 1 - runs
	step := min(max(4, runs/8), left)
	for m := 1; m < step; m++ {
		if passed+m >= s.holds[runs+m] {
			return m
		}
	}
	return max(step, 0)
}

// Most returns the maximum number of runs.
func (s Sequence) Most() int { return len(s.holds) - 1 }

// Reachable reports whether the target can be proven if every run passes.
func (s Sequence) Reachable() bool { return s.holds[s.Most()] <= s.Most() }
