package solve_test

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
)

// Conditions made of functions and of other conditions.

// relation holds if f does for the values of all of vars, and is unknown until
// all have one.
func relation(vars []int, f func(row []int) bool) solve.Cond {
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

func in(v int, set []bool) solve.Cond {
	return relation([]int{v}, func(row []int) bool { return set[row[v]] })
}

func not(c solve.Cond) solve.Cond {
	return solve.Cond{Vars: c.Vars, Eval: func(row []int) solve.Truth { return c.Eval(row).Not() }}
}

func or(list ...solve.Cond) solve.Cond {
	var vars []int
	for _, c := range list {
		vars = append(vars, c.Vars...)
	}
	return solve.Cond{Vars: slices.Compact(slices.Sorted(slices.Values(vars))), Eval: func(row []int) solve.Truth {
		known := solve.False
		for _, c := range list {
			switch c.Eval(row) {
			case solve.True:
				return solve.True
			case solve.Unknown:
				known = solve.Unknown
			}
		}
		return known
	}}
}

func and(list ...solve.Cond) solve.Cond {
	var nots []solve.Cond
	for _, c := range list {
		nots = append(nots, not(c))
	}
	return not(or(nots...))
}

func implies(a, b solve.Cond) solve.Cond { return or(not(a), b) }
