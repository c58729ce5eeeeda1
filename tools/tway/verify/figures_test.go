package verify_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/tools/tway/covering"
	"github.com/thresh-dev/thresh/tools/tway/logic"
	"github.com/thresh-dev/thresh/tools/tway/verify"
)

// levels reads LEVELS^HOW-MANY words.
func levels(t testing.TB, words string) []int {
	t.Helper()
	var list []int
	for _, w := range strings.Fields(words) {
		n, times, _ := strings.Cut(w, "^")
		if times == "" {
			times = "1"
		}
		level, err := strconv.Atoi(n)
		if err != nil {
			t.Fatal(err)
		}
		count, err := strconv.Atoi(times)
		if err != nil {
			t.Fatal(err)
		}
		for range count {
			list = append(list, level)
		}
	}
	return list
}

// system is a model of testdata/systems.txt.
type system struct {
	name  string
	rows  int
	model covering.Model
}

func systems(t testing.TB) []system {
	t.Helper()
	text, err := os.ReadFile("testdata/systems.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []system
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "system":
			var s system
			if _, err := fmt.Sscanf(rest, "%s rows %d", &s.name, &s.rows); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			s.model.Strength = 2
			list = append(list, s)
		case "levels":
			list[len(list)-1].model.Levels = levels(t, rest)
		case "not":
			m := &list[len(list)-1].model
			for _, combination := range strings.Split(rest, ";") {
				m.Conds = append(m.Conds, forbid(t, m.Levels, combination))
			}
		}
	}
	if len(list) != 5 {
		t.Fatalf("%d systems", len(list))
	}
	return list
}

// forbid is the condition that values, numbered through all parameters, do not
// occur together.
func forbid(t testing.TB, levels []int, values string) solve.Cond {
	t.Helper()
	var all []solve.Cond
	for _, w := range strings.Fields(values) {
		x, err := strconv.Atoi(w)
		if err != nil {
			t.Fatal(err)
		}
		p := 0
		for x >= levels[p] {
			x -= levels[p]
			p++
		}
		set := make([]bool, levels[p])
		set[x] = true
		all = append(all, logic.In(p, set))
	}
	return logic.Not(logic.And(all...))
}

// check generates an array of at most rows rows and verifies it.
func check(t *testing.T, m *covering.Model, opt covering.Options, rows int) *covering.Array {
	t.Helper()
	a, err := covering.Generate(m, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Rows) > rows || len(a.Rows) < a.Lower {
		t.Errorf("%d rows, at most %d are allowed and %d needed", len(a.Rows), rows, a.Lower)
	}
	v, err := verify.Array(m, a.Rows)
	if err != nil {
		t.Fatal(err)
	}
	if !v.OK() || v.Covered != a.Tuples || len(a.Unproven) > 0 {
		t.Errorf("covered %d of %d, missing %v, undecided %v, broken %v", v.Covered, a.Tuples, v.Missing, v.Undecided, v.Broken)
	}
	return a
}

// TestSystems holds the arrays of systems with conditions to the best figures
// that are published for them, or near those.
func TestSystems(t *testing.T) {
	for _, s := range systems(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if raced && s.rows > 16 {
				t.Skip("long under the race detector")
			}
			check(t, &s.model, covering.Options{Seed: 1, Effort: 1}, s.rows)
		})
	}
}

// TestPairs holds arrays of pairs to the fewest rows that are published for the
// models that tools are commonly compared by, and to what constructions give.
func TestPairs(t *testing.T) {
	for _, c := range []struct {
		levels string
		effort int
		rows   int
	}{
		{"3^4", 1, 9}, {"3^13", 1, 15}, {"4^15 3^17 2^29", 1, 29}, {"4 3^39 2^35", 1, 21}, {"2^100", 1, 10}, {"10^20", 1, 181},
		{"5^6", 1, 25}, {"7^8", 1, 49}, {"8^9", 1, 64}, {"9^10", 1, 81}, {"10^12", 1, 119}, {"10 9 8^3", 0, 100}, {"2^4", 0, 6}, {"5", 0, 5},
		{"4^15 3^17 2^29", 100, 28}, {"4 3^39 2^35", 100, 20}, // a minute together
	} {
		t.Run(fmt.Sprintf("%s effort %d", c.levels, c.effort), func(t *testing.T) {
			t.Parallel()
			if raced && len(c.levels) > 5 || c.effort > 1 && os.Getenv("THRESH_CI") == "" {
				t.Skip("long")
			}
			m := &covering.Model{Levels: levels(t, c.levels)}
			m.Strength = min(2, len(m.Levels))
			check(t, m, covering.Options{Seed: 1, Effort: c.effort}, c.rows)
		})
	}
}

// TestTriples holds arrays of triples to the figures of PICT.
func TestTriples(t *testing.T) {
	for _, c := range []struct {
		levels string
		rows   int
	}{{"3^13", 74}, {"5^10", 308}, {"3^50", 135}, {"4^15 3^17 2^29", 217}, {"4 3^39 2^35", 130}, {"10^20", 3429}} {
		t.Run(c.levels, func(t *testing.T) {
			t.Parallel()
			if raced {
				t.Skip("long under the race detector")
			}
			check(t, &covering.Model{Levels: levels(t, c.levels), Strength: 3}, covering.Options{Seed: 1, Effort: 1}, c.rows)
		})
	}
}

// TestHigh makes arrays of every strength.
func TestHigh(t *testing.T) {
	for strength := 1; strength <= covering.MaxStrength; strength++ {
		m := &covering.Model{Levels: levels(t, "3^4 2^5"), Strength: strength}
		m.Conds = []solve.Cond{logic.Relation([]int{0, 8}, func(row []int) bool { return row[0] != row[8] })}
		check(t, m, covering.Options{Seed: 1}, 600)
	}
}

func BenchmarkPairs(b *testing.B) {
	for _, words := range []string{"3^13", "4^15 3^17 2^29", "10^20"} {
		m := &covering.Model{Levels: levels(b, words), Strength: 2}
		b.Run(words, func(b *testing.B) { generate(b, m, 1) })
	}
}

func BenchmarkTriples(b *testing.B) {
	generate(b, &covering.Model{Levels: levels(b, "4^15 3^17 2^29"), Strength: 3}, 1)
}

func BenchmarkSystems(b *testing.B) {
	for _, s := range systems(b) {
		b.Run(s.name, func(b *testing.B) { generate(b, &s.model, 1) })
	}
}

func generate(b *testing.B, m *covering.Model, effort int) {
	b.Helper()
	rows := 0
	for b.Loop() {
		a, err := covering.Generate(m, covering.Options{Seed: 1, Effort: effort})
		if err != nil {
			b.Fatal(err)
		}
		rows = len(a.Rows)
	}
	b.ReportMetric(float64(rows), "rows")
}
