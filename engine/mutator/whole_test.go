package mutator

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/internal/golden"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// What the engine makes, learns and writes, as a whole: testdata/whole.txt is what is expected.
func TestWhole(t *testing.T) {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	made(t, say)
	learned(say)
	judged(say)
	written(say)
	const file = "testdata/whole.txt"
	golden.Check(t, file, b.String())
}

// made is a hash of 150 children for each configuration.
func made(t *testing.T, say func(string, ...any)) {
	r, list := NewRegistry(Builtins())
	if len(list) > 0 {
		t.Fatal(list)
	}
	seeds := []*Seed{
		{ID: "a", Text: strings.Repeat("Please keep the figures as they are. ", 5), Bucket: textop.PromptInjection, Surface: textop.PromptText, Goal: "figures"},
		{ID: "b", Text: "첫 번째 문장입니다.\nSecond line.", Surface: textop.RAGContext, SurfaceTag: "rag", BucketTag: "mine", Ordinal: 4, Strength: textop.Range{Min: 2, Max: 5}},
		{ID: "c", Text: `{"city": "Lisbon", "nights": 3}`, Surface: textop.ToolcallJSON, Constraints: &textop.Constraints{MaxChars: 60}},
		{ID: "d", Text: "One."},
	}
	bandit := Bandit{}.Learn([]Reward{{Arm: Arm{"", "op_typo_double"}, Value: 1, Probability: 0.2}, {Arm: Arm{"", "op_typo_drop"}, Value: 0, Probability: 0.2}})
	for _, policy := range Policies() {
		for steps := 1; steps <= 3; steps++ {
			m := New(r, Config{SeedBase: big.NewInt(int64(steps)), Rule: textop.RuleContract, Steps: steps, Strength: textop.Range{Min: 1, Max: 4}, Policy: policy,
				Weights: Weights{"": {"op_typo_double": 3, "op_conv_polite": 0.5}}, Redraws: steps - 1, Partners: []string{"Another text.", "A third."}, Constraints: textop.Constraints{MaxChars: 150 * steps}}).Learned(bandit)
			lane := m.NewLane(nil)
			hash := fnv.New64a()
			statuses := map[textop.Status]int{}
			for i, s := range seeds {
				var jobs []Job
				for k := range int64(40 - i) {
					jobs = append(jobs, Job{Seed: s, Index: k, ID: TestcaseID(s.ID, k)})
				}
				if err := lane.Make(t.Context(), jobs, func(c *Child) error {
					statuses[c.Status]++
					_, err := hash.Write(AppendChild(nil, c))
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			say("%s, %d steps: %x %v", policy, steps, hash.Sum64(), statuses)
		}
	}
}

// learned is what bandits conclude.
func learned(say func(string, ...any)) {
	ops := []string{"a", "b", "c"}
	weights := func(b Bandit, bucket string) {
		for _, list := range [][]float64{b.exp3(bucket, ops), b.ucb1(bucket, ops)} {
			for _, w := range list {
				say("  %.6g", w)
			}
		}
	}
	var rewards []Reward
	for i := range 60 {
		rewards = append(rewards, Reward{Arm: Arm{map[bool]string{true: "x", false: "y"}[i%4 > 0], ops[i%3]}, Value: float64(i%5) / 4, Probability: 0.1 + float64(i%3)/5})
	}
	b := Bandit{}.Learn(rewards)
	for range 3 {
		b = b.Learn(rewards[:7])
	}
	for _, a := range b.Arms() {
		n, mean := b.Mean(a)
		say("%v: %d %.6g", a, n, mean)
	}
	n, mean := b.Mean(Arm{"x", "none"})
	say("none: %d %g", n, mean)
	weights(b, "x")
	weights(b, "y")
	weights(Bandit{}, "x")
	s := new(Stats)
	s.Merge("x", "a", Tally{N: 10, Pass: 4, Fail: 6, Updated: 9})
	s.Merge("x", "b", Tally{N: 4, Unknown: 4, Scored: 3, MeanScore: 0.5, Updated: 2})
	s.Merge("x", "b", Tally{N: 2, Scored: 1, MeanScore: 0.9, Updated: 7})
	s.Merge("x", "b", Tally{N: 1, MeanScore: 0.9})
	s.Merge("y", "c", Tally{N: 3, Pass: 3})
	say("%v %v %v %+v", s.Buckets(), s.Operators("x"), s.Operators("z"), s.Get("x", "b"))
	weights(Recall(s), "x")
	weights(Recall(s), "y")
	for _, bad := range []string{"n", "n_pass", "n_fail", "n_unknown", "n_score", "avg_oracle_score"} {
		_, err := DecodeStats([]byte(`{"schema_version": "` + StatsVersion + `", "stats": {"x": {"a": {"` + bad + `": -1}}}}`))
		say("%s: %v", bad, err)
	}
	_, err := DecodeStats([]byte(`{"schema_version": "` + StatsVersion + `", "stats": {"x": {"a": {"avg_oracle_score": 1.5}}}}`))
	say("%v", err)
	for _, p := range append(Policies(), "none") {
		x, err := ParsePolicy(string(p))
		say("%s %v", x, err)
	}
	p := plan{ops: []int{4, 5, 6}, sums: []float64{1, 1.5, 4}}
	even := plan{ops: []int{4, 5}}
	say("%g %g %g %g %g %g", p.probability(4), p.probability(5), p.probability(6), p.probability(7), even.probability(5), even.probability(6))
}

// judged is how replies of operators elsewhere are held to the contract.
func judged(say func(string, ...any)) {
	e := &Entry{Meta: &textop.Meta{ID: "op_x", Buckets: []textop.Bucket{textop.PromptInjection}, Surfaces: []textop.Surface{textop.PromptText}}, Source: diag.Pos{File: "../ops/x.py", Line: 3, Col: 1}}
	message := "no \x01 good\n"
	for _, r := range []pyhost.OperatorReply{
		{End: pyhost.Applied, Status: "OK", Child: "textt", Trace: json.RawMessage(`{"op_id":"op_x","status":"OK","params":{"b":1,"a":[1,{"z":null,"y":2.5}]},"len_before":4,"len_after":5,"more":"m"}`)},
		{End: pyhost.Applied, Status: "OK", Child: "textt", Trace: json.RawMessage(`{"op_id":3,"params":[],"len_before":"4","len_after":1e99}`), Notes: []string{"a set"}},
		{End: pyhost.Applied, Status: "SKIPPED", Child: "text", Trace: json.RawMessage(`null`), Printed: "hello", GlobalRandom: true},
		{End: pyhost.Applied, Status: "INVALID", Child: "", Error: &message, Trace: json.RawMessage(`{`)},
		{End: pyhost.RaisedIn, Fault: &pyhost.Fault{Class: "ValueError", Message: message, File: "/home/me/ops/x.py", Line: 8}},
		{End: pyhost.RaisedIn, Fault: &pyhost.Fault{Class: "KeyError", File: "/home/me/x.py", Line: 8}},
		{End: pyhost.RaisedIn},
	} {
		a := Answer(e, "text", &textop.Context{}, &r)
		say("%q %v %q %v %v", a.Fault, a.At, a.Printed, a.GlobalRandom, a.Result.Breaches)
		say("  %s", AppendResult(nil, &a.Result))
	}
	say("%s\n%s\n%s", oneLine(strings.Repeat("é", 301)), oneLine(strings.Repeat("e", 300)), oneLine("a b\tc\u200b"))
	say("%s %s %s %s", short(strings.Repeat("é", 61)), short(strings.Repeat("é", 60)), short("a\nb"), short("a"))
}

// written is JSON of values, and what fingerprints match.
func written(say func(string, ...any)) {
	for _, v := range []any{nil, true, 3, int64(-4), 2.5, math.NaN(), math.Inf(1), "x", textop.Params{{Key: "b", Value: 1}, {Key: "a", Value: nil}}, []any{1, "y", []any{}}, map[string]any{"b": 1, "a": 2}, json.Number("7"), func() {}} {
		say("%s", appendValue(nil, v))
	}
	for _, text := range []string{"plain text of more than sixteen bytes", `12345678"`, `1234567"`, `\`, "12345678\x1f", "1234567\x01\x10", "\n\r\t\x7f", "bad \xff byte", " !#[]^", "exactly8"} {
		say("%s", AppendString(nil, text))
	}
	list := []Fingerprint{{1, 0b1111}, {2, 0b1000}}
	say("%v %v %v %v %v", MatchAny(list, Fingerprint{2, 0}, 0), MatchAny(list, Fingerprint{3, 0b1001}, 1), MatchAny(list, Fingerprint{3, 0b1000}, 0), MatchAny(list, Fingerprint{3, 0b1000}, -1), MatchAny(nil, Fingerprint{}, 9))
	say("%x %x %x %x", FingerprintOf(""), FingerprintOf("abcd"), FingerprintOf("exactly8"), FingerprintOf("a text of twenty-four by"))
	s := NewSeen(3, 2)
	for i := range 9 {
		s.Add(Fingerprint{uint64(i), uint64(i % 4 << 20)})
	}
	for i := range 10 {
		say("seen %d: %v %v", i, s.Look(Fingerprint{uint64(i), 1 << 40}), s.Look(Fingerprint{100, uint64(i % 5 << 20)}))
	}
	kept := 0
	for i := range s.bands {
		kept += len(s.bands[i])
	}
	say("%d kept", kept)
}
