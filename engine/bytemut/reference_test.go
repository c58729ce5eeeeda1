package bytemut_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/bytemut"
	"github.com/thresh-dev/thresh/engine/pyrand/pyrandtest"
)

type referenceVectors struct {
	Seeds map[string]struct {
		Len         int
		SHA256      string
		Hex         string
		First, Step byte
	}
	Vectors []struct {
		SeedName   string  `json:"seed_name"`
		RNGSeed    *string `json:"rng_seed"`
		MaxBytes   *int64  `json:"max_bytes"`
		MaxOps     int     `json:"max_ops_per_case"`
		Strategies []string
		Cases      []struct {
			Index     int64  `json:"case_index"`
			Len       int    `json:"mutated_len"`
			SHA256    string `json:"mutated_sha256"`
			First     string `json:"first64_hex"`
			LogSHA256 string `json:"mutations_jsonl_sha256"`
			Log       string `json:"mutations_jsonl"`
		}
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func loadReference(t *testing.T) (referenceVectors, map[string][]byte) {
	t.Helper()
	data, err := os.ReadFile("testdata/reference_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var v referenceVectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	seeds := map[string][]byte{}
	for name, s := range v.Seeds {
		b, err := hex.DecodeString(s.Hex)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Len - len(b) {
			b = append(b, s.First+byte(i)*s.Step)
		}
		if digest(b) != s.SHA256 {
			t.Fatalf("seed %s is not what was measured with", name)
		}
		seeds[name] = b
	}
	return v, seeds
}

// TestReferenceVectors holds bytes and logs against what was measured. All
// cases share one buffer, so leftovers of one case would show in the next.
func TestReferenceVectors(t *testing.T) {
	v, seeds := loadReference(t)
	var buf bytemut.Buffer
	cases := 0
	for _, c := range v.Vectors {
		p := bytemut.Params{MaxOps: c.MaxOps, Strategies: c.Strategies}
		if c.MaxBytes != nil {
			p.MaxBytes = *c.MaxBytes
		}
		var seed *big.Int
		if c.RNGSeed != nil {
			seed, _ = new(big.Int).SetString(*c.RNGSeed, 10)
		}
		m, err := bytemut.NewReference(seeds[c.SeedName], p, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.Cases {
			cases++
			got := m.Case(want.Index, &buf)
			log := bytemut.AppendLog(nil, buf.Ops())
			name := fmt.Sprintf("%s seed %v max %d ops %d case %d", c.SeedName, seed, p.MaxBytes, p.MaxOps, want.Index)
			if len(got) != want.Len || digest(got) != want.SHA256 ||
				hex.EncodeToString(got[:min(64, len(got))]) != want.First {
				t.Errorf("%s: %d bytes %.64x, want %d bytes %s", name, len(got), got, want.Len, want.First)
			}
			if digest(log) != want.LogSHA256 || want.Log != "" && string(log) != want.Log {
				t.Errorf("%s: log\n%s, want\n%s", name, log, want.Log)
			}
		}
	}
	if cases != 136 {
		t.Errorf("%d cases were compared, want 136", cases)
	}
}

// plainReference is the algorithm written down as simply as possible, one draw
// at a time on the unclamped bytes.
func plainReference(seed []byte, p bytemut.Params, rngSeed *big.Int, index int64) []byte {
	r := pyrandtest.NewBig(new(big.Int).Add(rngSeed, big.NewInt(index)))
	out := bytes.Clone(seed)
	names := p.Strategies
	if names == nil {
		names = bytemut.Strategies()
	}
	for range p.MaxOps {
		shown := len(out)
		if p.MaxBytes > 0 {
			shown = min(shown, int(p.MaxBytes))
		}
		var can []string
		for _, n := range names {
			if strings.HasPrefix(n, "flip") && shown > 0 || n == "truncate_tail" && len(out) > 256 ||
				n == "append_bytes" && (p.MaxBytes <= 0 || len(out) < int(p.MaxBytes)) {
				can = append(can, n)
			}
		}
		if len(can) == 0 {
			break
		}
		switch pyrandtest.Choice(r, can) {
		case "flip_bit":
			o := r.Index(shown * 8)
			out[o/8] ^= 1 << (o % 8)
		case "flip_byte":
			out[r.Index(shown)] ^= 0xff
		case "truncate_tail":
			n := 1
			if room := len(out) - 256; room > 1 {
				n = int(r.Range(1, int64(room)+1))
			}
			out = out[:len(out)-n]
		case "append_bytes":
			n := 1
			if p.MaxBytes > 0 {
				n = int(r.Range(1, p.MaxBytes-int64(len(out))+1))
			}
			for range n {
				out = append(out, byte(r.Index(256)))
			}
		}
	}
	if p.MaxBytes > 0 && int64(len(out)) > p.MaxBytes {
		out = out[:p.MaxBytes]
	}
	return out
}

// TestReferenceAnyOrder checks that a case does not depend on which cases its
// buffer made before, and that it is what the plain algorithm makes.
func TestReferenceAnyOrder(t *testing.T) {
	all := bytemut.Strategies()
	rapid.Check(t, func(t *rapid.T) {
		var buf bytemut.Buffer
		for range 2 { // two mutators take turns on one buffer
			seed := bytes.Repeat([]byte("0123456789abcdef"), rapid.IntRange(0, 40).Draw(t, "sixteens"))
			p := bytemut.Params{
				MaxBytes: rapid.Int64Range(0, 800).Draw(t, "max"),
				MaxOps:   rapid.IntRange(0, 12).Draw(t, "ops"),
			}
			if rapid.Bool().Draw(t, "named") {
				p.Strategies = rapid.SliceOf(rapid.SampledFrom(all)).Draw(t, "strategies")
			}
			base := rapid.OneOf(
				rapid.Map(rapid.Int64Range(-20, 20), big.NewInt),
				rapid.Map(rapid.Int64Range(1<<32-20, 1<<32+5), big.NewInt),
				rapid.Map(rapid.Int64(), big.NewInt),
				rapid.Map(rapid.Int64(), func(n int64) *big.Int {
					x := big.NewInt(n)
					return x.Mul(x, x)
				}),
			).Draw(t, "base")
			m, err := bytemut.NewReference(seed, p, base)
			if err != nil {
				t.Fatal(err)
			}
			index := rapid.Int64Range(0, 1000).Draw(t, "start")
			for range rapid.IntRange(1, 30).Draw(t, "cases") {
				if got, want := m.Case(index, &buf), plainReference(seed, p, base, index); !bytes.Equal(got, want) {
					t.Fatalf("case %d: %q, want %q", index, got, want)
				}
				if rapid.IntRange(0, 4).Draw(t, "jump") == 0 {
					index = rapid.Int64Range(0, 1000).Draw(t, "index")
				} else {
					index += rapid.Int64Range(1, 2).Draw(t, "stride")
				}
			}
		}
	})
}

// TestReferenceExtremeSeeds crosses the borders between the ways of seeding.
func TestReferenceExtremeSeeds(t *testing.T) {
	p := bytemut.Params{MaxOps: 3}
	var buf bytemut.Buffer
	for _, base := range []int64{math.MaxInt64, math.MinInt64, math.MinInt64 + 3, -4, 1<<32 - 4} {
		m, err := bytemut.NewReference([]byte("seed"), p, big.NewInt(base))
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []int64{0, math.MaxInt64 - 20} {
			for i := from; i < from+20; i++ {
				if got, want := m.Case(i, &buf), plainReference([]byte("seed"), p, big.NewInt(base), i); !bytes.Equal(got, want) {
					t.Errorf("base %d case %d: %q, want %q", base, i, got, want)
				}
			}
		}
	}
}

func TestReferenceRefuses(t *testing.T) {
	for want, p := range map[string]bytemut.Params{
		"did you mean flip_bit?": {MaxOps: 1, Strategies: []string{"flip_bits"}},
		"-1 is negative":         {MaxOps: -1},
	} {
		if _, err := bytemut.NewReference(nil, p, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// TestReferenceAllocatesNothing keeps the hot loop free of garbage.
func TestReferenceAllocatesNothing(t *testing.T) {
	m, err := bytemut.NewReference(make([]byte, 1024), bytemut.Params{MaxOps: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytemut.Buffer
	index := int64(0)
	for ; index < 100; index++ {
		m.Case(index, &buf)
	}
	if n := testing.AllocsPerRun(100, func() { m.Case(index, &buf); index++ }); n != 0 {
		t.Errorf("%v allocations a case", n)
	}
}

func BenchmarkReference(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
		p    bytemut.Params
	}{
		{"1KB_1op", 1024, bytemut.Params{MaxOps: 1}},
		{"1KB_4ops", 1024, bytemut.Params{MaxOps: 4}},
		{"1KB_4ops_cap2000", 1024, bytemut.Params{MaxOps: 4, MaxBytes: 2000}},
		{"1KB_4ops_cap1MB", 1024, bytemut.Params{MaxOps: 4, MaxBytes: 1 << 20}},
		{"64MB_1op", 64 << 20, bytemut.Params{MaxOps: 1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m, err := bytemut.NewReference(make([]byte, c.size), c.p, big.NewInt(1))
			if err != nil {
				b.Fatal(err)
			}
			var buf bytemut.Buffer
			m.Case(0, &buf)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				m.Case(int64(i), &buf)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s")
		})
	}
}
