package verify_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/tools/tway/covering"
	"github.com/thresh-dev/thresh/tools/tway/logic"
	"github.com/thresh-dev/thresh/tools/tway/verify"
)

// drawModel draws a model small enough for all of its rows to be listed.
func drawModel(t *rapid.T) *covering.Model {
	m := &covering.Model{Levels: rapid.SliceOfN(rapid.IntRange(1, 4), 1, 6).Draw(t, "levels")}
	k := len(m.Levels)
	m.Strength = rapid.IntRange(1, min(k, 4)).Draw(t, "strength")
	param := rapid.IntRange(0, k-1)
	for range rapid.IntRange(0, 4).Draw(t, "conditions") {
		var parts []solve.Cond
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			p := param.Draw(t, "parameter")
			parts = append(parts, logic.In(p, rapid.SliceOfN(rapid.Bool(), m.Levels[p], m.Levels[p]).Draw(t, "set")))
		}
		if rapid.Bool().Draw(t, "compare") {
			a, b := param.Draw(t, "a"), param.Draw(t, "b")
			parts = append(parts, logic.Relation([]int{a, b}, func(row []int) bool { return row[a] <= row[b] }))
		}
		m.Conds = append(m.Conds, logic.Or(parts...))
	}
	if rapid.IntRange(0, 2).Draw(t, "with invalid") == 0 {
		for _, n := range m.Levels {
			bad := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "invalid")
			bad[0] = false
			m.Invalid = append(m.Invalid, bad)
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "with weights") == 0 {
		for _, n := range m.Levels {
			m.Weights = append(m.Weights, rapid.SliceOfN(rapid.IntRange(1, 9), n, n).Draw(t, "weights"))
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "relations") {
		params := rapid.SliceOfNDistinct(param, 1, k, rapid.ID).Draw(t, "relation")
		slices.Sort(params)
		m.Relations = append(m.Relations, covering.Relation{Params: params, Strength: rapid.IntRange(1, min(4, len(params))).Draw(t, "its strength")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "given rows") {
		row := make([]int, k)
		for p, n := range m.Levels {
			row[p] = rapid.IntRange(solve.Open, n-1).Draw(t, "cell")
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// legal lists all rows of a model with so many invalid values.
func legal(m *covering.Model, invalids int) [][]int {
	var rows [][]int
	row := make([]int, len(m.Levels))
	var next func(p int)
	next = func(p int) {
		if p == len(row) {
			n := 0
			for q, x := range row {
				if m.Invalid != nil && m.Invalid[q][x] {
					n++
				}
			}
			if n == invalids && !slices.ContainsFunc(m.Conds, func(c solve.Cond) bool { return c.Eval(row) != solve.True }) {
				rows = append(rows, slices.Clone(row))
			}
			return
		}
		for x := range m.Levels[p] {
			row[p] = x
			next(p + 1)
		}
	}
	next(0)
	return rows
}

// tuples is what rows hold of sets of parameters.
func tuples(rows [][]int, sets [][]int) map[string]bool {
	all := make(map[string]bool)
	for _, row := range rows {
		for _, set := range sets {
			all[tuple(set, row)] = true
		}
	}
	return all
}

func tuple(set, row []int) string {
	var b strings.Builder
	for _, p := range set {
		fmt.Fprintf(&b, "%d=%d ", p, row[p])
	}
	return b.String()
}

// TestArrays holds arrays to the list of all rows that are possible.
func TestArrays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		sets, err := m.Sets()
		if err != nil {
			t.Fatal(err)
		}
		valid, invalid := legal(m, 0), legal(m, 1)
		opt := covering.Options{Seed: rapid.Uint64().Draw(t, "seed")}
		a, err := covering.Generate(m, opt)
		var c *covering.Contradiction
		if errors.As(err, &c) {
			if len(valid)+len(invalid) > 0 {
				t.Fatalf("%v, but there are rows", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		kinds := [2][][]int{}
		for i, row := range a.Rows {
			n := slices.IndexFunc([][][]int{valid, invalid}, func(list [][]int) bool {
				return slices.ContainsFunc(list, func(r []int) bool { return slices.Equal(r, row) })
			})
			if n < 0 {
				t.Fatalf("row %d, %v, is not possible", i, row)
			}
			kinds[n] = append(kinds[n], row)
		}
		total := int64(0)
		for n, all := range [][][]int{valid, invalid} {
			want := tuples(all, sets)
			if n == 1 { // of rows with an invalid value, combinations with it count
				want = withInvalid(m, all, sets)
			}
			have := tuples(kinds[n], sets)
			for k := range want {
				if !have[k] {
					t.Fatalf("%sis not covered", k)
				}
			}
			total += int64(len(want))
		}
		if a.Tuples != total {
			t.Fatalf("%d combinations, there are %d", a.Tuples, total)
		}
		if a.Lower > len(a.Rows) {
			t.Fatalf("%d rows, and no array is to have fewer than %d", len(a.Rows), a.Lower)
		}
		checkUnreachable(t, m, a, valid, invalid)
		checkGiven(t, m, a)
		v, err := verify.Array(m, a.Rows)
		if err != nil || !v.OK() || v.Covered != total {
			t.Fatalf("verified: %+v, %v", v, err)
		}
		if again, err := covering.Generate(m, opt); err != nil || !reflect.DeepEqual(a, again) {
			t.Fatalf("not the same a second time: %v", err)
		}
	})
}

func withInvalid(m *covering.Model, rows, sets [][]int) map[string]bool {
	all := make(map[string]bool)
	for _, row := range rows {
		for _, set := range sets {
			if slices.ContainsFunc(set, func(p int) bool { return m.Invalid[p][row[p]] }) {
				all[tuple(set, row)] = true
			}
		}
	}
	return all
}

// checkUnreachable holds what is told to be impossible, and why, to the list of
// rows.
func checkUnreachable(t *rapid.T, m *covering.Model, a *covering.Array, valid, invalid [][]int) {
	holds := func(rows [][]int, u covering.Tuple, without int) bool {
		return slices.ContainsFunc(rows, func(row []int) bool {
			for i, p := range u.Params {
				if i != without && row[p] != u.Values[i] {
					return false
				}
			}
			return true
		})
	}
	for _, u := range a.Unreachable {
		bad := 0
		for i, p := range u.Params {
			if m.Invalid != nil && m.Invalid[p][u.Values[i]] {
				bad++
			}
		}
		rows := [][][]int{valid, invalid}[bad]
		if holds(rows, u.Tuple, -1) {
			t.Fatalf("%v is possible", u.Tuple)
		}
		if !u.Minimal {
			t.Fatalf("%v: no minimal reason", u.Tuple)
		}
		if m.Invalid != nil {
			continue // part of the reason is what holds of invalid values
		}
		for i := range u.Params {
			if !holds(valid, u.Tuple, i) {
				t.Fatalf("%v is not the smallest", u.Tuple)
			}
		}
		for leave := -1; leave < len(u.Conds); leave++ {
			few := &covering.Model{Levels: m.Levels}
			for i, c := range u.Conds {
				if i != leave {
					few.Conds = append(few.Conds, m.Conds[c])
				}
			}
			if holds(legal(few, 0), u.Tuple, -1) != (leave >= 0) {
				t.Fatalf("%v: conditions %v, without the %dth", u.Tuple, u.Conds, leave)
			}
		}
	}
}

// checkGiven finds each given row at the beginning of the array, or refused.
func checkGiven(t *rapid.T, m *covering.Model, a *covering.Array) {
	if a.Given+len(a.Refused) != len(m.Rows) {
		t.Fatalf("%d rows given, %d kept, %d refused", len(m.Rows), a.Given, len(a.Refused))
	}
	for i, given := range m.Rows {
		if slices.ContainsFunc(a.Refused, func(r covering.Refusal) bool { return r.Row == i }) {
			continue
		}
		if !slices.ContainsFunc(a.Rows[:a.Given], func(row []int) bool {
			for p, x := range given {
				if x != solve.Open && row[p] != x {
					return false
				}
			}
			return true
		}) {
			t.Fatalf("given row %v is gone", given)
		}
	}
}

// TestImprove does what TestArrays does with few models and some effort.
func TestImprove(t *testing.T) {
	if raced {
		t.Skip("long under the race detector")
	}
	m := &covering.Model{
		Levels: levels(t, "3^6 2^4"), Strength: 2,
		Relations: []covering.Relation{{Params: []int{0, 1, 2}, Strength: 3}},
		Conds:     []solve.Cond{logic.Relation([]int{0, 1, 9}, func(row []int) bool { return row[9] == 0 || row[0] != row[1] })},
		Weights:   [][]int{{1, 50, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
		Rows:      [][]int{{2, solve.Open, 2, 2, 2, 2, 1, 1, 1, 0}},
	}
	a := check(t, m, covering.Options{Seed: 7, Effort: 1}, 27)
	if a.Given != 1 || a.Rows[0][0] != 2 || a.Rows[0][9] != 0 {
		t.Errorf("the given row became %v", a.Rows[0])
	}
}

// Weights are followed where coverage leaves the choice.
func TestWeights(t *testing.T) {
	m := &covering.Model{Levels: []int{4, 2, 2, 2, 2}, Strength: 1, Weights: [][]int{nil, {1, 100}, {1, 100}, {1, 100}, {1, 100}}}
	a := check(t, m, covering.Options{Seed: 3}, 4)
	heavy := 0
	for _, row := range a.Rows {
		heavy += row[1] + row[2] + row[3] + row[4]
	}
	if heavy != 12 { // 16 cells, four of which must be light
		t.Errorf("%d of 12 cells have the heavy value: %v", heavy, a.Rows)
	}
}

// Invalid values stand alone, and what is beside them does not count.
func TestInvalid(t *testing.T) {
	m := &covering.Model{Levels: []int{4, 4}, Strength: 2, Invalid: [][]bool{{true, false, false, false}, {true, false, false, false}}}
	a := check(t, m, covering.Options{Seed: 1}, 15)
	if a.Tuples != 15 || len(a.Rows) != 15 || len(a.Unreachable) > 0 {
		t.Errorf("%d rows for %d combinations, unreachable %v", len(a.Rows), a.Tuples, a.Unreachable)
	}
	m.Rows = [][]int{{0, 0}, {0, solve.Open}}
	a = check(t, m, covering.Options{Seed: 1}, 15)
	if len(a.Refused) != 1 || a.Refused[0].Row != 0 || a.Given != 1 {
		t.Errorf("refused %v, kept %d", a.Refused, a.Given)
	}
}

// Outcomes follow: they have each value once and are combined with nothing.
func TestOutcome(t *testing.T) {
	m := &covering.Model{Levels: []int{5, 5, 2}, Strength: 2, Outcome: []bool{false, false, true}, Orders: []int{0, 1, 0}}
	m.Conds = []solve.Cond{logic.Relation([]int{0, 2}, func(row []int) bool { return (row[0] > 2) == (row[2] == 1) })}
	sets, err := m.Sets()
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]int{{1}, {2}, {0, 1}}; !reflect.DeepEqual(sets, want) {
		t.Errorf("sets %v, want %v", sets, want)
	}
	check(t, m, covering.Options{Seed: 1}, 25)
}

func TestRefusals(t *testing.T) {
	for name, m := range map[string]*covering.Model{
		"no parameters":         {Strength: 1},
		"strength must be":      {Levels: []int{2, 2}, Strength: 7},
		"strength is 3":         {Levels: []int{2, 2}, Strength: 3},
		"has no values":         {Levels: []int{2, 0}, Strength: 1},
		"no valid value":        {Levels: []int{2, 2}, Strength: 1, Invalid: [][]bool{nil, {true, true}}},
		"relation 0":            {Levels: []int{2, 2}, Strength: 1, Relations: []covering.Relation{{Params: []int{0}, Strength: 2}}},
		"row 0 has 1":           {Levels: []int{2, 2}, Strength: 1, Rows: [][]int{{1}}},
		"cannot be combined":    {Levels: []int{2, 2}, Strength: 1, Orders: []int{0, 3}},
		"too many combinations": {Levels: slices.Repeat([]int{60}, 60), Strength: 4},
	} {
		if _, err := covering.Generate(m, covering.Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := &covering.Model{Levels: []int{2, 2}, Strength: 1}
	for _, want := range []bool{true, false} {
		m.Conds = append(m.Conds, logic.In(0, []bool{want, !want}))
	}
	m.Conds = append(m.Conds, logic.In(1, []bool{true, false}))
	_, err := covering.Generate(m, covering.Options{})
	var c *covering.Contradiction
	if !errors.As(err, &c) || !slices.Equal(c.Conds, []int{0, 1}) {
		t.Errorf("%v", err)
	}
}

// Giving up is an error of its own, and no refusal: ten values that all differ
// out of nine are a contradiction that is dear to prove.
func TestTooHard(t *testing.T) {
	if raced {
		t.Skip("long under the race detector")
	}
	m := &covering.Model{Levels: slices.Repeat([]int{9}, 10), Strength: 2}
	for a := range m.Levels {
		for b := range a {
			m.Conds = append(m.Conds, logic.Relation([]int{a, b}, func(row []int) bool { return row[a] != row[b] }))
		}
	}
	if _, err := covering.Generate(m, covering.Options{}); !errors.Is(err, covering.ErrTooHard) {
		t.Errorf("%v", err)
	}
}

// Verify finds what is missing and what is wrong.
func TestVerify(t *testing.T) {
	m := &covering.Model{Levels: []int{2, 2, 2}, Strength: 2, Invalid: [][]bool{{false, true}, {false, true}, {false, false}}}
	m.Conds = []solve.Cond{logic.Not(logic.And(logic.In(1, []bool{true, false}), logic.In(2, []bool{false, true})))}
	// Possible: 000; 100, 010, 011. The pair 1=0 2=1 is not, nor what needs it.
	v, err := verify.Array(m, [][]int{{0, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for _, x := range v.Missing {
		row := []int{0, 0, 0}
		for i, p := range x.Params {
			row[p] = x.Values[i]
		}
		missing = append(missing, tuple(x.Params, row))
	}
	if want := []string{"0=1 1=0 ", "0=1 2=0 ", "1=1 2=1 "}; !slices.Equal(missing, want) {
		t.Errorf("missing %q, want %q", missing, want)
	}
	if want := []verify.Broken{{Row: 2, Invalids: 2}, {Row: 3, Conds: []int{0}}}; !reflect.DeepEqual(v.Broken, want) {
		t.Errorf("broken %+v, want %+v", v.Broken, want)
	}
	if v.OK() || v.Unreachable != 3 || v.Covered != 5 {
		t.Errorf("%d unreachable, %d covered", v.Unreachable, v.Covered)
	}
}

func ExampleGenerate() {
	onlyOn := []bool{false, true}
	m := &covering.Model{
		Levels: []int{2, 2, 3}, Strength: 2,
		Conds: []solve.Cond{logic.Implies(logic.In(0, onlyOn), logic.In(1, onlyOn))}, // the first only with the second
	}
	a, err := covering.Generate(m, covering.Options{Seed: 1, Effort: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(a.Rows), "rows for", a.Tuples, "combinations")
	for _, u := range a.Unreachable {
		fmt.Println("impossible:", u.Params, u.Values, "for conditions", u.Conds)
	}
	// Output:
	// 7 rows for 15 combinations
	// impossible: [0 1] [1 0] for conditions [0]
}
