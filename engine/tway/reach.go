package tway

import (
	"encoding/binary"
	"slices"

	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/solve"
)

// reach finds out which tuples can be covered. That depends only on the columns
// with conditions, and columns that no chain of conditions connects do not affect
// each other. So tuples are split, and the solver checks the parts, which are
// few; each of its answers shows many other parts to be possible.
type reach struct {
	*builder
	group []int // by column: one of the columns that conditions connect it with; -1: no condition
	parts map[string][]solve.Status
	seen  [][]int // rows that hold, as far as the solver filled them
}

func newReach(b *builder, conds []solve.Cond) *reach {
	r := &reach{builder: b, group: blank(len(b.levels)), parts: make(map[string][]solve.Status)}
	for _, c := range b.bound {
		r.group[c] = c
	}
	for _, c := range conds {
		first := -1 // of those that it depends on: it may name others
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

// join joins the groups of two columns.
func (r *reach) join(a, b int) {
	from, to := r.group[b], r.group[a]
	for c, g := range r.group {
		if g == from {
			r.group[c] = to
		}
	}
}

// require marks all tuples that can be covered.
func (r *reach) require() {
	if r.ask(blank(len(r.levels))) != solve.Sat {
		return
	}
	for i := range r.sets {
		r.set(&r.sets[i])
	}
}

// set marks the tuples of one set.
func (r *reach) set(s *set) {
	parts := r.split(s.cols)
	statuses := seq.Map(parts, r.part)
	row := make([]int, len(r.levels))
	for tuple := s.first; tuple < s.first+r.size(s); tuple++ {
		for j, c := range s.cols {
			row[c] = r.value(s, tuple, j)
		}
		possible := true
		for i, cols := range parts {
			possible = possible && statuses[i][r.number(cols, row)] == solve.Sat
		}
		if possible {
			r.builder.require(tuple)
		}
	}
}

// split splits the columns by their groups.
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

// number returns the index of row's values of cols among their combinations.
func (r *reach) number(cols, row []int) int {
	n := 0
	for _, c := range cols {
		n = n*r.levels[c] + row[c]
	}
	return n
}

// partNodes is the budget of the question whether a part is possible.
const partNodes = 20_000

// part returns the status of each combination of columns of one group, and notes
// those that are impossible although all of their parts are possible.
func (r *reach) part(cols []int) []solve.Status {
	var key []byte
	for _, c := range cols {
		key = binary.AppendUvarint(key, uint64(c))
	}
	if known, ok := r.parts[string(key)]; ok {
		return known
	}
	n := 1
	for _, c := range cols {
		n *= r.levels[c]
	}
	status := make([]solve.Status, n)
	for _, row := range r.seen {
		status[r.number(cols, row)] = solve.Sat
	}
	var below [][]int
	var belowStatus [][]solve.Status
	if len(cols) > 1 {
		for i := range cols {
			sub := slices.Delete(slices.Clone(cols), i, i+1)
			below, belowStatus = append(below, sub), append(belowStatus, r.part(sub))
		}
	}
	row, values := blank(len(r.levels)), make([]int, len(cols))
	for i := range status {
		if status[i] == solve.Sat {
			continue
		}
		rest := i
		for j, c := range slices.Backward(cols) {
			values[j] = rest % r.levels[c]
			rest /= r.levels[c]
			row[c] = values[j]
		}
		worst := solve.Sat
		for j, sub := range below {
			if s := belowStatus[j][r.number(sub, row)]; s != solve.Sat {
				worst = s
			}
		}
		if worst != solve.Sat { // already reported, as a smaller one
			status[i] = worst
			continue
		}
		if status[i] = r.ask(row); status[i] == solve.Unsat {
			conds, _ := r.solver.Conflict(row, partNodes)
			r.array.Unreachable = append(r.array.Unreachable, Unreachable{Tuple{slices.Clone(cols), slices.Clone(values)}, conds})
		}
	}
	r.parts[string(key)] = status
	return status
}

// ask asks the solver about a part.
func (r *reach) ask(row []int) solve.Status {
	a := r.solver.Solve(solve.Query{Fixed: row, Order: r.shuffled(r.bound), Nodes: partNodes, Prefer: r.anyValues})
	if a.Status == solve.Sat {
		r.seen = append(r.seen, a.Row)
	}
	return a.Status
}
