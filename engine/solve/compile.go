package solve

import (
	"encoding/binary"
)

// Limits of compiling to clauses. Beyond them a condition is evaluated
// directly, with the same answers, only slower.
const (
	maxEvals   = 1 << 15 // evaluations of one condition
	maxClauses = 1 << 11 // clauses of one condition
)

// lit is a literal of a clause: variable v has a value in a set, whose words
// begin at set in Solver.sets.
type lit struct{ v, set int32 }

// clause holds if one of its literals does.
type clause struct {
	lits []lit
	from int32 // the condition that it follows from
}

// diagram is the reduced decision diagram of one condition. Its nodes are
// shared, so that values without a difference are found.
type diagram struct {
	cond  Cond
	sizes []int
	row   []int
	evals int
	nodes [][]int32 // children by value; nodes 0 and 1 stand for true and false
	level []int     // index into cond.Vars, by node
	known map[string]int32
}

const (
	nodeTrue  = 0
	nodeFalse = 1
)

// build returns the node of the condition with row's values of the first level
// variables, or false if that takes too many evaluations.
func (d *diagram) build(level int) (int32, bool) {
	d.evals++
	if d.evals > maxEvals {
		return 0, false
	}
	switch d.cond.Eval(d.row) {
	case True:
		return nodeTrue, true
	case False:
		return nodeFalse, true
	}
	if level == len(d.cond.Vars) {
		return nodeFalse, true
	}
	v := d.cond.Vars[level]
	children := make([]int32, d.sizes[v])
	key := binary.AppendUvarint(nil, uint64(level))
	same := true
	for x := range children {
		d.row[v] = x
		n, ok := d.build(level + 1)
		if !ok {
			return 0, false
		}
		children[x] = n
		key = binary.AppendUvarint(key, uint64(n))
		same = same && n == children[0]
	}
	d.row[v] = Open
	if same {
		return children[0], true
	}
	n, ok := d.known[string(key)]
	if !ok {
		n = int32(len(d.nodes))
		d.nodes, d.level = append(d.nodes, children), append(d.level, level)
		d.known[string(key)] = n
	}
	return n, true
}

// compile adds the clauses of condition i to the solver: one for each path
// through its diagram that ends in false. It reports whether they were few
// enough; otherwise it adds nothing.
func (s *Solver) compile(i int) bool {
	d := &diagram{cond: s.conds[i], sizes: s.sizes, row: s.scratch(), known: make(map[string]int32)}
	d.nodes, d.level = make([][]int32, 2), make([]int, 2)
	root, ok := d.build(0)
	if !ok {
		return false
	}
	clauses, sets := len(s.clauses), len(s.sets)
	var path []lit
	if vars := s.conds[i].Vars; root == nodeFalse && len(vars) > 0 { // no value of any variable satisfies it
		path = append(path, lit{int32(vars[0]), s.newSet(vars[0])})
	}
	var walk func(n int32) bool
	walk = func(n int32) bool {
		if n == nodeTrue {
			return true
		}
		if n == nodeFalse {
			if len(s.clauses)-clauses >= maxClauses {
				return false
			}
			s.clauses = append(s.clauses, clause{lits: append([]lit(nil), path...), from: int32(i)})
			return true
		}
		v := s.conds[i].Vars[d.level[n]]
		children := d.nodes[n]
		done := make(map[int32]bool)
		for _, child := range children {
			if child == nodeTrue || done[child] {
				continue
			}
			done[child] = true
			set := s.newSet(v)
			for x, c := range children {
				if c != child { // the values that avoid this path
					s.sets[set+int32(x>>6)] |= 1 << (x & 63)
				}
			}
			path = append(path, lit{int32(v), set})
			if !walk(child) {
				return false
			}
			path = path[:len(path)-1]
		}
		return true
	}
	if !walk(root) {
		s.clauses, s.sets = s.clauses[:clauses], s.sets[:sets]
		return false
	}
	return true
}

// newSet appends an empty set of values of v.
func (s *Solver) newSet(v int) int32 {
	at := int32(len(s.sets))
	s.sets = append(s.sets, make([]uint64, s.words[v])...)
	return at
}
