package solve_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/solve"
)

// problem draws conditions over few variables, so that all assignments can be
// tried.
func problem(t *rapid.T) ([]int, []solve.Cond) {
	sizes := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 6).Draw(t, "sizes")
	variable := rapid.IntRange(0, len(sizes)-1)
	var expr func(depth int) solve.Cond
	expr = func(depth int) solve.Cond {
		kind := rapid.IntRange(0, 6).Draw(t, "kind")
		if depth == 0 {
			kind %= 2
		}
		switch kind {
		case 0:
			v := variable.Draw(t, "v")
			return in(v, rapid.SliceOfN(rapid.Bool(), sizes[v], sizes[v]).Draw(t, "set"))
		case 1:
			a, b := variable.Draw(t, "a"), variable.Draw(t, "b")
			return relation([]int{a, b}, func(row []int) bool { return row[a] < row[b] })
		case 2:
			return not(expr(depth - 1))
		case 3:
			return and(expr(depth-1), expr(depth-1))
		case 4:
			return or(expr(depth-1), expr(depth-1), expr(depth-1))
		case 5:
			return implies(expr(depth-1), expr(depth-1))
		}
		vars := rapid.SliceOfN(variable, 1, 4).Draw(t, "vars")
		rest := rapid.IntRange(0, 2).Draw(t, "rest")
		return relation(vars, func(row []int) bool { // too irregular for few clauses
			sum := 0
			for _, v := range vars {
				sum += row[v]
			}
			return sum%3 != rest
		})
	}
	conds := make([]solve.Cond, rapid.IntRange(0, 6).Draw(t, "conditions"))
	for i := range conds {
		conds[i] = expr(2)
	}
	return sizes, conds
}

// assignments calls f with every assignment that agrees with fixed, until it
// returns false.
func assignments(sizes, fixed []int, f func(row []int) bool) bool {
	row := slices.Clone(fixed)
	var try func(v int) bool
	try = func(v int) bool {
		if v == len(row) {
			return f(row)
		}
		if fixed[v] != solve.Open {
			return try(v + 1)
		}
		for x := range sizes[v] {
			row[v] = x
			if !try(v + 1) {
				return false
			}
		}
		return true
	}
	return try(0)
}

func hold(conds []solve.Cond, only func(i int) bool, row []int) bool {
	for i, c := range conds {
		if only(i) && c.Eval(row) != solve.True {
			return false
		}
	}
	return true
}

func open(n int) []int {
	row := make([]int, n)
	for v := range row {
		row[v] = solve.Open
	}
	return row
}

// TestAgainstEnumeration asks several questions of each solver, so that what it
// learns from one meets the next.
func TestAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes, conds := problem(t)
		s := solve.New(sizes, conds)
		all := func(int) bool { return true }
		possible := func(fixed []int, only func(int) bool) bool {
			return !assignments(sizes, fixed, func(row []int) bool { return !hold(conds, only, row) })
		}
		for range 4 {
			fixed := open(len(sizes))
			for v := range fixed {
				if rapid.IntRange(0, 2).Draw(t, "fix") == 0 {
					fixed[v] = rapid.IntRange(0, sizes[v]-1).Draw(t, "value")
				}
			}
			a := s.Solve(solve.Query{Fixed: fixed})
			want := solve.Unsat
			if possible(fixed, all) {
				want = solve.Sat
			}
			if a.Status != want {
				t.Fatalf("%v fixed %v: %v, want %v", sizes, fixed, a.Status, want)
			}
			if a.Status == solve.Sat {
				if !hold(conds, all, a.Row) {
					t.Fatalf("%v does not hold", a.Row)
				}
				for v := range fixed {
					if !s.Holds(a.Row, v) || fixed[v] != solve.Open && fixed[v] != a.Row[v] {
						t.Fatalf("%v from %v: variable %d", a.Row, fixed, v)
					}
				}
			}
			core, complete := s.Conflict(fixed, 0)
			if !complete || (core == nil) != (want == solve.Sat) && len(conds) > 0 && want == solve.Unsat && core == nil {
				t.Fatalf("conflict %v, complete %t, where the answer is %v", core, complete, want)
			}
			if want == solve.Sat {
				continue
			}
			if possible(fixed, func(i int) bool { return slices.Contains(core, i) }) {
				t.Fatalf("%v do not conflict", core)
			}
			for _, out := range core {
				if !possible(fixed, func(i int) bool { return i != out && slices.Contains(core, i) }) {
					t.Fatalf("%v conflict without %d", core, out)
				}
			}
		}
		row := open(len(sizes))
		assignments(sizes, row, func(row []int) bool {
			holds := true
			for v := range row {
				holds = holds && s.Holds(row, v)
			}
			if onNone := !slices.ContainsFunc(conds, func(c solve.Cond) bool { return len(c.Vars) == 0 }); onNone && holds != hold(conds, all, row) {
				t.Fatalf("Holds says %t of %v", holds, row)
			}
			return true
		})
	})
}

// pigeons is n pigeons in n-1 holes, each alone: without a solution, and dear to
// prove.
func pigeons(n int) ([]int, []solve.Cond) {
	sizes := slices.Repeat([]int{n - 1}, n)
	var conds []solve.Cond
	for a := range n {
		for b := range a {
			conds = append(conds, relation([]int{a, b}, func(row []int) bool { return row[a] != row[b] }))
		}
	}
	return sizes, conds
}

// Giving up is never taken for a proof.
func TestBudget(t *testing.T) {
	sizes, conds := pigeons(8)
	if a := solve.New(sizes, conds).Solve(solve.Query{Nodes: 5}); a.Status != solve.GaveUp || a.Core != nil {
		t.Errorf("%v, %v", a.Status, a.Core)
	}
	if core, complete := solve.New(sizes, conds).Conflict(open(8), 5); core != nil || complete {
		t.Errorf("%v, %t", core, complete)
	}
	sizes, conds = pigeons(6)
	if a := solve.New(sizes, conds).Solve(solve.Query{}); a.Status != solve.Unsat || len(a.Core) != len(conds) {
		t.Errorf("%v after %d, core %v", a.Status, a.Nodes, a.Core)
	}
}

// Wide domains are compared without being compiled.
func TestWideDomains(t *testing.T) {
	sizes := []int{1024, 1024, 1024}
	conds := []solve.Cond{
		relation([]int{0, 1}, func(row []int) bool { return row[0] > 2*row[1] }),
		relation([]int{1, 2}, func(row []int) bool { return row[1] > 2*row[2] }),
		relation([]int{2}, func(row []int) bool { return row[2] >= 250 }),
	}
	s := solve.New(sizes, conds)
	if a := s.Solve(solve.Query{}); a.Status != solve.Sat || a.Row[0] <= 2*a.Row[1] || a.Row[1] <= 2*a.Row[2] || a.Row[2] < 250 {
		t.Errorf("%v %v", a.Status, a.Row)
	}
	if a := s.Solve(solve.Query{Fixed: []int{900, solve.Open, solve.Open}}); a.Status != solve.Unsat {
		t.Errorf("%v %v", a.Status, a.Row)
	}
}

// Conditions on nothing are true or false once and for all.
func TestConstants(t *testing.T) {
	for _, c := range []struct {
		cond solve.Cond
		want solve.Status
	}{{and(), solve.Sat}, {or(), solve.Unsat}} {
		s := solve.New([]int{2}, []solve.Cond{c.cond})
		if a := s.Solve(solve.Query{}); a.Status != c.want {
			t.Errorf("%v, want %v", a.Status, c.want)
		}
	}
	if a := solve.New(nil, nil).Solve(solve.Query{}); a.Status != solve.Sat {
		t.Errorf("nothing to solve: %v", a.Status)
	}
}

func ExampleSolver_Conflict() {
	// Three switches: the first needs the second, the second needs the third.
	on := []bool{false, true}
	conds := []solve.Cond{
		implies(in(0, on), in(1, on)),
		implies(in(1, on), in(2, on)),
		or(in(0, on), in(2, on)),
	}
	s := solve.New([]int{2, 2, 2}, conds)
	core, _ := s.Conflict([]int{1, solve.Open, 0}, 0)
	fmt.Println("first on, third off:", core)
	// Output: first on, third off: [0 1]
}

func BenchmarkPigeons(b *testing.B) {
	sizes, conds := pigeons(7)
	for b.Loop() {
		if solve.New(sizes, conds).Solve(solve.Query{}).Status != solve.Unsat {
			b.Fatal("no proof")
		}
	}
}
