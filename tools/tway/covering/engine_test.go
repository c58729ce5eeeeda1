package covering

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/engine/tway"
)

// What package engine/tway makes for Thresh is what this one makes of the same model
// without further wishes.
func TestSameArraysAsTheEngine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.SliceOfN(rapid.IntRange(1, 6), 1, 7).Draw(t, "levels")
		m, e := &Model{Levels: levels, Strength: 1}, &tway.Model{Levels: levels}
		all := make([]int, len(levels))
		for i := range all {
			all[i] = i
		}
		for range rapid.IntRange(0, 2).Draw(t, "relations") {
			of := slices.DeleteFunc(slices.Clone(all), func(int) bool { return rapid.IntRange(0, 3).Draw(t, "without") == 0 })
			if len(of) > 0 {
				strength := rapid.IntRange(1, min(4, len(of))).Draw(t, "strength")
				m.Relations, e.Relations = append(m.Relations, Relation{of, strength}), append(e.Relations, tway.Relation{Params: of, Strength: strength})
			}
		}
		for range rapid.IntRange(0, 6).Draw(t, "conditions") {
			vars := slices.DeleteFunc(slices.Clone(all), func(int) bool { return rapid.Bool().Draw(t, "not on") })
			rest := rapid.IntRange(0, 2).Draw(t, "rest")
			m.Conds = append(m.Conds, solve.Cond{Vars: vars, Eval: func(row []int) solve.Truth {
				sum := 0
				for _, v := range vars {
					if row[v] == solve.Open {
						return solve.Unknown
					}
					sum += row[v]
				}
				return solve.Of(sum%3 != rest || len(vars) == 0)
			}})
		}
		e.Conds = m.Conds
		seed := rapid.Uint64().Draw(t, "seed")
		want, err := Generate(m, Options{Seed: seed})
		if err != nil {
			t.Skip(err.Error())
		}
		got, err := tway.Generate(e, seed)
		if err != nil || !slices.EqualFunc(got.Rows, want.Rows, slices.Equal) {
			t.Fatalf("got %v, %v\nwant %v", got, err, want.Rows)
		}
		same := func(a tway.Unreachable, b Unreachable) bool {
			return slices.Equal(a.Params, b.Params) && slices.Equal(a.Values, b.Values) && slices.Equal(a.Conds, b.Conds)
		}
		if !slices.EqualFunc(got.Unreachable, want.Unreachable, same) {
			t.Fatalf("got %v\nwant %v", got.Unreachable, want.Unreachable)
		}
	})
}
