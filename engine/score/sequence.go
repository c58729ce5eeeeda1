package score

import "math"

// Answer is what runs say of a rate.
type Answer uint8

// The answers.
const (
	Undecided Answer = iota
	Holds            // the rate is at least the target
	Fails            // it is below
)

func (a Answer) String() string { return [...]string{"undecided", "holds", "fails"}[a] }

// Level is the chance of either wrong answer.
const Level = 0.05

// Sequence decides whether a rate is at least a target by runs one after the
// other, and may be asked after each of them. A rate below the target is called
// one that holds with a chance of at most 5 %, over all looks together, and one
// that holds is called one that fails with no more: a bound that is made for a
// single look would err more often the more often it is looked at.
//
// Either chance is spent in the measure of the runs (Lan and DeMets, 1983), and
// the limits are exact: they come from the binomial probabilities of all ways
// that lead to them without having crossed one before.
type Sequence struct {
	holds []int // by runs: the fewest passes that show it
	fails []int // by runs: the most passes that show the opposite; -1: none do
}

// NewSequence returns the rule for a target above 0 and below 1, and at most so many
// runs, of which none say nothing.
func NewSequence(target float64, most int) Sequence {
	s := Sequence{holds: limits(target, most), fails: limits(1-target, most)}
	for n := range s.fails { // of the failures, as passes
		s.fails[n] = n - s.fails[n]
	}
	return s
}

// limits are, for each number of runs, the fewest hits that a rate of hits below
// p has, over all runs up to then, with a chance of no more than what is spent.
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

// spending is the power of time with which the chance is spent: the higher, the
// later, and the surer the last look.
const spending = 1.5

// Judge returns what so many passes of so many runs say, of which there are at most [Sequence.Most].
func (s Sequence) Judge(passed, runs int) Answer {
	switch {
	case passed >= s.holds[runs]:
		return Holds
	case passed <= s.fails[runs]:
		return Fails
	}
	return Undecided
}

// More returns how many runs to make next: few at first, as a bad rate shows soon,
// an eighth of those that there are later, and no more than show that the target
// holds if all of them pass.
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

// Most returns how many runs there are at most.
func (s Sequence) Most() int { return len(s.holds) - 1 }

// Reachable reports whether the target holds at all if every run passes.
func (s Sequence) Reachable() bool { return s.holds[s.Most()] <= s.Most() }
