package solve

import "slices"

// Holds reports whether the conditions on v hold under row, which must have a
// value for each of their variables.
func (s *Solver) Holds(row []int, v int) bool {
next:
	for _, i := range s.broken[s.cell(v, row[v])] {
		for _, l := range s.clauses[i].lits {
			x := row[l.v]
			if s.sets[l.set+int32(x>>6)]>>(x&63)&1 != 0 {
				continue next
			}
		}
		return false
	}
	return !slices.ContainsFunc(s.rawBy[v], func(r int32) bool { return s.conds[s.raw[r]].Eval(row) != True })
}
