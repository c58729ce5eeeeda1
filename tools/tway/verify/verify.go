// Package verify checks covering arrays by other means than package tway uses to make them: for
// tools/tway, and for the tests of tway.
package verify

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/tools/tway/covering"
)

// Verdict is the result of checking an array.
type Verdict struct {
	Covered     int64 // combinations that a row holds
	Unreachable int64 // combinations that no row can hold, proven by trying
	Missing     []covering.Tuple
	Undecided   []covering.Tuple // neither held by a row nor decided within the budget
	Broken      []Broken         // invalid rows
}

// OK reports whether the array covers everything that is possible and has no invalid row.
func (v *Verdict) OK() bool { return len(v.Missing)+len(v.Undecided)+len(v.Broken) == 0 }

// Broken is a row that violates conditions of the model, or holds several invalid values.
type Broken struct {
	Row      int
	Conds    []int
	Invalids int // number of invalid values, if more than one
}

// Limits on the assignments tried to decide one combination, and all of them.
const (
	verifyTries = 200_000
	allTries    = 5_000_000
)

// Array checks rows, each with a value for every parameter, against the meaning of a model: it
// marks what rows hold, set by set, and tries assignments one after another for the rest, with the
// conditions as they are. It shares neither tables nor the solver with covering.Generate.
func Array(m *covering.Model, rows [][]int) (*Verdict, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	sets, err := m.Sets()
	if err != nil {
		return nil, err
	}
	v := &Verdict{}
	var byInvalid [2][][]int // the good rows, by their number of invalid values
	every := make([]int, len(m.Levels))
	for p := range every {
		every[p] = p
	}
	for i, row := range rows {
		b := Broken{Row: i}
		for c, cond := range m.Conds {
			if cond.Eval(row) != solve.True {
				b.Conds = append(b.Conds, c)
			}
		}
		n := invalids(m, every, row)
		if n > 1 {
			b.Invalids = n
		}
		if len(b.Conds) > 0 || n > 1 {
			v.Broken = append(v.Broken, b)
			continue
		}
		byInvalid[n] = append(byInvalid[n], row)
	}
	t := newTrier(m)
	for _, set := range sets {
		held, at := holds(m, set, byInvalid), -1
		t.each(set, func(row []int) {
			at++
			values := make([]int, len(set))
			for i, p := range set {
				values[i] = row[p]
			}
			n := invalids(m, set, values)
			if n > 1 {
				return
			}
			if held[n][at] {
				v.Covered++
				return
			}
			switch t.possible(set, row) {
			case solve.Sat:
				v.Missing = append(v.Missing, covering.Tuple{Params: set, Values: values})
			case solve.Unsat:
				v.Unreachable++
			default:
				v.Undecided = append(v.Undecided, covering.Tuple{Params: set, Values: values})
			}
		})
	}
	return v, nil
}

// holds marks which combinations of a set the rows hold, in the order of trier.each, by the rows'
// number of invalid values.
func holds(m *covering.Model, set []int, rows [2][][]int) (held [2][]bool) {
	size := 1
	for _, p := range set {
		size *= m.Levels[p]
	}
	for n := range held {
		held[n] = make([]bool, size)
		for _, row := range rows[n] {
			at := 0
			for _, p := range set {
				at = at*m.Levels[p] + row[p]
			}
			held[n][at] = true
		}
	}
	return held
}

// trier decides by trying whether values can be completed to a row.
type trier struct {
	m     *covering.Model
	conds [][]int // conditions, by parameter
	known map[string]solve.Status
	left  int // remaining tries

	groups []int          // by parameter: the first of those that conditions connect it with, -1 without conditions
	status []solve.Status // by such a first parameter: whether its group can have valid values
}

func newTrier(m *covering.Model) *trier {
	t := &trier{m: m, left: allTries, conds: make([][]int, len(m.Levels)), known: make(map[string]solve.Status)}
	for i, c := range m.Conds {
		for _, p := range c.Vars {
			t.conds[p] = append(t.conds[p], i)
		}
	}
	return t
}

// each calls f with every combination of a set's values.
func (t *trier) each(set []int, f func(row []int)) {
	row := blank(len(t.m.Levels))
	var next func(i int)
	next = func(i int) {
		if i == len(set) {
			f(row)
			return
		}
		for x := range t.m.Levels[set[i]] {
			row[set[i]] = x
			next(i + 1)
		}
		row[set[i]] = solve.Open
	}
	next(0)
}

// possible decides whether a row without further invalid values can hold the values that row has
// for set.
func (t *trier) possible(set, row []int) solve.Status {
	var some []int
	for _, p := range set {
		if len(t.conds[p]) > 0 {
			some = append(some, p)
		}
	}
	name := make([]byte, 0, 4*len(some))
	for _, p := range some {
		name = append(name, byte(p), byte(p>>8), byte(row[p]), byte(row[p]>>8))
	}
	if s, ok := t.known[string(name)]; ok {
		return s
	}
	try := blank(len(row))
	for _, p := range set {
		try[p] = row[p]
	}
	s := t.attempt(try, t.near(set))
	if s == solve.Sat {
		s = t.elsewhere(set)
	}
	t.known[string(name)] = s
	return s
}

// attempt completes row for the parameters of left, within the remaining tries.
func (t *trier) attempt(row, left []int) solve.Status {
	tries := min(verifyTries, t.left)
	t.left -= tries
	s := t.try(row, left, &tries)
	t.left += max(tries, 0)
	return s
}

// elsewhere decides whether the parameters that no chain of conditions connects with set can have
// valid values; it tries each group of them once.
func (t *trier) elsewhere(set []int) solve.Status {
	if t.groups == nil {
		t.groups, t.status = slices.Repeat([]int{-1}, len(t.conds)), make([]solve.Status, len(t.conds))
		for p := range t.conds {
			if len(t.conds[p]) == 0 || t.groups[p] >= 0 {
				continue
			}
			members := append([]int{p}, t.near([]int{p})...)
			for _, q := range members {
				t.groups[q] = p
			}
			t.status[p] = t.attempt(blank(len(t.conds)), members)
		}
	}
	worst := solve.Sat
	for p, g := range t.groups {
		if g != p || slices.ContainsFunc(set, func(q int) bool { return t.groups[q] == g }) {
			continue
		}
		if s := t.status[g]; s == solve.Unsat || s != solve.Sat && worst == solve.Sat {
			worst = s
		}
	}
	return worst
}

// near returns the parameters that conditions connect with those of set, nearest first.
func (t *trier) near(set []int) []int {
	list := slices.Clone(set)
	for i := 0; i < len(list); i++ {
		for _, c := range t.conds[list[i]] {
			for _, p := range t.m.Conds[c].Vars {
				if !slices.Contains(list, p) {
					list = append(list, p)
				}
			}
		}
	}
	return list[len(set):]
}

// try completes row by backtracking over the remaining parameters, with valid values; those of the
// set are given.
func (t *trier) try(row []int, left []int, tries *int) solve.Status {
	if *tries--; *tries < 0 {
		return solve.GaveUp
	}
	for i := range t.m.Conds {
		if t.m.Conds[i].Eval(row) == solve.False {
			return solve.Unsat
		}
	}
	if len(left) == 0 {
		return solve.Sat
	}
	p, status := left[0], solve.Unsat
	for x := range t.m.Levels[p] {
		if invalids(t.m, []int{p}, []int{x}) > 0 {
			continue
		}
		row[p] = x
		switch t.try(row, left[1:], tries) {
		case solve.Sat:
			return solve.Sat
		case solve.GaveUp:
			status = solve.GaveUp
		}
		if *tries < 0 {
			break
		}
	}
	row[p] = solve.Open
	return status
}

// invalids is the number of invalid values of some parameters.
func invalids(m *covering.Model, params, values []int) (n int) {
	for i, p := range params {
		if m.Invalid != nil && len(m.Invalid[p]) > 0 && m.Invalid[p][values[i]] {
			n++
		}
	}
	return n
}

func blank(n int) []int { return slices.Repeat([]int{solve.Open}, n) }
