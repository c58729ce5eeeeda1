package textop_test

import (
	"encoding/json"
	"math/big"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/pyrand/pyrandtest"
	"github.com/thresh-dev/thresh/engine/textop"
)

// number is an integer that a vector may write as a string.
type number string

func (n *number) UnmarshalJSON(b []byte) error {
	if len(b) > 1 && b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	*n = number(b)
	return nil
}

func (n number) big(t *testing.T) *big.Int {
	t.Helper()
	v, ok := new(big.Int).SetString(string(n), 10)
	if !ok {
		t.Fatalf("vector has number %q", n)
	}
	return v
}

func load(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Both rules of deriving give the seeds and the first draws that were measured.
func TestDeriveVectors(t *testing.T) {
	type draws struct {
		Seed   number    `json:"derived_seed"`
		Random []float64 `json:"random5"`
	}
	var file struct {
		Vectors []struct {
			Base       number `json:"seed_base"`
			TestcaseID string `json:"testcase_id"`
			Contract   draws
			Impl       draws
		}
	}
	load(t, "derive_rng.json", &file)
	if len(file.Vectors) < 10 {
		t.Fatalf("only %d vectors", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		for rule, want := range map[textop.Rule]draws{textop.RuleContract: v.Contract, textop.RuleWide: v.Impl} {
			seed := textop.NewDeriver(rule, v.Base.big(t)).Seed(v.TestcaseID)
			if got := strconv.FormatUint(seed, 10); got != string(want.Seed) {
				t.Errorf("%s %s:%q: seed %s, want %s", rule, v.Base, v.TestcaseID, got, want.Seed)
			}
			var streams textop.Streams
			streams.Seed([]uint64{1, seed})
			for i, x := range want.Random {
				if got := streams.Mutate(1).Float64(); got != x {
					t.Errorf("%s %s:%q: draw %d is %v, want %v", rule, v.Base, v.TestcaseID, i, got, x)
				}
			}
		}
	}
}

func TestSelectSeed(t *testing.T) {
	// Python: int(sha256(b"4195312939:select").hexdigest()[:8], 16)
	const derived, want = 4195312939, 3647868394
	if got := textop.SelectSeed(derived); got != want {
		t.Errorf("select seed %d, want %d", got, want)
	}
	var s textop.Streams
	s.Seed([]uint64{derived})
	if got, want := s.Select(0).Float64(), pyrandtest.New(want).Float64(); got != want {
		t.Errorf("first draw %v, want %v", got, want)
	}
}

// The homoglyph operator gives the children, traces and next draws of the
// original.
func TestHomoglyphVectors(t *testing.T) {
	var file struct {
		Vectors []struct {
			Seed     string `json:"seed_text"`
			Strength int
			Derived  number `json:"derived_seed"`
			Status   textop.Status
			Child    string `json:"child_text"`
			Trace    any
			Next     float64 `json:"rng_next_random"`
		}
	}
	load(t, "operators_v02_homoglyph.json", &file)
	op := operator(t, "op_lex_homoglyph_injection")
	for _, v := range file.Vectors {
		rng := pyrandtest.NewBig(v.Derived.big(t))
		r := textop.Run(op, v.Seed, &textop.Context{Strength: v.Strength, Surface: textop.PromptText}, rng)
		if r.Status != v.Status || r.Child != v.Child {
			t.Errorf("%q strength %d: %s %q, want %s %q", v.Seed, v.Strength, r.Status, r.Child, v.Status, v.Child)
		}
		var trace any
		if err := json.Unmarshal(mutator.AppendStep(nil, &r.Trace), &trace); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(v.Trace, trace); diff != "" {
			t.Errorf("%q strength %d: trace (-want +got)\n%s", v.Seed, v.Strength, diff)
		}
		if next := rng.Float64(); next != v.Next {
			t.Errorf("%q strength %d: next draw %v, want %v", v.Seed, v.Strength, next, v.Next)
		}
	}
}

func operator(t testing.TB, id string) textop.Operator {
	t.Helper()
	for _, op := range textop.Builtins() {
		if op.Meta().ID == id {
			return op
		}
	}
	t.Fatalf("no operator %s", id)
	return nil
}
