package solve

// Conflict is a set of conditions which exclude the fixed values together,
// ascending; nil if there is none, or none was found. It asks several questions,
// which may take back nodes choices all together (0: DefaultNodes). Complete
// reports whether that was enough: then nil means that the values are possible,
// and of a set, none can be left out.
func (s *Solver) Conflict(fixed []int, nodes int) (core []int, complete bool) {
	if nodes <= 0 {
		nodes = DefaultNodes
	}
	a := s.Solve(Query{Fixed: fixed, Nodes: nodes})
	nodes -= a.Nodes
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
		if nodes < 1 {
			complete = false
			break
		}
		only[i] = false
		without := s.Solve(Query{Fixed: fixed, Nodes: nodes, Only: only})
		nodes -= without.Nodes
		switch without.Status {
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
