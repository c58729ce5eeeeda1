package similarity

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func score(t testing.TB, a, b string) float64 {
	t.Helper()
	s, err := Lexical{}.Score(context.Background(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type pair struct {
	Kind, A, B string
	Encoder    float64
}

func pairs(t *testing.T) []pair {
	t.Helper()
	text, err := os.ReadFile("testdata/pairs.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []pair
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// The figures are those of the comment in calibration.go; thresholds rest on
// them, so a measure with other numbers needs another name and calibration.
func TestCalibration(t *testing.T) {
	list := pairs(t)
	for threshold, want := range map[float64]int{0.4: 64, 0.5: 64, 0.6: 60, 0.7: 62, 0.75: 68, 0.8: 69, 0.85: 68, 0.9: 67} {
		alike := 0
		for _, p := range list {
			if (p.Encoder >= threshold) == (score(t, p.A, p.B) >= (Lexical{}).Translate(threshold)) {
				alike++
			}
		}
		if alike != want || len(list) != 72 {
			t.Errorf("at %v %d of %d pairs are sorted as by the encoder, not %d", threshold, alike, len(list), want)
		}
	}
	byKind := make(map[string][]float64)
	for _, p := range list {
		byKind[p.Kind] = append(byKind[p.Kind], score(t, p.A, p.B))
	}
	for kind, want := range map[string][3]float64{
		"same": {0.86, 1, 1}, "paraphrase": {0, 0.46, 0.84}, "related": {0, 0.31, 0.81}, "refusal": {0, 0.01, 0.33}, "unrelated": {0, 0.01, 0.02},
	} {
		s := byKind[kind]
		slices.Sort(s)
		got := [3]float64{s[0], (s[(len(s)-1)/2] + s[len(s)/2]) / 2, s[len(s)-1]}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 0.0051 {
				t.Errorf("%s: %.3f, the comment says %.2f", kind, got, want)
				break
			}
		}
	}
}

func TestTranslate(t *testing.T) {
	for _, tc := range [][2]float64{{0, 0}, {1, 1}, {0.75, 0.545}, {-1, 0}, {2, 1}, {0.95, 0.8}} {
		if got := (Lexical{}).Translate(tc[0]); math.Abs(got-tc[1]) > 1e-9 {
			t.Errorf("%v is %v, want %v", tc[0], got, tc[1])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(0, 1).Draw(t, "a")
		b := rapid.Float64Range(a, 1).Draw(t, "b")
		if (Lexical{}).Translate(a) > (Lexical{}).Translate(b) {
			t.Fatalf("%v is above %v", a, b)
		}
	})
}

func TestLexical(t *testing.T) {
	const text = "The train to Leeds leaves at five."
	for _, tc := range []struct {
		name     string
		a, b     string
		low, top float64
	}{
		{"equal", text, text, 1, 1},
		{"markup, case, space", text, "the **train** to  LEEDS leaves at five", 1, 1},
		{"numbers in words", text, "The train to Leeds leaves at 5.", 1, 1},
		{"forms of words", "The trains are leaving", "The train leaves", 0.8, 1},
		{"both empty", "", " ...", 1, 1},
		{"one empty", text, "", 0, 0},
		{"unrelated", text, "Whales are mammals of the sea.", 0, 0.05},
		{"denied", "The invoice was paid.", "The invoice was not paid.", 0.5, 0.95},
		{"scripts without spaces", "東京は晴れです", "東京は雨です", 0.3, 0.9},
		{"composed and decomposed", "café", "cafe\u0301", 1, 1},
		{"other order", "cats chase dogs", "dogs chase cats", 0.8, 0.99},
	} {
		if s := score(t, tc.a, tc.b); s < tc.low-1e-9 || s > tc.top+1e-9 {
			t.Errorf("%s: %.4f, want %v to %v", tc.name, s, tc.low, tc.top)
		}
	}
}

func TestLexicalLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		ab, _ := Lexical{}.Score(context.Background(), a, b)
		ba, _ := Lexical{}.Score(context.Background(), b, a)
		aa, _ := Lexical{}.Score(context.Background(), a, a)
		if ab != ba || ab < 0 || ab > 1 || math.Abs(aa-1) > 1e-9 {
			t.Fatalf("%v %v %v", ab, ba, aa)
		}
	})
}

func TestCompare(t *testing.T) {
	r, err := Compare(context.Background(), Lexical{}, "The sky is blue.", "the sky is blue", 0.75)
	if err != nil || !r.Alike() {
		t.Fatal(r, err)
	}
	if got := r.String(); got != "1.000 by lexical-v1, threshold 0.545 (for 0.75 of a sentence encoder)" {
		t.Error(got)
	}
	if r, _ := Compare(context.Background(), Lexical{}, "The sky is blue.", "Service unavailable", 0.75); r.Alike() {
		t.Error(r)
	}
}

func BenchmarkLexical(b *testing.B) {
	x, y := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20), strings.Repeat("A slow red fox walks around a sleeping dog. ", 20)
	for b.Loop() {
		score(b, x, y)
	}
}
