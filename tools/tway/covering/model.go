package covering

import (
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
)

// MaxStrength is the highest supported strength.
const MaxStrength = 6

// Model describes what to cover. Parameters and values are numbered from 0.
type Model struct {
	Levels   []int        // number of values, by parameter
	Strength int          // number of parameters per combination
	Conds    []solve.Cond // conditions on every row
	// Relations are groups of parameters with their own strength: a higher one adds combinations, a
	// lower one removes those entirely within the group, unless another group requires them.
	Relations []Relation
	Orders    []int    // by parameter: the size of its combinations, 0 for Strength; nil: all 0
	Outcome   []bool   // parameters that follow from others and are not combined; nil: none
	Invalid   [][]bool // values of which a row may hold at most one; nil: none
	Weights   [][]int  // preference for values where coverage leaves a choice; nil: all 1
	Rows      [][]int  // initial rows; solve.Open cells are filled
}

// Relation is a group of parameters, ascending, with its strength.
type Relation struct {
	Params   []int
	Strength int
}

// Tuple is a combination of values of some parameters, which are ascending.
type Tuple struct{ Params, Values []int }

// Limits of the sizes that are attempted.
const (
	maxSets   = 1 << 23
	maxTuples = 1 << 26
)

// ErrTooLarge is wrapped by the error for a model with too many combinations to list.
var ErrTooLarge = errors.New("too many combinations")

// Check reports why a model cannot be processed, or nil. Packages that read models report this
// earlier, with its place.
func (m *Model) Check() error {
	k := len(m.Levels)
	switch {
	case k == 0:
		return errors.New("the model has no parameters")
	case m.Strength < 1 || m.Strength > MaxStrength:
		return fmt.Errorf("the strength must be from 1 to %d, got %d", MaxStrength, m.Strength)
	}
	if n := m.combined(); m.Strength > n {
		return fmt.Errorf("the strength is %d, and there are %d parameters to combine", m.Strength, n)
	}
	for p, n := range m.Levels {
		if n < 1 {
			return fmt.Errorf("parameter %d has no values", p)
		}
		if m.Invalid != nil && len(m.Invalid[p]) > 0 && !slices.Contains(m.Invalid[p], false) {
			return fmt.Errorf("parameter %d has no valid value", p)
		}
		if n := m.order(p); n < 1 || n > min(MaxStrength, m.combined()) {
			return fmt.Errorf("parameter %d cannot be combined by %d", p, n)
		}
	}
	for i, r := range m.Relations {
		if r.Strength < 1 || r.Strength > min(MaxStrength, len(r.Params)) {
			return fmt.Errorf("relation %d of %d parameters cannot have strength %d", i, len(r.Params), r.Strength)
		}
	}
	for i, r := range m.Rows {
		if len(r) != k {
			return fmt.Errorf("row %d has %d cells, there are %d parameters", i, len(r), k)
		}
	}
	return nil
}

func (m *Model) outcome(p int) bool { return m.Outcome != nil && m.Outcome[p] }

// combined is the number of parameters that are combined.
func (m *Model) combined() int {
	n := len(m.Levels)
	for p := range m.Levels {
		if m.outcome(p) {
			n--
		}
	}
	return n
}

func (m *Model) order(p int) int {
	switch {
	case m.outcome(p):
		return 1
	case m.Orders != nil && m.Orders[p] > 0:
		return m.Orders[p]
	}
	return m.Strength
}

func (m *Model) invalid(p, x int) bool {
	return m.Invalid != nil && len(m.Invalid[p]) > 0 && m.Invalid[p][x]
}

// invalids is the number of invalid values of a tuple.
func (m *Model) invalids(params, values []int) int {
	n := 0
	for i, p := range params {
		if m.invalid(p, values[i]) {
			n++
		}
	}
	return n
}

// Sets lists the sets of parameters whose combinations must all be covered, by size and then in
// lexical order.
func (m *Model) Sets() ([][]int, error) {
	var plain, all []int
	for p := range m.Levels {
		all = append(all, p)
		if !m.outcome(p) {
			plain = append(plain, p)
		}
	}
	var list [][]int
	tuples := 0
	add := func(set []int) error {
		n := 1
		for _, p := range set {
			if n *= m.Levels[p]; n > maxTuples {
				break
			}
		}
		if tuples += n; tuples > maxTuples || len(list) > maxSets {
			return fmt.Errorf("%w: more than %d", ErrTooLarge, maxTuples)
		}
		list = append(list, slices.Clone(set))
		return nil
	}
	for size := 1; size <= MaxStrength; size++ {
		from := plain
		if size == 1 {
			from = all
		}
		if !slices.ContainsFunc(from, func(p int) bool { return m.order(p) == size }) {
			continue
		}
		err := subsets(from, size, func(set []int) error {
			if !slices.ContainsFunc(set, func(p int) bool { return m.order(p) == size }) || m.weakened(set) {
				return nil
			}
			return add(set)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, r := range m.Relations {
		err := subsets(r.Params, r.Strength, func(set []int) error { return add(set) })
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b []int) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return slices.Compare(a, b)
	})
	return slices.CompactFunc(list, slices.Equal), nil
}

// weakened reports whether a set lies within a relation of lower strength.
func (m *Model) weakened(set []int) bool {
	for _, r := range m.Relations {
		if r.Strength < len(set) && !slices.ContainsFunc(set, func(p int) bool { return !slices.Contains(r.Params, p) }) {
			return true
		}
	}
	return false
}

// subsets calls f with each subset of a size, in lexical order, until f fails.
func subsets(of []int, size int, f func([]int) error) error {
	set := make([]int, size)
	var next func(at, from int) error
	next = func(at, from int) error {
		if at == size {
			return f(set)
		}
		for i := from; i <= len(of)-(size-at); i++ {
			set[at] = of[i]
			if err := next(at+1, i+1); err != nil {
				return err
			}
		}
		return nil
	}
	return next(0, 0)
}
