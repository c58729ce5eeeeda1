// Package tway makes covering arrays: few rows of values that contain every
// combination of the values of any t parameters, as far as conditions allow.
//
// Each parameter's values occur on their own; groups of parameters are combined by
// two to six. Combinations that no row can have are proven impossible, with the
// conditions that conflict. An array is built greedily, one row at a time.
// Everything follows from model and seed; budgets count choices, never time, so
// that equal questions get equal arrays on every machine.
//
// The package is pure: it imports packages solve, splitmix and seq and the
// standard library. The program in tools/tway has a generator for users, which
// also makes arrays smaller, keeps invalid values apart and continues given rows.
// Start reading at Generate.
package tway

import (
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
)

// maxStrength is the highest strength of arrays.
const maxStrength = 6

// Model says what to cover. Parameters and values are identified by number, from
// 0.
type Model struct {
	Levels    []int        // number of values, by parameter
	Conds     []solve.Cond // every row must meet them
	Relations []Relation   // what to combine
}

// Relation is a group of parameters, ascending, and how many of them are combined.
type Relation struct {
	Params   []int
	Strength int
}

// Tuple has values of some parameters, which are ascending.
type Tuple struct{ Params, Values []int }

// Unreachable is a combination that no row can have although all of its parts are
// possible, with the conditions that together exclude it.
type Unreachable struct {
	Tuple
	Conds []int
}

// Array is a covering array.
type Array struct {
	Rows        [][]int // a value for each parameter
	Unreachable []Unreachable
}

// Limits of the size of arrays.
const (
	maxSets   = 1 << 23
	maxTuples = 1 << 26
)

// errTooHard is the error for conditions that the budget was too small for.
var errTooHard = errors.New("the conditions are too hard: neither a row nor a proof that there is none was found within the budget")

// Generate makes an array for a model for which some row is possible.
func Generate(m *Model, seed uint64) (*Array, error) {
	sets, err := m.sets()
	if err != nil {
		return nil, err
	}
	b := newBuilder(m, sets, seed)
	newReach(b, m.Conds).require()
	if err := b.greedy(); err != nil {
		return nil, err
	}
	return &b.array, nil
}

// sets lists the sets of parameters whose combinations must all be covered, by
// size and then in lexical order.
func (m *Model) sets() ([][]int, error) {
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
			return fmt.Errorf("too many combinations: more than %d", maxTuples)
		}
		list = append(list, slices.Clone(set))
		return nil
	}
	for p := range m.Levels {
		if err := add([]int{p}); err != nil {
			return nil, err
		}
	}
	for i, r := range m.Relations {
		if r.Strength < 1 || r.Strength > min(maxStrength, len(r.Params)) {
			return nil, fmt.Errorf("relation %d of %d parameters cannot have strength %d", i, len(r.Params), r.Strength)
		}
		if err := Subsets(r.Params, r.Strength, add); err != nil {
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

// Subsets calls f with each subset of a size, in lexical order, until f fails. f
// must not keep its argument.
func Subsets(of []int, size int, f func([]int) error) error {
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
