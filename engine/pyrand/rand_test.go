package pyrand_test

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/pyrand/pyrandtest"
)

// TestSeedsAgree checks that all integer ways of seeding are one.
func TestSeedsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		a, b := pyrandtest.New(n), pyrandtest.NewBig(big.NewInt(n))
		minus := pyrandtest.NewBig(new(big.Int).Neg(big.NewInt(n)))
		for range 3 {
			if x, y, z := a.Uint32(), b.Uint32(), minus.Uint32(); x != y || x != z {
				t.Fatalf("seed %d: %d, %d, %d", n, x, y, z)
			}
		}
	})
}

// TestReseed checks that nothing of the earlier stream is left after seeding.
func TestReseed(t *testing.T) {
	r := pyrandtest.New(7)
	first := r.Gauss(0, 1) // leaves the second of the pair pending
	r.SeedUint64(7)
	if again := r.Gauss(0, 1); again != first {
		t.Errorf("after reseeding: %v, want %v", again, first)
	}
}

func TestEmptyRangesPanic(t *testing.T) {
	for name, draw := range map[string]func(*pyrand.Rand){
		"below":    func(r *pyrand.Rand) { r.Below(0) },
		"big":      func(r *pyrand.Rand) { r.BigBelow(new(big.Int)) },
		"range":    func(r *pyrand.Rand) { r.Range(2, 2) },
		"step":     func(r *pyrand.Rand) { r.RangeStep(1, 9, -1) },
		"choice":   func(r *pyrand.Rand) { pyrandtest.Choice(r, []int(nil)) },
		"sample":   func(r *pyrand.Rand) { r.Sample(2, 3) },
		"gamma":    func(r *pyrand.Rand) { r.Gamma(math.Inf(1), 1) },
		"beta":     func(r *pyrand.Rand) { r.Beta(1, 0) },
		"choices":  func(r *pyrand.Rand) { r.Choices(0, 1) },
		"weighted": func(r *pyrand.Rand) { r.WeightedChoices([]float64{0, 0}, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			draw(pyrandtest.New(1))
		})
	}
}

// TestBatch checks that a lane gives the words of a Rand with its seed, for
// keys of one and of two words, over several generations, and after a move.
func TestBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var seeds [pyrand.Lanes]uint64
		for i := range seeds {
			seeds[i] = rapid.OneOf(
				rapid.Uint64Range(0, 9),
				rapid.Uint64Range(1<<32-3, 1<<32+3),
				rapid.Uint64(),
			).Draw(t, "seed")
		}
		var b pyrand.Batch
		b.Seed(&seeds)
		count := rapid.IntRange(0, 1400).Draw(t, "words")
		n := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "n")
		for lane, seed := range seeds {
			var want pyrand.Rand
			want.SeedUint64(seed)
			for i := range count {
				if x, y := b.Uint32(lane), want.Uint32(); x != y {
					t.Fatalf("seed %d word %d: %d, want %d", seed, i, x, y)
				}
			}
			if x, y := b.Below(lane, n), want.Below(n); x != y {
				t.Fatalf("seed %d below %d: %d, want %d", seed, n, x, y)
			}
			var moved pyrand.Rand
			b.Move(lane, &moved)
			p, q := make([]byte, 700), make([]byte, 700)
			moved.FillBelow256(p)
			want.FillBelow256(q)
			if !bytes.Equal(p, q) || moved.Uint32() != want.Uint32() {
				t.Fatalf("seed %d differs after the move at word %d", seed, count)
			}
		}
	})
}

func TestPreciseDistributionsAreFinite(t *testing.T) {
	r := pyrandtest.New(99)
	for range 20000 {
		for _, v := range []float64{
			r.Gauss(2, 3), r.Normal(2, 3), r.Exponential(0.5), r.Triangular(1, 1, 1),
			r.Gamma(0.3, 2), r.Gamma(1e300, 1), r.Gamma(5e-324, 1), r.Beta(0.2, 7), r.Beta(5e-324, 5e-324),
		} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("not finite: %v", v)
			}
		}
	}
}

func BenchmarkSeed(b *testing.B) {
	var r pyrand.Rand
	b.ReportAllocs()
	for i := range b.N {
		r.SeedUint64(uint64(i))
	}
}

// BenchmarkBatchSeed reports the time for one of the lanes.
func BenchmarkBatchSeed(b *testing.B) {
	var batch pyrand.Batch
	var seeds [pyrand.Lanes]uint64
	b.ReportAllocs()
	for i := 0; i < b.N; i += pyrand.Lanes {
		for j := range seeds {
			seeds[j] = uint64(i + j)
		}
		batch.Seed(&seeds)
	}
}

func BenchmarkUint32(b *testing.B) {
	r := pyrandtest.New(1)
	for range b.N {
		r.Uint32()
	}
}

func BenchmarkFillBelow256(b *testing.B) {
	r := pyrandtest.New(1)
	p := make([]byte, 1<<16)
	b.SetBytes(int64(len(p)))
	for range b.N {
		r.FillBelow256(p)
	}
}

// TestGroup checks that every lane of a group is the generator of its seed,
// for long draws, and again after seeding anew.
func TestGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g pyrand.Group
		for range 2 {
			var seeds [pyrand.Lanes]uint64
			for i := range seeds {
				seeds[i] = rapid.OneOf(rapid.Uint64(), rapid.Just(uint64(0)), rapid.Uint64Range(0, 1<<32)).Draw(t, "seed")
			}
			g.Seed(&seeds)
			for i, s := range seeds {
				var want pyrand.Rand
				want.SeedUint64(s)
				for n := range rapid.IntRange(0, 1500).Draw(t, "words") {
					if g.Rand(i).Uint32() != want.Uint32() {
						t.Fatalf("lane %d with seed %d differs at word %d", i, s, n)
					}
				}
			}
		}
	})
}

// BenchmarkGroupSeed reports the time for one of the lanes and its first words.
func BenchmarkGroupSeed(b *testing.B) {
	var group pyrand.Group
	var seeds [pyrand.Lanes]uint64
	b.ReportAllocs()
	for i := 0; i < b.N; i += pyrand.Lanes {
		for j := range seeds {
			seeds[j] = uint64(i + j)
		}
		group.Seed(&seeds)
		for j := range seeds {
			group.Rand(j).Uint32()
		}
	}
}

func BenchmarkGauss(b *testing.B) {
	r := pyrandtest.New(1)
	for range b.N {
		r.Gauss(0, 1)
	}
}

func BenchmarkBeta(b *testing.B) {
	r := pyrandtest.New(1)
	for range b.N {
		r.Beta(0.5, 2.5)
	}
}
