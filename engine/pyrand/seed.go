package pyrand

import (
	"crypto/sha512"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// New returns a generator seeded as random.Random(n).
func New(n int64) *Rand {
	r := new(Rand)
	r.Seed(n)
	return r
}

// NewBig is New for an integer of any size.
func NewBig(n *big.Int) *Rand {
	r := new(Rand)
	r.SeedBig(n)
	return r
}

// NewString returns a generator seeded as random.Random(s) for a str.
func NewString(s string) *Rand { return NewBytes([]byte(s)) }

// NewBytes returns a generator seeded as random.Random(b) for bytes. Python
// turns b and its SHA-512 into one big-endian integer.
func NewBytes(b []byte) *Rand {
	sum := sha512.Sum512(b)
	return NewBig(new(big.Int).SetBytes(slices.Concat(b, sum[:])))
}

// NewFloat returns a generator seeded as random.Random(f) for a float, which
// is by its hash. The hash of a NaN is its address in Python; here it is 0.
func NewFloat(f float64) *Rand {
	r := new(Rand)
	r.SeedUint64(uint64(hashFloat(f)))
	return r
}

// Seed starts the generator anew as seed(n). The sign of n is dropped, as
// Python does.
func (r *Rand) Seed(n int64) { r.SeedUint64(magnitude(n)) }

// SeedUint64 starts the generator anew as seed(n).
func (r *Rand) SeedUint64(n uint64) {
	key := [2]uint32{uint32(n), uint32(n >> 32)}
	if key[1] == 0 {
		r.seedKey(key[:1])
		return
	}
	r.seedKey(key[:])
}

// SeedBig starts the generator anew as seed(n).
func (r *Rand) SeedBig(n *big.Int) {
	var key []uint32
	for _, w := range n.Bits() {
		key = append(key, uint32(w))
		if bits.UintSize == 64 {
			key = append(key, uint32(uint64(w)>>32))
		}
	}
	for len(key) > 0 && key[len(key)-1] == 0 {
		key = key[:len(key)-1]
	}
	if len(key) == 0 {
		key = []uint32{0}
	}
	r.seedKey(key)
}

func (r *Rand) seedKey(key []uint32) {
	seedByKey(&r.mt, key)
	r.next, r.made = 0, 0
	r.hasPending = false
}

// magnitude is |n|, also for the smallest int64.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// hashFloat is Python's hash of a float: its value modulo the prime 2**61-1,
// with the sign of the float; -1 is not a hash and becomes -2.
func hashFloat(f float64) int64 {
	const hashBits = 61
	const prime = 1<<hashBits - 1
	switch {
	case math.IsNaN(f):
		return 0
	case math.IsInf(f, 1):
		return 314159
	case math.IsInf(f, -1):
		return -314159
	}
	m, e := math.Frexp(math.Abs(f))
	// m is a 53-bit integer divided by 2**53; a power of two is a rotation of
	// 61 bits, since 2**61 is 1 modulo the prime.
	x := uint64(math.Ldexp(m, 53))
	turn := ((e-53)%hashBits + hashBits) % hashBits
	x = x<<turn&prime | x>>(hashBits-turn)
	if x == prime {
		x = 0
	}
	h := int64(x)
	if f < 0 {
		h = -h
	}
	if h == -1 {
		h = -2
	}
	return h
}
