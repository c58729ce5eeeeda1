package pyrand_test

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/pyrand/pyrandtest"
)

// float is a float64 that the vectors write in hexadecimal.
type float float64

func (f *float) UnmarshalJSON(b []byte) error {
	var text struct{ Hex string }
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	v, err := strconv.ParseFloat(text.Hex, 64)
	*f = float(v)
	return err
}

// row is a JSON array whose elements have different types.
type row []json.RawMessage

func (r row) int(t *testing.T, i int) int64 {
	t.Helper()
	return r.big(t, i).Int64()
}

func (r row) big(t *testing.T, i int) *big.Int {
	t.Helper()
	s := string(r[i])
	if u, err := strconv.Unquote(s); err == nil {
		s = u
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("not an integer: %s", r[i])
	}
	return n
}

func (r row) ints(t *testing.T, i int) []int {
	t.Helper()
	var out []int
	decode(t, r[i], &out)
	return out
}

func (r row) number(t *testing.T, i int) float64 {
	t.Helper()
	var f float
	if json.Unmarshal(r[i], &f) == nil {
		return float64(f)
	}
	var v float64
	decode(t, r[i], &v)
	return v
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("decoding vectors: %v", err)
	}
}

type intVectors struct {
	Seed        string
	Random      []float
	First       []uint32    `json:"getrandbits32_first10"`
	Far         [][2]uint32 `json:"getrandbits32_620_to_1260_every32"`
	Bits        []row       `json:"getrandbits_k_sequence"`
	Below       []row       `json:"randrange_n_sequence"`
	Step        []row       `json:"randrange_start_stop_step"`
	Randint     []row       `json:"randint"`
	Below256    []int       `json:"randrange256_x64"`
	Choice      [][2]int    `json:"choice_of_1_to_10"`
	Shuffle     []row
	Sample      []row
	Uniform     []row
	Choices     []int    `json:"choices_k10_range7"`
	Weighted    []string `json:"choices_weighted_k10"`
	Randbytes   []string `json:"randbytes_0_1_4_5_16"`
	Gauss       []float  `json:"gauss_0_1"`
	Normal      []float  `json:"normalvariate_0_1"`
	Exponential []float  `json:"expovariate_1"`
	Triangular  []float
}

type vectors struct {
	Ints    []intVectors `json:"int_seeds"`
	Strings []struct {
		Seed   string   `json:"seed_str"`
		Bits   []uint32 `json:"getrandbits32"`
		Random float
	} `json:"str_seeds"`
	Floats []struct {
		Seed string   `json:"seed_float"`
		Bits []uint32 `json:"getrandbits32"`
	} `json:"float_seeds"`
	Bytes []struct {
		Seed string   `json:"seed_bytes_hex"`
		Bits []uint32 `json:"getrandbits32"`
	} `json:"bytes_seeds"`
}

func load(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/cpython_random.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	decode(t, data, &v)
	return v
}

func words(r *pyrand.Rand, n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = r.Uint32()
	}
	return out
}

// TestPythonVectors holds every method against what CPython 3.11 returned.
func TestPythonVectors(t *testing.T) {
	v := load(t)
	if len(v.Ints) == 0 {
		t.Fatal("vectors are missing")
	}
	for _, c := range v.Ints {
		t.Run("seed="+c.Seed, func(t *testing.T) { checkInt(t, c) })
	}
}

func checkInt(t *testing.T, c intVectors) {
	seed, ok := new(big.Int).SetString(c.Seed, 10)
	if !ok {
		t.Fatalf("bad seed %q", c.Seed)
	}
	fresh := func() *pyrand.Rand { return pyrandtest.NewBig(seed) }
	floats := func(name string, want []float, draw func(*pyrand.Rand) float64) {
		r := fresh()
		for i, w := range want {
			got, off := draw(r), 0.0
			if slices.Contains([]string{"gauss", "normalvariate", "expovariate"}, name) { // made with the C library's functions
				off = 1e-14 * math.Abs(float64(w))
			}
			if math.Abs(got-float64(w)) > off {
				t.Errorf("%s[%d] = %x, want %x", name, i, got, float64(w))
			}
		}
	}
	floats("random", c.Random, (*pyrand.Rand).Float64)
	floats("gauss", c.Gauss, func(r *pyrand.Rand) float64 { return r.Gauss(0, 1) })
	floats("normalvariate", c.Normal, func(r *pyrand.Rand) float64 { return r.Normal(0, 1) })
	floats("expovariate", c.Exponential, func(r *pyrand.Rand) float64 { return r.Exponential(1) })
	floats("triangular", c.Triangular, func(r *pyrand.Rand) float64 { return r.Triangular(0, 1, 0.3) })

	if got := words(fresh(), len(c.First)); !slices.Equal(got, c.First) {
		t.Errorf("getrandbits(32): %v, want %v", got, c.First)
	}
	all := words(fresh(), 1300)
	for _, w := range c.Far {
		if all[w[0]] != w[1] {
			t.Errorf("word %d is %d, want %d", w[0], all[w[0]], w[1])
		}
	}
	r := fresh()
	for _, w := range c.Bits {
		k, want := int(w.int(t, 0)), w.big(t, 1)
		if k <= 64 {
			if got := r.Bits(k); got != want.Uint64() {
				t.Errorf("getrandbits(%d) = %d, want %d", k, got, want)
			}
		} else if got := r.BigBits(k); got.Cmp(want) != 0 {
			t.Errorf("getrandbits(%d) = %d, want %d", k, got, want)
		}
	}
	r = fresh()
	for _, w := range c.Below {
		n, want := w.big(t, 0), w.big(t, 1)
		if n.IsUint64() {
			if got := r.Below(n.Uint64()); got != want.Uint64() {
				t.Errorf("randrange(%d) = %d, want %d", n, got, want)
			}
		} else if got := r.BigBelow(n); got.Cmp(want) != 0 {
			t.Errorf("randrange(%d) = %d, want %d", n, got, want)
		}
	}
	r = fresh()
	for _, w := range c.Step {
		if got := r.RangeStep(w.int(t, 0), w.int(t, 1), w.int(t, 2)); got != w.int(t, 3) {
			t.Errorf("randrange(%s) = %d", w, got)
		}
	}
	r = fresh()
	for _, w := range c.Randint {
		if got := r.Range(w.int(t, 0), w.int(t, 1)+1); got != w.int(t, 2) {
			t.Errorf("randint(%s) = %d", w, got)
		}
	}
	r = fresh()
	for i, w := range c.Below256 {
		if got := r.Range(0, 256); got != int64(w) {
			t.Errorf("randrange(256) #%d = %d, want %d", i, got, w)
		}
	}
	filled := make([]byte, len(c.Below256))
	fresh().FillBelow256(filled)
	for i, w := range c.Below256 {
		if int(filled[i]) != w {
			t.Errorf("FillBelow256 #%d = %d, want %d", i, filled[i], w)
		}
	}
	r = fresh()
	for _, w := range c.Choice {
		list := make([]int, w[0])
		for i := range list {
			list[i] = i
		}
		if got := pyrandtest.Choice(r, list); got != w[1] {
			t.Errorf("choice of %d = %d, want %d", w[0], got, w[1])
		}
	}
	for _, w := range c.Shuffle {
		r := fresh()
		list := make([]int, w.int(t, 0))
		for i := range list {
			list[i] = i
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if want := w.ints(t, 1); !slices.Equal(list, want) || int64(r.Uint32()) != w.int(t, 2) {
			t.Errorf("shuffle of %d = %v, want %v", len(list), list, want)
		}
	}
	for _, w := range c.Sample {
		r := fresh()
		n, k := int(w.int(t, 0)), int(w.int(t, 1))
		if got, want := r.Sample(n, k), w.ints(t, 2); !slices.Equal(got, want) || int64(r.Uint32()) != w.int(t, 3) {
			t.Errorf("sample(%d, %d) = %v, want %v", n, k, got, want)
		}
	}
	r = fresh()
	for i, w := range c.Uniform {
		if got := r.Uniform(w.number(t, 0), w.number(t, 1)); got != w.number(t, 2) {
			t.Errorf("uniform #%d %s = %v", i, w, got)
		}
	}
	r = fresh()
	if got := r.Choices(7, 10); !slices.Equal(got, c.Choices) {
		t.Errorf("choices = %v, want %v", got, c.Choices)
	}
	for i, at := range r.WeightedChoices([]float64{1, 5, 2}, 10) {
		if got := string("abc"[at]); got != c.Weighted[i] {
			t.Errorf("weighted choice %d = %s, want %s", i, got, c.Weighted[i])
		}
	}
	r = fresh()
	for i, n := range []int{0, 1, 4, 5, 16} {
		if got := hex.EncodeToString(r.Bytes(n)); got != c.Randbytes[i] {
			t.Errorf("randbytes(%d) = %s, want %s", n, got, c.Randbytes[i])
		}
	}
}
