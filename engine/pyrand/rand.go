package pyrand

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Rand is a generator with the state and methods of random.Random. Make one with
// New, NewBig, NewString, NewBytes or NewFloat, or seed a zero Rand before its
// first use. It is not safe for concurrent use.
type Rand struct {
	mt   [words]uint32
	next int // words before next have been returned

	// made is the number of words of this generation that exist; the rest still
	// belong to the previous one. The first generation is made on demand in
	// growing pieces, since many generators return a handful of words and are
	// thrown away.
	made int

	// pendingGauss is the second deviate of the last pair that Gauss made.
	pendingGauss float64
	hasPending   bool
}

// Uint32 returns the next word: getrandbits(32).
func (r *Rand) Uint32() uint32 {
	if r.next == r.made {
		r.advance()
	}
	y := r.mt[r.next]
	r.next++
	return temper(y)
}

// firstPiece is the number of words that a seeded generator makes first.
const firstPiece = 16

// advance makes more words, after all existing ones have been returned.
func (r *Rand) advance() {
	from := r.made
	if from == words {
		r.next, r.made = 0, words
		twist(&r.mt, 0, words)
		return
	}
	r.made = min(max(2*from, firstPiece), words)
	twist(&r.mt, from, r.made)
}

// Bits returns k random bits, 0 <= k <= 64: getrandbits(k).
func (r *Rand) Bits(k int) uint64 {
	switch {
	case k == 0:
		return 0
	case k <= 32:
		return uint64(r.Uint32() >> (32 - k))
	}
	low := uint64(r.Uint32())
	return low | uint64(r.Uint32()>>(64-k))<<32
}

// BigBits returns k random bits for any k >= 0: getrandbits(k).
func (r *Rand) BigBits(k int) *big.Int {
	return new(big.Int).SetBytes(r.bigEndianBits(k))
}

// bigEndianBits draws k bits. Words fill the number from its low end, and the
// last one gives its high bits.
func (r *Rand) bigEndianBits(k int) []byte {
	out := make([]byte, (k+31)/32*4)
	for at := len(out); k > 0; k -= 32 {
		w := r.Uint32()
		if k < 32 {
			w >>= 32 - k
		}
		at -= 4
		out[at], out[at+1], out[at+2], out[at+3] = byte(w>>24), byte(w>>16), byte(w>>8), byte(w)
	}
	return out
}

// Below returns a number from 0 to n-1; n must not be 0. It draws as many bits as
// n itself has and repeats that while the result is too large, so that even
// Below(1) draws.
func (r *Rand) Below(n uint64) uint64 {
	mustBePositive(n != 0)
	k := bits.Len64(n)
	v := r.Bits(k)
	for v >= n {
		v = r.Bits(k)
	}
	return v
}

// BigBelow is Below for any n > 0.
func (r *Rand) BigBelow(n *big.Int) *big.Int {
	mustBePositive(n.Sign() > 0)
	k := n.BitLen()
	v := r.BigBits(k)
	for v.Cmp(n) >= 0 {
		v = r.BigBits(k)
	}
	return v
}

// Float64 returns a number from 0 up to, but not including, 1 with 53 random
// bits: random().
func (r *Rand) Float64() float64 {
	a := r.Uint32() >> 5
	b := r.Uint32() >> 6
	return (float64(a)*(1<<26) + float64(b)) * (1.0 / (1 << 53)) // exact up to the last step, so fusing cannot show
}

// Bytes returns n random bytes: randbytes(n).
func (r *Rand) Bytes(n int) []byte {
	out := make([]byte, (n+3)/4*4)
	for left, at := n, 0; left > 0; left, at = left-4, at+4 {
		w := r.Uint32()
		if left < 4 {
			w >>= 32 - 8*left
		}
		out[at], out[at+1], out[at+2], out[at+3] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
	}
	return out[:n]
}

// FillBelow256 fills p with the results of len(p) calls of randrange(256).
func (r *Rand) FillBelow256(p []byte) {
	for n := 0; n < len(p); {
		if r.next == r.made {
			r.advance()
		}
		for r.next < r.made && n < len(p) {
			// Nine bits are drawn, and drawn again if they are 256 or more.
			// Writing first and advancing after saves a branch that cannot be
			// predicted.
			y := temper(r.mt[r.next])
			r.next++
			p[n] = byte(y >> 23)
			n += int(^y >> 31)
		}
	}
}

func mustBePositive(ok bool) {
	if !ok {
		panic("pyrand: empty range")
	}
}

// SeedUint64 restarts the generator as seed(n).
func (r *Rand) SeedUint64(n uint64) {
	key := [2]uint32{uint32(n), uint32(n >> 32)}
	if key[1] == 0 {
		r.seedKey(key[:1])
		return
	}
	r.seedKey(key[:])
}

// SeedBig restarts the generator as seed(n).
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

// stateSize is the length of a state without a pending deviate.
const stateSize = 4 * (words + 1)

// AppendState appends the state to b: the 624 words and the position of
// getstate()[1], each as 4 bytes little-endian, then, if the second of a pair of
// Gauss is pending, its float64 as 8 bytes little-endian.
func (r *Rand) AppendState(b []byte) []byte {
	next := r.next
	if r.made == 0 { // nothing made since seeding: Python is at the end of the previous words
		next = words
	} else if r.made < words {
		twist(&r.mt, r.made, words)
		r.made = words
	}
	for _, w := range r.mt {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(next))
	if r.hasPending {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.pendingGauss))
	}
	return b
}

// SetState restores a state of AppendState: setstate.
func (r *Rand) SetState(b []byte) error {
	if len(b) != stateSize && len(b) != stateSize+8 {
		return fmt.Errorf("pyrand: a state of %d bytes: expected %d or %d", len(b), stateSize, stateSize+8)
	}
	next := binary.LittleEndian.Uint32(b[4*words:])
	if next > words {
		return fmt.Errorf("pyrand: a state at word %d of %d", next, words)
	}
	for i := range r.mt {
		r.mt[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	r.next, r.made, r.pendingGauss, r.hasPending = int(next), words, 0, len(b) > stateSize
	if r.hasPending {
		r.pendingGauss = math.Float64frombits(binary.LittleEndian.Uint64(b[stateSize:]))
	}
	return nil
}
