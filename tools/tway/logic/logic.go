// Package logic builds conditions from functions and from other conditions, for writers of models.
// It imports only package solve.
package logic

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
)

// Relation holds if f does for the values of all vars, and is unknown until all have one.
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

// And holds if all of list do; an empty list holds.
func And(list ...solve.Cond) solve.Cond {
	nots := make([]solve.Cond, len(list))
	for i, c := range list {
		nots[i] = Not(c)
	}
	return Not(Or(nots...))
}

// Implies holds where a does not, or b does.
func Implies(a, b solve.Cond) solve.Cond { return Or(Not(a), b) }

// In holds if the value of v is marked; set has an entry for each value of v.
func In(v int, set []bool) solve.Cond {
	return solve.Cond{Vars: []int{v}, Eval: func(row []int) solve.Truth {
		if row[v] == solve.Open {
			return solve.Unknown
		}
		return solve.Of(set[row[v]])
	}}
}

// Or holds if at least one of list does.
func Or(list ...solve.Cond) solve.Cond { return fold(list, solve.True) }

// fold combines conditions; one of them with the value decisive decides the result.
func fold(list []solve.Cond, decisive solve.Truth) solve.Cond {
	list = slices.Clone(list)
	var vars []int
	for _, c := range list {
		vars = append(vars, c.Vars...)
	}
	return solve.Cond{Vars: union(vars), Eval: func(row []int) solve.Truth {
		known := decisive.Not()
		for _, c := range list {
			switch c.Eval(row) {
			case decisive:
				return decisive
			case solve.Unknown:
				known = solve.Unknown
			}
		}
		return known
	}}
}

// union returns the distinct numbers of list, ascending.
func union(list []int) []int {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
