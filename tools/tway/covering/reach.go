package covering

import (
	"encoding/binary"
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
)

// Unreachable is a combination that no row can hold although all its parts are possible. One
// without values means that there is no row without invalid values, or none with one.
type Unreachable struct {
	Tuple
	// Conds are the conditions of the model that together exclude it. If Minimal, none of them can be
	// dropped.
	Conds   []int
	Minimal bool
}

// reach determines which tuples can be covered. That depends only on columns with conditions, and
// columns that no chain of conditions connects are independent. So tuples are split, and their
// parts, which are few, are put to the solver; each of its answers shows many other parts to be
// possible.
type reach struct {
	m     *Model
	b     *builder
	want  int   // tuples with so many invalid values are wanted
	group []int // by column: a representative of the columns that conditions connect with it; -1: no condition
	parts map[string][]solve.Status
	seen  [][]int // rows that hold, as far as the solver filled them

	unreachable []Unreachable
	unproven    []Tuple
}

func newReach(m *Model, b *builder, conds []solve.Cond, want int) *reach {
	r := &reach{m: m, b: b, want: want, group: make([]int, len(m.Levels)), parts: make(map[string][]solve.Status)}
	for c := range r.group {
		r.group[c] = -1
	}
	for _, c := range b.bound {
		r.group[c] = c
	}
	for _, c := range conds {
		first := -1 // of the columns it depends on: it may name others
		for _, v := range c.Vars {
			if r.group[v] >= 0 && first < 0 {
				first = v
			}
			if r.group[v] >= 0 {
				r.join(first, v)
			}
		}
	}
	return r
}

// join merges the groups of two columns.
func (r *reach) join(a, b int) {
	from, to := r.group[b], r.group[a]
	for c, g := range r.group {
		if g == from {
			r.group[c] = to
		}
	}
}

// require marks all tuples of the builder's table that can be covered and returns their number and
// the largest number in one set: no array has fewer rows.
func (r *reach) require() (tuples int64, lower int) {
	t := r.b.t
	if !r.any() {
		return 0, 0
	}
	for i := range t.sets {
		n := r.set(&t.sets[i])
		tuples += int64(n)
		lower = max(lower, n)
	}
	return tuples, lower
}

// any reports whether there is any row at all; if not, it records that as an empty combination.
func (r *reach) any() bool {
	row := blank(len(r.m.Levels))
	switch r.ask(row) {
	case solve.Sat:
		return true
	case solve.Unsat:
		r.unreachable = append(r.unreachable, r.explain(row, Tuple{}))
	default:
		r.unproven = append(r.unproven, Tuple{})
	}
	return false
}

// explain finds the conditions that exclude a tuple, whose values row has.
func (r *reach) explain(row []int, tuple Tuple) Unreachable {
	u := Unreachable{Tuple: tuple}
	u.Conds, u.Minimal = r.b.solver.Conflict(row, partNodes)
	for len(u.Conds) > 0 && u.Conds[len(u.Conds)-1] >= len(r.m.Conds) {
		u.Conds = u.Conds[:len(u.Conds)-1] // the phase's own conditions on invalid values are not the user's
	}
	return u
}

// set marks the tuples of one set and returns their number.
func (r *reach) set(s *set) int {
	parts := r.split(s.cols)
	if len(parts) == 0 && !r.m.hasInvalid() { // no conditions
		size := r.b.t.size(s)
		for tuple := s.first; tuple < s.first+size; tuple++ {
			r.b.t.require(tuple)
		}
		return int(size)
	}
	statuses := make([][]solve.Status, len(parts))
	for i, cols := range parts {
		statuses[i] = r.part(cols)
	}
	t, n := r.b.t, 0
	values := make([]int, len(s.cols))
	row := make([]int, len(t.levels))
	for tuple := s.first; tuple < s.first+t.size(s); tuple++ {
		for j, c := range s.cols {
			values[j] = t.value(s, tuple, j)
			row[c] = values[j]
		}
		if r.m.invalids(s.cols, values) != r.want {
			continue
		}
		possible := true
		for i, cols := range parts {
			possible = possible && statuses[i][number(t.levels, cols, row)] == solve.Sat
		}
		if possible {
			t.require(tuple)
			n++
		}
	}
	return n
}

// split divides the columns by group.
func (r *reach) split(cols []int) [][]int {
	var parts [][]int
	var groups []int
	for _, c := range cols {
		g := r.group[c]
		if g < 0 {
			continue
		}
		i := slices.Index(groups, g)
		if i < 0 {
			i, groups, parts = len(groups), append(groups, g), append(parts, nil)
		}
		parts[i] = append(parts[i], c)
	}
	return parts
}

// number is the index of row's values of cols among their combinations.
func number(levels, cols, row []int) int {
	n := 0
	for _, c := range cols {
		n = n*levels[c] + row[c]
	}
	return n
}

// partNodes is the budget for deciding whether a part is possible.
const partNodes = 20_000

// part is the status of each combination of columns of one group. It records the combinations that
// are impossible although all their parts are possible.
func (r *reach) part(cols []int) []solve.Status {
	var key []byte
	for _, c := range cols {
		key = binary.AppendUvarint(key, uint64(c))
	}
	if known, ok := r.parts[string(key)]; ok {
		return known
	}
	levels, n := r.b.levels, 1
	for _, c := range cols {
		n *= levels[c]
	}
	status := make([]solve.Status, n)
	for _, row := range r.seen {
		status[number(levels, cols, row)] = solve.Sat
	}
	var below [][]int
	var belowStatus [][]solve.Status
	if len(cols) > 1 {
		for i := range cols {
			sub := slices.Delete(slices.Clone(cols), i, i+1)
			below, belowStatus = append(below, sub), append(belowStatus, r.part(sub))
		}
	}
	row, values := blank(len(levels)), make([]int, len(cols))
	for i := range status {
		if status[i] == solve.Sat {
			continue
		}
		rest := i
		for j := len(cols) - 1; j >= 0; j-- {
			values[j] = rest % levels[cols[j]]
			rest /= levels[cols[j]]
			row[cols[j]] = values[j]
		}
		invalids := r.m.invalids(cols, values)
		if invalids > r.want {
			continue // not wanted
		}
		worst := solve.Sat
		for j, sub := range below {
			if s := belowStatus[j][number(levels, sub, row)]; s != solve.Sat {
				worst = s
			}
		}
		if worst != solve.Sat { // already reported as a smaller combination
			status[i] = worst
			continue
		}
		status[i] = r.ask(row)
		if invalids < r.want {
			continue // reported in the phase that wants it
		}
		switch tuple := (Tuple{slices.Clone(cols), slices.Clone(values)}); status[i] {
		case solve.Unsat:
			r.unreachable = append(r.unreachable, r.explain(row, tuple))
		case solve.GaveUp:
			r.unproven = append(r.unproven, tuple)
		}
	}
	r.parts[string(key)] = status
	return status
}

// ask puts a part to the solver.
func (r *reach) ask(row []int) solve.Status {
	order := r.b.order[:copy(r.b.order, r.b.bound)]
	r.b.rng.shuffle(order)
	a := r.b.solver.Solve(solve.Query{Fixed: row, Order: order, Nodes: partNodes, Prefer: func(c int, _ []int) []int {
		r.b.picks = r.b.picks[:0]
		for x := range r.b.levels[c] {
			r.b.picks = append(r.b.picks, x)
		}
		r.b.rng.shuffle(r.b.picks)
		return r.b.picks
	}})
	if a.Status == solve.Sat {
		r.seen = append(r.seen, a.Row)
	}
	return a.Status
}
