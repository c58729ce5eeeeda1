package score

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestMatrix(t *testing.T) {
	for _, tc := range []struct {
		name   string
		cells  []Cell
		score  float64
		passed bool
	}{
		{"all pass", []Cell{{Critical, true}, {High, true}}, 100, true},
		{"a medium one fails", []Cell{{Critical, true}, {High, true}, {Medium, false}}, 83.33, true},
		{"a critical one fails", []Cell{{Critical, false}, {High, true}, {Medium, true}}, 50, false},
		{"a critical one fails in another scenario", []Cell{{Critical, true}, {Critical, false}}, 50, false},
		{"low and unknown count 1", []Cell{{Critical, true}, {High, true}, {Medium, false}, {Low, true}, {"weird", false}}, 75, true},
		{"nothing passes", []Cell{{High, false}}, 0, true},
		{"two decimals", []Cell{{Critical, true}, {Critical, true}, {Medium, false}}, 85.71, true},
	} {
		m, ok := OfMatrix(tc.cells)
		if !ok || m.Score != tc.score || m.Passed() != tc.passed || m.CriticalFailed == tc.passed {
			t.Errorf("%s: %+v", tc.name, m)
		}
	}
	if m, ok := OfMatrix(nil); ok || m.Passed() || m.Fraction() != 0 {
		t.Error("an empty matrix has a score")
	}
}

func TestMatrixLaws(t *testing.T) {
	cell := rapid.Custom(func(t *rapid.T) Cell {
		return Cell{rapid.SampledFrom([]Severity{Critical, High, Medium, Low}).Draw(t, "severity"), rapid.Bool().Draw(t, "passed")}
	})
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOfN(cell, 1, 30).Draw(t, "cells")
		m, ok := OfMatrix(cells)
		if !ok || m.Score < 0 || m.Score > 100 || math.Abs(m.Score-100*m.Fraction()) > 0.0051 {
			t.Fatalf("%+v", m)
		}
		i := rapid.IntRange(0, len(cells)-1).Draw(t, "cell")
		cells[i].Passed = true
		if better, _ := OfMatrix(cells); better.Score < m.Score || m.Passed() && !better.Passed() {
			t.Fatalf("%+v became %+v when a cell passed", m, better)
		}
	})
}

func TestWeighted(t *testing.T) {
	if s, ok := Weighted([]Trial{{1, true}, {1.5, true}, {1, false}}); !ok || !near(s, 2.5/3.5) {
		t.Error(s, ok)
	}
	if s, ok := Weighted([]Trial{{0.5, true}, {0.5, false}}); !ok || s != 0.5 {
		t.Error(s, ok)
	}
	for _, none := range [][]Trial{nil, {{0, true}}, {{-1, true}}} {
		if _, ok := Weighted(none); ok {
			t.Errorf("%v has a score", none)
		}
	}
}

func ran(f float64) *float64 { return &f }

func TestResilience(t *testing.T) {
	for _, tc := range []struct {
		parts  Parts
		w      Weights
		want   float64
		absent int
	}{
		{Parts{ran(0.8), ran(1), ran(0.5), nil}, Weights{0.25, 0.25, 0.5, 0}, 0.7, 1},
		{Parts{ran(1), nil, ran(0.5), ran(1)}, Weights{0.20, 0.35, 0.35, 0.10}, 0.475 / 0.65, 1}, // 73.1 %
		{Parts{ran(1), ran(1), ran(1), ran(1)}, Weights{0.20, 0.35, 0.35, 0.10}, 1, 0},
		{Parts{nil, nil, ran(0.5), nil}, Weights{0.20, 0.35, 0.35, 0.10}, 0.5, 3},
	} {
		w, ok := Resilience(tc.parts, tc.w)
		counts := 0.0
		for _, s := range w.Shares {
			counts += s.Counts
		}
		if !ok || !near(w.Score, tc.want) || len(w.Absent) != tc.absent || !near(counts, 1) {
			t.Errorf("%v, want %v", w, tc.want)
		}
	}
	for _, vacuous := range []Parts{{}, {Replay: ran(1)}} {
		if w, ok := Resilience(vacuous, Weights{0.5, 0.5, 0, 0}); ok {
			t.Errorf("%v out of nothing", w)
		}
	}
	w, _ := Resilience(Parts{ran(1), nil, ran(0.5), ran(1)}, Weights{0.20, 0.35, 0.35, 0.10})
	if got := w.String(); got != "73.1% = 0.31 x 100.0% (mutation) + 0.54 x 50.0% (contract) + 0.15 x 100.0% (replay); did not run: chaos" {
		t.Error(got)
	}
}

func TestWilson(t *testing.T) {
	// By the formula, computed apart to four places.
	for _, tc := range []struct {
		passed, runs int
		low, high    float64
	}{{0, 0, 0, 1}, {0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {5, 10, 0.2366, 0.7634}, {1, 1, 0.2065, 1}, {90, 100, 0.8256, 0.9448}} {
		low, high := Wilson(tc.passed, tc.runs)
		if math.Abs(low-tc.low) > 5e-5 || math.Abs(high-tc.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", tc.passed, tc.runs, low, high, tc.low, tc.high)
		}
	}
}

// A whole is as sure as the tests that it rests on.
func TestWholeInterval(t *testing.T) {
	if n := Effective([]float64{1, 1, 1, 1}); n != 4 {
		t.Error(n)
	}
	if n := Effective([]float64{3, 1}); n != 1.6 {
		t.Error(n)
	}
	if one, none := Effective([]float64{1}), Effective(nil); one != 1 || none != 0 {
		t.Error(one, none)
	}
	if low, high := Interval(0.5, 0); low != 0 || high != 1 {
		t.Error(low, high)
	}
	w, _ := Resilience(Parts{Mutation: ran(0.5), Contract: ran(0.5)}, Weights{Mutation: 0.5, Contract: 0.5})
	low, high := w.Interval(map[string]float64{"mutation": 20, "contract": 20})
	if l, h := Wilson(20, 40); !near(low, l) || !near(high, h) {
		t.Errorf("%v to %v, want that of 20 of 40: %v to %v", low, high, l, h)
	}
	low, high = w.Interval(map[string]float64{"mutation": 1, "contract": 1})
	if l, h := Wilson(1, 2); !near(low, l) || !near(high, h) {
		t.Errorf("%v to %v of two tests, want %v to %v", low, high, l, h)
	}
	if low, high := w.Interval(map[string]float64{"mutation": 1e6, "contract": 5}); high-low < 0.3 {
		t.Errorf("%v to %v: five cells make it unsure", low, high)
	}
	if low, high := (Whole{}).Interval(nil); low != 0 || high != 1 {
		t.Error(low, high)
	}
}

func TestPercentile(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		p      float64
		want   float64
	}{
		{[]float64{5, 1, 4, 2, 3}, 50, 3}, {[]float64{1, 2}, 95, 2}, {[]float64{1, 2}, 50, 1}, {[]float64{7}, 99, 7},
		{[]float64{1, 2, 3}, 0, 1}, {[]float64{1, 2, 3}, 100, 3},
	} {
		if v, ok := Percentile(tc.values, tc.p); !ok || v != tc.want {
			t.Errorf("%v p%v: %v", tc.values, tc.p, v)
		}
	}
	if v, ok := Percentile([]time.Duration{}, 50); ok || v != 0 {
		t.Error("nothing has a percentile")
	}
	var hundred []int64
	for i := range int64(100) {
		hundred = append(hundred, 100-i)
	}
	for p := range 101 {
		if v, _ := Percentile(hundred, float64(p)); v != int64(max(p, 1)) {
			t.Errorf("p%d of 1..100 is %d", p, v)
		}
	}
	if hundred[0] != 100 {
		t.Error("the values were sorted in place")
	}
	if m, ok := Mean([]time.Duration{1, 2, 6}); !ok || m != 3 {
		t.Error(m)
	}
	if m, ok := Mean([]float64(nil)); ok || m != 0 {
		t.Error("nothing has a mean")
	}
}

// A component that did not run widens nothing, and a whole of which all ran says nothing
// of what did not; what has no weight has no score.
func TestWholeOfSome(t *testing.T) {
	one := 1.0
	w, ok := Resilience(Parts{Mutation: &one, Chaos: &one}, Weights{Mutation: 1, Chaos: 1, Contract: 2})
	if !ok {
		t.Fatal("no score")
	}
	low, high := w.Interval(map[string]float64{"mutation": 10, "contract": 0})
	if l, h := w.Interval(map[string]float64{"mutation": 10}); l != low || h != high || low <= 0 || low >= 1 {
		t.Errorf("%v to %v, without the component that did not run %v to %v", low, high, l, h)
	}
	if text := w.String(); !strings.Contains(text, "; did not run: ") {
		t.Error(text)
	}
	if w, _ = Resilience(Parts{Mutation: &one, Chaos: &one, Contract: &one, Replay: &one}, Weights{Mutation: 1, Chaos: 1, Contract: 1, Replay: 1}); strings.Contains(w.String(), "did not run") {
		t.Error(w.String())
	}
	if score, ok := Weighted([]Trial{{Weight: 0, Passed: true}}); score != 0 || ok {
		t.Errorf("no weight: %v %t", score, ok)
	}
}
