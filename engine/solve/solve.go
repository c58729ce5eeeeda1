package solve

import (
	"fmt"
	"math/bits"
	"slices"
)

// Status is the answer to a question.
type Status uint8

// The answers.
const (
	GaveUp Status = iota // the budget was spent: nothing is known
	Sat                  // there is an assignment
	Unsat                // there is none
)

func (s Status) String() string {
	switch s {
	case Sat:
		return "sat"
	case Unsat:
		return "unsat"
	}
	return "gave up"
}

// Query is a question to a solver. The zero value asks whether there is any
// assignment, with a budget of DefaultNodes.
type Query struct {
	Fixed []int // given values, Open elsewhere; nil: none
	// Order is the order in which variables get their values. Variables that are
	// missing are left to propagation, and stay Open where it does not reach. nil:
	// all, the one with the fewest values left first.
	Order []int
	// Prefer returns the values of v in the order in which to try them; it may read
	// row and must not keep it. nil: ascending. Missing values are tried last.
	Prefer func(v int, row []int) []int
	Nodes  int    // how many choices may be undone; 0: DefaultNodes
	Only   []bool // by condition: whether it counts; nil: all do
}

// DefaultNodes is the budget of a query without one.
const DefaultNodes = 100_000

// Answer is what is known after a query.
type Answer struct {
	Status Status
	Row    []int // Sat: the value of each variable; Open if the query's Order left it out
	Core   []int // Unsat: conditions that together exclude the fixed values, ascending; not always the fewest
	Nodes  int   // choices that were undone
}

// Solver answers questions about one set of conditions. What it learns from one
// question it uses for the next, which changes the cost of answers and never their
// status. It is not safe for concurrent use.
type Solver struct {
	sizes []int
	conds []Cond
	words []int32 // length of a set of values, by variable
	at    []int32 // where a variable's words begin in dom

	sets    []uint64
	clauses []clause
	by      [][]int32 // clauses, by variable
	broken  [][]int32 // clauses whose literal is false, by variable and value (see cell)
	raw     []int     // conditions that were not compiled
	rawBy   [][]int32 // of those, by variable
	nogoods []nogood  // what was learned
	watch   [][]int32 // no-goods that watch a choice, by variable and value

	dom   []uint64 // the values that are left
	left  []int32  // how many, by variable
	row   []int    // the value of variables with one left, otherwise Open
	only  []bool
	trail []change
	marks []int // length of trail at the beginning of each level
	todo  []int32
	blame int32  // why the conflict arose, as a reason
	used  []bool // scratch of analyze: variables
	core  []bool // conditions blamed so far
}

// change is a removal of values that can be undone.
type change struct {
	v, word int32
	old     uint64
	reason  int32 // a clause, learned + a no-good, ^i for raw condition i, or decision
}

const (
	learned  = 1 << 30
	decision = 1<<31 - 1
)

// New makes a solver of conditions over variables; variable v has the values 0 to
// sizes[v]-1, at least one. It panics if a condition names a variable that does not
// exist, which is an error of the caller.
func New(sizes []int, conds []Cond) *Solver {
	s := &Solver{
		sizes: slices.Clone(sizes), conds: slices.Clone(conds),
		words: make([]int32, len(sizes)), at: make([]int32, len(sizes)+1),
		by: make([][]int32, len(sizes)), rawBy: make([][]int32, len(sizes)),
		left: make([]int32, len(sizes)), row: make([]int, len(sizes)),
		used: make([]bool, len(sizes)), core: make([]bool, len(conds)),
	}
	for v, n := range sizes {
		if n < 1 {
			panic(fmt.Sprintf("solve: variable %d has no values", v))
		}
		s.words[v] = int32((n + 63) / 64)
		s.at[v+1] = s.at[v] + s.words[v]
		s.left[v], s.row[v] = int32(n), Open
		if n == 1 {
			s.row[v] = 0
		}
		for w := range int(s.words[v]) {
			s.dom = append(s.dom, ^uint64(0)>>max(0, 64*(w+1)-n))
		}
	}
	for i, c := range s.conds {
		for _, v := range c.Vars {
			if v < 0 || v >= len(sizes) {
				panic(fmt.Sprintf("solve: condition %d is on variable %d, there are %d", i, v, len(sizes)))
			}
		}
		if !s.compile(i) {
			for _, v := range c.Vars {
				s.rawBy[v] = append(s.rawBy[v], int32(len(s.raw)))
			}
			s.raw = append(s.raw, i)
		}
	}
	s.broken = make([][]int32, int(s.at[len(sizes)])*64)
	s.watch = make([][]int32, len(s.broken))
	for i := range s.clauses {
		for _, l := range s.clauses[i].lits {
			s.by[l.v] = append(s.by[l.v], int32(i))
			for x := range sizes[l.v] {
				if s.sets[l.set+int32(x>>6)]>>(x&63)&1 == 0 {
					k := s.cell(int(l.v), x)
					s.broken[k] = append(s.broken[k], int32(i))
				}
			}
		}
	}
	return s
}

// cell returns the index of a variable and one of its values in lists by both.
func (s *Solver) cell(v, x int) int { return int(s.at[v])*64 + x }

// scratch returns a row without values.
func (s *Solver) scratch() []int {
	row := make([]int, len(s.sizes))
	for v := range row {
		row[v] = Open
	}
	return row
}

// Constrained reports whether any condition is on v.
func (s *Solver) Constrained(v int) bool { return len(s.by[v])+len(s.rawBy[v]) > 0 }

// Holds reports whether the conditions on v hold for row, which must have a value for
// each of their variables.
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

// narrow keeps only the values of v in the set that begins at words[from:].
func (s *Solver) narrow(v int32, words []uint64, from, reason int32) {
	changed := false
	for w := range s.words[v] {
		k := s.at[v] + w
		now := s.dom[k] & words[from+w]
		if now == s.dom[k] {
			continue
		}
		s.trail = append(s.trail, change{v, w, s.dom[k], reason})
		s.left[v] -= int32(bits.OnesCount64(s.dom[k] ^ now))
		s.dom[k], changed = now, true
	}
	if changed {
		s.settle(v)
		s.todo = append(s.todo, v)
	}
}

// settle notes the value of v if only one is left.
func (s *Solver) settle(v int32) {
	s.row[v] = Open
	if s.left[v] != 1 {
		return
	}
	for w := range s.words[v] {
		if d := s.dom[s.at[v]+w]; d != 0 {
			s.row[v] = int(w)*64 + bits.TrailingZeros64(d)
		}
	}
}

// decide gives v the value x, as a choice.
func (s *Solver) decide(v, x int) {
	s.marks = append(s.marks, len(s.trail))
	var words [1]uint64
	set := words[:]
	if n := s.words[v]; n > 1 {
		set = make([]uint64, n)
	}
	set[x>>6] = 1 << (x & 63)
	s.narrow(int32(v), set, 0, decision)
}

func (s *Solver) has(v, x int) bool { return s.dom[int(s.at[v])+x>>6]>>(x&63)&1 != 0 }

// undo goes back to the end of a level; 0 is the state without choices.
func (s *Solver) undo(level int) {
	if level >= len(s.marks) {
		return
	}
	to := s.marks[level]
	for i := len(s.trail) - 1; i >= to; i-- {
		c := s.trail[i]
		k := s.at[c.v] + c.word
		s.left[c.v] += int32(bits.OnesCount64(c.old ^ s.dom[k]))
		s.dom[k] = c.old
	}
	for _, c := range s.trail[to:] {
		s.settle(c.v)
	}
	s.trail, s.marks, s.todo = s.trail[:to], s.marks[:level], s.todo[:0]
}

// Conflict returns a set of conditions that together exclude the fixed values,
// ascending; nil if there is none, or none was found. It asks several questions,
// which may undo nodes choices in total (0: DefaultNodes). complete reports whether
// that was enough: then nil means that the values are possible, and none of a set can
// be left out.
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
		case Unsat: // not needed, and neither is what took no part this time
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

// Truth is what is known about a condition under a partial assignment.
type Truth int8

// The truth values. Unknown is the zero value.
const (
	Unknown Truth = iota
	False
	True
)

// Of is True or False.
func Of(b bool) Truth {
	if b {
		return True
	}
	return False
}

// Not returns the negation: Unknown stays Unknown.
func (t Truth) Not() Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	}
	return Unknown
}

// Open marks a variable without a value in a partial assignment.
const Open = -1

// Cond is a condition on some of the variables.
type Cond struct {
	// Vars are the variables that decide it: ascending, each once.
	Vars []int
	// Eval returns what is known about it. row[v] is the index of the value of
	// variable v, or Open. An answer other than Unknown must hold for every
	// completion of row; if all of Vars have values, Unknown counts as False. Eval
	// must depend only on the cells of Vars and must not keep or change row.
	Eval func(row []int) Truth
}
