package solve_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/engine/solve"
)

// What a solver answers, what it blames and what that costs follow from the conditions and
// the questions before: cases are planned by it, and planned again when a run is resumed.
func TestAnswersStayWhatTheyAre(t *testing.T) {
	for seed, want := range []string{
		"423006ccb010e9eb map[sat:63 unsat:177]", "e1c405e1b9b512c2 map[sat:57 unsat:183]", "69f00afee610a2c3 map[sat:82 unsat:158]", "75d5ccb58116d71e map[gave up:1 sat:147 unsat:92]",
	} {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		h := fnv.New64a()
		counts := map[solve.Status]int{}
		for range 40 {
			sizes := make([]int, 3+r.IntN(8))
			for v := range sizes {
				sizes[v] = 1 + r.IntN([]int{3, 3, 5, 70}[seed])
			}
			variable := func() int { return r.IntN(len(sizes)) }
			var expr func(depth int) solve.Cond
			expr = func(depth int) solve.Cond {
				switch kind := r.IntN(6); {
				case kind == 0 || depth == 0:
					v := variable()
					set := make([]bool, sizes[v])
					for x := range set {
						set[x] = r.IntN(3) > 0
					}
					return in(v, set)
				case kind == 1:
					a, b, d := variable(), variable(), r.IntN(2)
					return relation([]int{a, b}, func(row []int) bool { return row[a] != row[b]+d })
				case kind == 2:
					return not(expr(depth - 1))
				case kind == 3:
					return or(expr(depth-1), expr(depth-1), expr(depth-1))
				case kind == 4:
					return implies(expr(depth-1), expr(depth-1))
				}
				vars, rest := []int{variable(), variable(), variable(), variable()}, r.IntN(3)
				return relation(vars, func(row []int) bool { // too irregular for few clauses
					sum := 0
					for _, v := range vars {
						sum += row[v] * row[v]
					}
					return sum%3 != rest
				})
			}
			conds := make([]solve.Cond, 2+r.IntN(14))
			for i := range conds {
				conds[i] = expr(2)
			}
			s := solve.New(sizes, conds)
			for q := range 6 {
				query := solve.Query{Nodes: []int{0, 1, 3, 0, 40, 0}[q]}
				if q > 0 {
					query.Fixed = slices.Repeat([]int{solve.Open}, len(sizes))
					for range q - 1 {
						v := variable()
						query.Fixed[v] = r.IntN(sizes[v])
					}
				}
				if q == 3 {
					query.Order = r.Perm(len(sizes))[:len(sizes)-1]
				}
				if q == 4 {
					query.Only = make([]bool, len(conds))
					for i := range conds {
						query.Only[i] = r.IntN(3) > 0
					}
				}
				if q == 5 {
					query.Prefer = func(v int, _ []int) []int { return []int{sizes[v] - 1, sizes[v] / 2} }
				}
				a := s.Solve(query)
				counts[a.Status]++
				fmt.Fprintf(h, "%+v\n", a)
				if q > 2 {
					core, complete := s.Conflict(query.Fixed, q*5)
					fmt.Fprintln(h, core, complete)
				}
				if a.Status == solve.Sat && !slices.Contains(a.Row, solve.Open) {
					for v := range sizes {
						fmt.Fprint(h, s.Constrained(v), s.Holds(a.Row, v))
						a.Row[v] = (a.Row[v] + 1) % sizes[v]
						fmt.Fprint(h, s.Holds(a.Row, v))
					}
				}
			}
		}
		if got := fmt.Sprintf("%016x %v", h.Sum64(), counts); got != want {
			t.Errorf("seed %d: %s, want %s", seed, got, want)
		}
	}
}
