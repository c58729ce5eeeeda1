package mutator_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/textop"
)

func config(policy mutator.Policy, steps int) mutator.Config {
	return mutator.Config{SeedBase: big.NewInt(7), Rule: textop.RuleContract, Steps: steps, Strength: textop.Range{Min: 1, Max: 4}, Policy: policy, Redraws: 3}
}

// children makes children of jobs and returns their lines.
func children(t testing.TB, l *mutator.Lane, jobs []mutator.Job) []string {
	t.Helper()
	var out []string
	err := l.Make(t.Context(), jobs, func(c *mutator.Child) error {
		for _, b := range c.Breaches {
			t.Errorf("%s: step %d broke the contract: %s", c.ID, b.Step, b.Text)
		}
		out = append(out, string(mutator.AppendChild(nil, c)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func jobs(seed *mutator.Seed, n int) []mutator.Job {
	list := make([]mutator.Job, n)
	for i := range list {
		list[i] = mutator.Job{Seed: seed, Index: int64(i), ID: mutator.TestcaseID(seed.ID, int64(i))}
	}
	return list
}

// A child depends on its own testcase id: neither the order in which children
// are made nor what is made beside them changes it.
func TestChildrenAreIndependent(t *testing.T) {
	r := builtins(t)
	seeds := []*mutator.Seed{
		{ID: "a", Text: prompt(300), Bucket: textop.PromptInjection, Surface: textop.PromptText},
		{ID: "b", Text: "첫 번째 문장입니다. 두 번째 문장.\n세 번째 줄.", Surface: textop.RAGContext},
		{ID: "c", Text: `{"city": "Lisbon", "nights": 3}`, Surface: textop.ToolcallJSON},
	}
	for _, policy := range mutator.Policies() {
		m := mutator.New(r, config(policy, 2))
		var all []mutator.Job
		for _, s := range seeds {
			all = append(all, jobs(s, 40)...)
		}
		want := children(t, m.NewLane(nil), all)
		back := slices.Clone(all)
		slices.Reverse(back)
		got := children(t, m.NewLane(nil), back)
		slices.Reverse(got)
		if !slices.Equal(want, got) {
			t.Errorf("%s: children differ when they are made in another order", policy)
		}
		lane := m.NewLane(nil)
		for i := range all {
			if one := children(t, lane, all[i:i+1]); one[0] != want[i] {
				t.Fatalf("%s: child %d differs when it is made alone:\n%s\n%s", policy, i, one[0], want[i])
			}
		}
	}
}

// The first step of a child is what a direct application gives with
// Random(derived seed), and lengths are true.
func TestFirstStepIsTheContracts(t *testing.T) {
	r := builtins(t)
	m := mutator.New(r, config(mutator.Uniform, 1))
	seed := &mutator.Seed{ID: "seed", Text: prompt(200), Surface: textop.PromptText}
	err := m.NewLane(nil).Make(t.Context(), jobs(seed, 200), func(c *mutator.Child) error {
		first := c.Steps[0]
		var rng pyrand.Rand
		rng.SeedUint64(m.Derive(c.ID))
		e := r.Entries()[r.Find(first.OpID)]
		op, err := e.New()
		if err != nil {
			return err
		}
		ctx := &textop.Context{Surface: seed.Surface, Strength: first.Params.Int("strength"), Constraints: textop.Constraints{MaxChars: textop.DefaultMaxChars}}
		got := textop.Run(op, seed.Text, ctx, &rng)
		if got.Status != first.Status || got.Status == textop.OK && got.Child != c.Text {
			t.Errorf("%s: %s gives %s %q, the child is %s %q", c.ID, first.OpID, got.Status, got.Child, first.Status, c.Text)
		}
		if last := c.Steps[len(c.Steps)-1]; last.LenAfter != utf8.RuneCountInString(c.Text) {
			t.Errorf("%s: len_after %d, the child has %d", c.ID, last.LenAfter, utf8.RuneCountInString(c.Text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Two steps give at least a thousand distinct children of one seed.
func TestDiversity(t *testing.T) {
	m := mutator.New(builtins(t), config(mutator.Uniform, 2))
	seed := &mutator.Seed{ID: "seed", Text: "Write a short letter to the board about the new office.", Surface: textop.PromptText}
	seen := make(map[mutator.Fingerprint]bool)
	err := m.NewLane(nil).Make(t.Context(), jobs(seed, 1200), func(c *mutator.Child) error {
		if c.Status == textop.OK {
			seen[mutator.FingerprintOf(c.Text)] = true
		}
		return nil
	})
	if err != nil || len(seen) < 1000 {
		t.Errorf("%d distinct children of 1200, %v", len(seen), err)
	}
}

func TestGuardAndLimits(t *testing.T) {
	cfg := config(mutator.Uniform, 3)
	cfg.Constraints.MaxChars = 60
	seed := &mutator.Seed{ID: "s", Text: "Write a short letter to the board.", Surface: textop.PromptText}
	err := mutator.New(builtins(t), cfg).NewLane(nil).Make(t.Context(), jobs(seed, 300), func(c *mutator.Child) error {
		if n := utf8.RuneCountInString(c.Text); n > 60 {
			t.Errorf("%s has %d characters", c.ID, n)
		}
		if strings.ContainsFunc(c.Text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }) {
			t.Errorf("%s holds control characters", c.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPolicies(t *testing.T) {
	r := builtins(t)
	seed := &mutator.Seed{ID: "s", Text: prompt(100), Bucket: textop.PromptInjection, Surface: textop.PromptText}
	first := func(m *mutator.Mutator, n int) map[string]int {
		count := make(map[string]int)
		err := m.NewLane(nil).Make(t.Context(), jobs(seed, n), func(c *mutator.Child) error {
			count[c.Steps[0].OpID]++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	m := mutator.New(r, config(mutator.RoundRobin, 1))
	all := m.Candidates(seed.Bucket, seed.Surface)
	for id, n := range first(m, all) {
		if n != 1 {
			t.Errorf("round-robin: %s was chosen %d times in one turn", id, n)
		}
	}
	favourite := r.Entries()[r.Select(mutator.Filter{Bucket: seed.Bucket, Surface: seed.Surface})[0]].Meta.ID
	cfg := config(mutator.Weighted, 1)
	cfg.Weights = mutator.Weights{seed.Bucket: {favourite: 1e9}}
	if got := first(mutator.New(r, cfg), 100); got[favourite] < 99 {
		t.Errorf("weighted: %v", got)
	}
	for _, policy := range []mutator.Policy{mutator.UCB1, mutator.EXP3} {
		m := mutator.New(r, config(policy, 1))
		bandit := mutator.Bandit{}
		before := first(m, 400)[favourite]
		for range 12 {
			m = m.Learned(bandit)
			odds := m.Odds(seed.Bucket, seed.Surface)
			var rewards []mutator.Reward
			for id, n := range first(m, 400) {
				for range n {
					reward := mutator.Reward{Arm: mutator.Arm{Bucket: string(seed.Bucket), Op: id}, Probability: odds[id]}
					if id == favourite {
						reward.Value = 1
					}
					rewards = append(rewards, reward)
				}
			}
			bandit = bandit.Learn(rewards)
		}
		if after := first(m.Learned(bandit), 400)[favourite]; after < 4*max(before, 1) {
			t.Errorf("%s: the operator that is rewarded was chosen %d times of 400 before, %d after", policy, before, after)
		}
	}
}

// What a fixed mutator chooses by is what the learned one chose by.
func TestFixedRepeatsLearned(t *testing.T) {
	bandit := mutator.Bandit{}.Learn([]mutator.Reward{{Arm: mutator.Arm{Bucket: string(textop.PromptInjection), Op: "op_enc_base64"}, Value: 1, Probability: 0.1}})
	m := mutator.New(builtins(t), config(mutator.EXP3, 2)).Learned(bandit)
	seed := &mutator.Seed{ID: "s", Text: prompt(100), Bucket: textop.PromptInjection, Surface: textop.PromptText}
	fixed := m.Fixed(seed.Bucket, m.Odds(seed.Bucket, seed.Surface))
	if a, b := children(t, m.NewLane(nil), jobs(seed, 100)), children(t, fixed.NewLane(nil), jobs(seed, 100)); !slices.Equal(a, b) {
		t.Error("children differ")
	}
}

func TestRegistryRefusesTwins(t *testing.T) {
	e := mutator.Builtins()[0]
	e.Source = diag.Pos{File: "op_twin.star", Line: 3, Col: 1}
	r, list := mutator.NewRegistry(append(mutator.Builtins(), e))
	if len(list) != 1 || list[0].Pos.File != "op_twin.star" || !strings.Contains(list[0].Message, "taken by a built-in") || len(r.Entries()) != len(mutator.Builtins()) {
		t.Errorf("%v", list)
	}
	if !slices.IsSorted(r.IDs()) {
		t.Error("ids are not sorted")
	}
}

// Seen agrees with comparing everything, as long as it remembers everything.
func TestSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := mutator.NewSeen(64, mutator.MaxDistance)
		var all []mutator.Fingerprint
		for range rapid.IntRange(1, 64).Draw(t, "n") {
			near := rapid.Uint64Range(0, 3).Draw(t, "near")
			f := mutator.Fingerprint{Exact: rapid.Uint64Range(0, 30).Draw(t, "exact"), Near: near<<60 | 1<<rapid.IntRange(0, 59).Draw(t, "bit")}
			if a, b := s.Look(f), mutator.MatchAny(all, f, mutator.MaxDistance); a != b {
				t.Fatalf("%v among %v: %d, want %d", f, all, a, b)
			}
			if s.Meet(f) == mutator.Unseen {
				all = append(all, f)
			}
		}
	})
	small := mutator.NewSeen(3, -1)
	for i := range uint64(10) {
		small.Add(mutator.Fingerprint{Exact: i})
	}
	if small.Look(mutator.Fingerprint{Exact: 9}) != mutator.Same || small.Look(mutator.Fingerprint{Exact: 7}) != mutator.Same ||
		small.Look(mutator.Fingerprint{Exact: 6}) != mutator.Unseen {
		t.Error("the oldest is not what is forgotten")
	}
}

func TestSimHashIsNearForSmallEdits(t *testing.T) {
	text := prompt(2000)
	a, b := mutator.FingerprintOf(text), mutator.FingerprintOf(text[:1000]+"!"+text[1000:])
	c := mutator.FingerprintOf(strings.Repeat("Quite another text, about the weather in spring. ", 40))
	near, far := bitsApart(a.Near, b.Near), bitsApart(a.Near, c.Near)
	if a.Exact == b.Exact || near > 6 || far < 12 {
		t.Errorf("one inserted letter: %d bits, another text: %d bits", near, far)
	}
}

func bitsApart(a, b uint64) int {
	n := 0
	for x := a ^ b; x != 0; x &= x - 1 {
		n++
	}
	return n
}

func TestEntropy(t *testing.T) {
	for _, c := range []struct {
		counts []int64
		bits   float64
	}{{nil, 0}, {[]int64{5}, 0}, {[]int64{1, 1}, 1}, {[]int64{2, 2, 2, 2, 0}, 2}, {[]int64{3, 1}, 0.8112781244591328}} {
		if bits, normal := mutator.Entropy(c.counts); math.Abs(bits-c.bits) > 1e-12 || normal > 1+1e-12 {
			t.Errorf("%v: %v, %v", c.counts, bits, normal)
		}
	}
}

func TestStats(t *testing.T) {
	s := new(mutator.Stats)
	score := func(f float64) *float64 { return &f }
	for _, r := range []struct {
		verdict any
		score   *float64
	}{{" ok ", score(0.5)}, {"FAIL", score(3)}, {"ng", nil}, {true, nil}, {"perhaps", score(math.NaN())}, {"1", score(-1)}} {
		s.Report("b", "op", mutator.ParseJudgement(r.verdict), r.score, 12)
	}
	want := mutator.Tally{N: 6, Pass: 2, Fail: 2, Unknown: 2, Scored: 3, MeanScore: 0.5, Updated: 12}
	if got := s.Get("b", "op"); got != want || got.PassRate() != 0.5 {
		t.Errorf("%+v, want %+v", got, want)
	}
	text, err := s.Encode(99.5)
	if err != nil {
		t.Fatal(err)
	}
	back, err := mutator.DecodeStats(text)
	if err != nil || back.Get("b", "op") != want {
		t.Errorf("%v: %+v", err, back.Get("b", "op"))
	}
	var file map[string]any
	if err := json.Unmarshal(text, &file); err != nil || file["schema_version"] != "operator_stats_by_bucket.v0.1" || file["generated_at"] != 99.5 {
		t.Errorf("%s", text)
	}
	for _, bad := range []string{"", "[]", `{"schema_version": "operator_stats_by_bucket.v0.2"}`, `{"schema_version": "operator_stats_by_bucket.v0.1", "stats": {"b": {"o": {"n": -1}}}}`} {
		if _, err := mutator.DecodeStats([]byte(bad)); err == nil {
			t.Errorf("accepted: %s", bad)
		}
	}
}

// FuzzAppendString holds strings to what encoding/json reads.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\\n\r\t\x00\x7f", "한국어 é \u2028", "\xff\xc0torn"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(mutator.AppendString(nil, s), &back); err != nil {
			t.Fatal(err)
		}
		if utf8.ValidString(s) && back != s {
			t.Fatalf("%q became %q", s, back)
		}
	})
}

func TestChildIsJSON(t *testing.T) {
	m := mutator.New(builtins(t), config(mutator.Uniform, 2))
	seed := &mutator.Seed{ID: `a"b`, Text: "line one\nline two \"quoted\" \\ 한국어", Surface: textop.PromptText, Ordinal: 4}
	for i, line := range children(t, m.NewLane(nil), jobs(seed, 300)) {
		var c struct {
			Testcase string `json:"testcase_id"`
			Ordinal  int    `json:"seed_index"`
			Text     string `json:"child_text"`
			Trace    []struct {
				OpID   string         `json:"op_id"`
				Params map[string]any `json:"params"`
				Before int            `json:"len_before"`
			} `json:"mutation_trace"`
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if c.Testcase != fmt.Sprintf(`a"b:%d`, i) || c.Ordinal != 4 || len(c.Trace) == 0 || c.Trace[0].Before != utf8.RuneCountInString(seed.Text) || c.Trace[0].Params == nil {
			t.Fatalf("%s", line)
		}
	}
}
