package tway_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/engine/tway"
)

// model draws a model that is small enough to try every row, with conditions that
// exclude some pairs of values.
func model(t *rapid.T) *tway.Model {
	m := &tway.Model{Levels: rapid.SliceOfN(rapid.IntRange(1, 4), 1, 5).Draw(t, "levels")}
	all := make([]int, len(m.Levels))
	for i := range all {
		all[i] = i
	}
	for range rapid.IntRange(0, 2).Draw(t, "relations") {
		of := slices.DeleteFunc(slices.Clone(all), func(int) bool { return rapid.Bool().Draw(t, "without") })
		if len(of) > 0 {
			m.Relations = append(m.Relations, tway.Relation{Params: of, Strength: rapid.IntRange(1, len(of)).Draw(t, "strength")})
		}
	}
	for range rapid.IntRange(0, 4).Draw(t, "conditions") {
		a, b := rapid.SampledFrom(all).Draw(t, "a"), rapid.SampledFrom(all).Draw(t, "b")
		if a >= b {
			continue
		}
		x, y := rapid.IntRange(0, m.Levels[a]-1).Draw(t, "x"), rapid.IntRange(0, m.Levels[b]-1).Draw(t, "y")
		m.Conds = append(m.Conds, solve.Cond{Vars: []int{a, b}, Eval: func(row []int) solve.Truth {
			switch {
			case row[a] != solve.Open && row[a] != x, row[b] != solve.Open && row[b] != y:
				return solve.True
			case row[a] == solve.Open || row[b] == solve.Open:
				return solve.Unknown
			}
			return solve.False
		}})
	}
	return m
}

// possible are all rows that hold.
func possible(m *tway.Model) (rows [][]int) {
	row := make([]int, len(m.Levels))
	for {
		if !slices.ContainsFunc(m.Conds, func(c solve.Cond) bool { return c.Eval(row) != solve.True }) {
			rows = append(rows, slices.Clone(row))
		}
		k := len(row) - 1
		for ; k >= 0; k-- {
			if row[k]++; row[k] < m.Levels[k] {
				break
			}
			row[k] = 0
		}
		if k < 0 {
			return rows
		}
	}
}

func pick(row, params []int) (values []int) {
	for _, p := range params {
		values = append(values, row[p])
	}
	return values
}

// Every combination that some row can hold is in a row of the array, whose rows all
// hold; what is said to be unreachable is in no row that holds, and all of its parts are.
func TestCoversWhatIsPossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := model(t)
		all := possible(m)
		if len(all) == 0 {
			t.Skip("no row is possible")
		}
		seed := rapid.Uint64().Draw(t, "seed")
		a, err := tway.Generate(m, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range a.Rows {
			if !slices.ContainsFunc(all, func(r []int) bool { return slices.Equal(r, row) }) {
				t.Fatalf("the row %v breaks a condition", row)
			}
		}
		covers := func(rows [][]int, params, values []int) bool {
			return slices.ContainsFunc(rows, func(r []int) bool { return slices.Equal(pick(r, params), values) })
		}
		sets := m.Relations
		for p := range m.Levels {
			sets = append(sets, tway.Relation{Params: []int{p}, Strength: 1})
		}
		for _, r := range sets {
			_ = tway.Subsets(r.Params, r.Strength, func(params []int) error {
				for _, row := range all {
					if values := pick(row, params); !covers(a.Rows, params, values) {
						t.Fatalf("nothing covers %v = %v", params, values)
					}
				}
				return nil
			})
		}
		for _, u := range a.Unreachable {
			if covers(all, u.Params, u.Values) || len(u.Conds) == 0 {
				t.Fatalf("%v = %v is said to be unreachable by %v", u.Params, u.Values, u.Conds)
			}
			for i := range u.Params {
				if len(u.Params) > 1 && !covers(all, slices.Delete(slices.Clone(u.Params), i, i+1), slices.Delete(slices.Clone(u.Values), i, i+1)) {
					t.Fatalf("a part of %v = %v is impossible as well", u.Params, u.Values)
				}
			}
		}
		again, err := tway.Generate(m, seed)
		if err != nil || !slices.EqualFunc(a.Rows, again.Rows, slices.Equal) {
			t.Fatalf("another array for the same seed: %v, %v, %v", a.Rows, again.Rows, err)
		}
	})
}

func TestPairsTakeFewRows(t *testing.T) {
	m := &tway.Model{Levels: []int{3, 3, 3, 3, 3, 3, 3, 3}, Relations: []tway.Relation{{Params: []int{0, 1, 2, 3, 4, 5, 6, 7}, Strength: 2}}}
	a, err := tway.Generate(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(a.Rows); n < 9 || n > 20 {
		t.Errorf("%d rows for the pairs of eight parameters with three values", n)
	}
}

func TestRefused(t *testing.T) {
	large := make([]int, 40)
	all := make([]int, len(large))
	for i := range large {
		large[i], all[i] = 64, i
	}
	for want, m := range map[string]*tway.Model{
		"relation 0 of 2 parameters cannot have strength 3": {Levels: []int{2, 2}, Relations: []tway.Relation{{Params: []int{0, 1}, Strength: 3}}},
		"too many combinations":                             {Levels: large, Relations: []tway.Relation{{Params: all, Strength: 6}}},
	} {
		if _, err := tway.Generate(m, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	failed := errors.New("enough")
	if err := tway.Subsets([]int{1, 2, 3}, 2, func([]int) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("Subsets went on: %v", err)
	}
}
