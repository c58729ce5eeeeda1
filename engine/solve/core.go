package solve

// Conflict is a set of conditions which exclude the fixed values together, and
// of which none can be left out, ascending; nil if there is none or if the
// budget, nodes choices for each question, was too small to find one. Complete reports
// whether no question was given up, so that nil means that the values are possible and
// a set that none can be left out.
func (s *Solver) Conflict(fixed []int, nodes int) (core []int, complete bool) {
	a := s.Solve(Query{Fixed: fixed, Nodes: nodes})
	if a.Status != Unsat {
		return nil, a.Status == Sat
	}
	only := make([]bool, len(s.conds))
	for _, i := range a.Core {
		only[i] = true
	}
	complete = true
	for _, i := range a.Core {
		if !only[i] {
			continue
		}
		only[i] = false
		switch without := s.Solve(Query{Fixed: fixed, Nodes: nodes, Only: only}); without.Status {
		case Unsat: // not needed, nor what took no part this time
			keep := make([]bool, len(only))
			for _, k := range without.Core {
				keep[k] = true
			}
			copy(only, keep)
		case Sat:
			only[i] = true
		default:
			only[i], complete = true, false
		}
	}
	for i, in := range only {
		if in {
			core = append(core, i)
		}
	}
	return core, complete
}
