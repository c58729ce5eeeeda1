// Package logic makes conditions of functions and of other conditions, for those
// who write models: tools/tway and tests. It imports package solve alone.
package logic

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
)

// Relation holds if f does for the values of all of vars, and is unknown until
// all have one.
func Relation(vars []int, f func(row []int) bool) solve.Cond {
	vars = slices.Compact(slices.Sorted(slices.Values(vars)))
	return solve.Cond{Vars: vars, Eval: func(row []int) solve.Truth {
		for _, v := range vars {
			if row[v] == solve.Open {
				return solve.Unknown
			}
		}
		return solve.Of(f(row))
	}}
}

// Not holds where c does not.
func Not(c solve.Cond) solve.Cond {
	return solve.Cond{Vars: c.Vars, Eval: func(row []int) solve.Truth { return c.Eval(row).Not() }}
}

// And holds where all of list do; so it does where the list is empty.
func And(list ...solve.Cond) solve.Cond {
	nots := make([]solve.Cond, len(list))
	for i, c := range list {
		nots[i] = Not(c)
	}
	return Not(solve.Or(nots...))
}

// Implies holds where a does not, or b does.
func Implies(a, b solve.Cond) solve.Cond { return solve.Or(Not(a), b) }
