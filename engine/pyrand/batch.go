package pyrand

import "math/bits"

// Lanes is the number of generators that a [Batch] seeds at once.
const Lanes = 8

// Batch seeds several generators at once. Seeding MT19937 is a chain of 1,247
// multiplications, each waiting for the previous one; parallel chains fill that
// wait. Words are made on demand, so that a case that takes three words pays for
// three. The zero Batch is ready for Seed.
type Batch struct {
	mt   [words][Lanes]uint32 // a row holds one word of every lane
	next [Lanes]uint32        // the next word to make and return
}

// Seed starts lane i as random.Random(seeds[i]).
func (b *Batch) Seed(seeds *[Lanes]uint64) {
	b.next = [Lanes]uint32{}
	// A key has one word or two. Its words take turns, each with its index in the
	// key added; a key of one word takes every turn.
	var even, odd [Lanes]uint32
	for i, s := range seeds {
		even[i] = uint32(s)
		if odd[i] = uint32(s>>32) + 1; s>>32 == 0 {
			odd[i] = even[i]
		}
	}
	// One variable per lane, so that the chains stay in registers.
	s := start[0]
	x0, x1, x2, x3, x4, x5, x6, x7 := s, s, s, s, s, s, s, s
	for i := 1; i < words-1; i += 2 {
		w, row := start[i], &b.mt[i]
		x0 = (w ^ (x0^x0>>30)*mixKey) + even[0]
		x1 = (w ^ (x1^x1>>30)*mixKey) + even[1]
		x2 = (w ^ (x2^x2>>30)*mixKey) + even[2]
		x3 = (w ^ (x3^x3>>30)*mixKey) + even[3]
		x4 = (w ^ (x4^x4>>30)*mixKey) + even[4]
		x5 = (w ^ (x5^x5>>30)*mixKey) + even[5]
		x6 = (w ^ (x6^x6>>30)*mixKey) + even[6]
		x7 = (w ^ (x7^x7>>30)*mixKey) + even[7]
		row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7] = x0, x1, x2, x3, x4, x5, x6, x7
		w, row = start[i+1], &b.mt[i+1]
		x0 = (w ^ (x0^x0>>30)*mixKey) + odd[0]
		x1 = (w ^ (x1^x1>>30)*mixKey) + odd[1]
		x2 = (w ^ (x2^x2>>30)*mixKey) + odd[2]
		x3 = (w ^ (x3^x3>>30)*mixKey) + odd[3]
		x4 = (w ^ (x4^x4>>30)*mixKey) + odd[4]
		x5 = (w ^ (x5^x5>>30)*mixKey) + odd[5]
		x6 = (w ^ (x6^x6>>30)*mixKey) + odd[6]
		x7 = (w ^ (x7^x7>>30)*mixKey) + odd[7]
		row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7] = x0, x1, x2, x3, x4, x5, x6, x7
	}
	w, row := start[words-1], &b.mt[words-1]
	x0 = (w ^ (x0^x0>>30)*mixKey) + even[0]
	x1 = (w ^ (x1^x1>>30)*mixKey) + even[1]
	x2 = (w ^ (x2^x2>>30)*mixKey) + even[2]
	x3 = (w ^ (x3^x3>>30)*mixKey) + even[3]
	x4 = (w ^ (x4^x4>>30)*mixKey) + even[4]
	x5 = (w ^ (x5^x5>>30)*mixKey) + even[5]
	x6 = (w ^ (x6^x6>>30)*mixKey) + even[6]
	x7 = (w ^ (x7^x7>>30)*mixKey) + even[7]
	row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7] = x0, x1, x2, x3, x4, x5, x6, x7
	// The 624th step of the first pass meets word 1 again.
	row = &b.mt[1]
	x0 = (row[0] ^ (x0^x0>>30)*mixKey) + odd[0]
	x1 = (row[1] ^ (x1^x1>>30)*mixKey) + odd[1]
	x2 = (row[2] ^ (x2^x2>>30)*mixKey) + odd[2]
	x3 = (row[3] ^ (x3^x3>>30)*mixKey) + odd[3]
	x4 = (row[4] ^ (x4^x4>>30)*mixKey) + odd[4]
	x5 = (row[5] ^ (x5^x5>>30)*mixKey) + odd[5]
	x6 = (row[6] ^ (x6^x6>>30)*mixKey) + odd[6]
	x7 = (row[7] ^ (x7^x7>>30)*mixKey) + odd[7]
	row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7] = x0, x1, x2, x3, x4, x5, x6, x7
	for i := 2; i < words; i++ {
		row, k := &b.mt[i], uint32(i)
		x0 = (row[0] ^ (x0^x0>>30)*mixIndex) - k
		x1 = (row[1] ^ (x1^x1>>30)*mixIndex) - k
		x2 = (row[2] ^ (x2^x2>>30)*mixIndex) - k
		x3 = (row[3] ^ (x3^x3>>30)*mixIndex) - k
		x4 = (row[4] ^ (x4^x4>>30)*mixIndex) - k
		x5 = (row[5] ^ (x5^x5>>30)*mixIndex) - k
		x6 = (row[6] ^ (x6^x6>>30)*mixIndex) - k
		x7 = (row[7] ^ (x7^x7>>30)*mixIndex) - k
		row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7] = x0, x1, x2, x3, x4, x5, x6, x7
	}
	row = &b.mt[1]
	x0 = (row[0] ^ (x0^x0>>30)*mixIndex) - 1
	x1 = (row[1] ^ (x1^x1>>30)*mixIndex) - 1
	x2 = (row[2] ^ (x2^x2>>30)*mixIndex) - 1
	x3 = (row[3] ^ (x3^x3>>30)*mixIndex) - 1
	x4 = (row[4] ^ (x4^x4>>30)*mixIndex) - 1
	x5 = (row[5] ^ (x5^x5>>30)*mixIndex) - 1
	x6 = (row[6] ^ (x6^x6>>30)*mixIndex) - 1
	x7 = (row[7] ^ (x7^x7>>30)*mixIndex) - 1
	row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7] = x0, x1, x2, x3, x4, x5, x6, x7
	for i := range b.mt[0] {
		b.mt[0][i] = upperBit
	}
}

// Uint32 returns the next word of a lane: getrandbits(32).
func (b *Batch) Uint32(lane int) uint32 {
	lane &= Lanes - 1
	i := b.next[lane]
	far, near := i+shift, i+1
	if far >= words {
		far -= words
	}
	if near == words {
		near = 0
	}
	b.next[lane] = near
	y := b.mt[far][lane] ^ mixNeighbours(b.mt[i][lane], b.mt[near][lane])
	b.mt[i][lane] = y
	return temper(y)
}

// Bits returns k random bits of a lane, 0 <= k <= 64: getrandbits(k).
func (b *Batch) Bits(lane, k int) uint64 {
	switch {
	case k == 0:
		return 0
	case k <= 32:
		return uint64(b.Uint32(lane) >> (32 - k))
	}
	low := uint64(b.Uint32(lane))
	return low | uint64(b.Uint32(lane)>>(64-k))<<32
}

// Below returns a number from 0 to n-1 of a lane, as [Rand.Below] does.
func (b *Batch) Below(lane int, n uint64) uint64 {
	mustBePositive(n != 0)
	k := bits.Len64(n)
	v := b.Bits(lane, k)
	for v >= n {
		v = b.Bits(lane, k)
	}
	return v
}

// Move makes r continue where a lane is, for a long draw, at which a Rand is
// faster. The lane must not be used after that.
func (b *Batch) Move(lane int, r *Rand) {
	lane &= Lanes - 1
	for i := range r.mt {
		r.mt[i] = b.mt[i][lane]
	}
	r.next = int(b.next[lane])
	r.made = r.next
	r.hasPending = false
}

// Group is [Lanes] generators that are seeded together like a [Batch], and then
// used on their own. It is for callers that need the methods of [Rand]; a Batch is
// somewhat cheaper for a few words of every lane. The zero Group is ready for Seed.
type Group struct{ rands [Lanes]Rand }

// Rand returns the generator of a lane, which is always the same one; Seed restarts
// it.
func (g *Group) Rand(lane int) *Rand { return &g.rands[lane&(Lanes-1)] }

// Seed starts lane i as random.Random(seeds[i]).
func (g *Group) Seed(seeds *[Lanes]uint64) {
	// keys[i%2] is what step i adds; see Batch.Seed.
	var keys [2][Lanes]uint32
	for i, s := range seeds {
		keys[1][i] = uint32(s)
		if keys[0][i] = uint32(s>>32) + 1; s>>32 == 0 {
			keys[0][i] = keys[1][i]
		}
	}
	a, b, c, d := &g.rands[0].mt, &g.rands[1].mt, &g.rands[2].mt, &g.rands[3].mt
	e, f, h, j := &g.rands[4].mt, &g.rands[5].mt, &g.rands[6].mt, &g.rands[7].mt
	s := start[0]
	x0, x1, x2, x3, x4, x5, x6, x7 := s, s, s, s, s, s, s, s
	for i := 1; i < words; i++ {
		w, k := start[i], &keys[i&1]
		x0, x1, x2, x3 = mixWord(x0, w, k[0]), mixWord(x1, w, k[1]), mixWord(x2, w, k[2]), mixWord(x3, w, k[3])
		a[i], b[i], c[i], d[i] = x0, x1, x2, x3
		x4, x5, x6, x7 = mixWord(x4, w, k[4]), mixWord(x5, w, k[5]), mixWord(x6, w, k[6]), mixWord(x7, w, k[7])
		e[i], f[i], h[i], j[i] = x4, x5, x6, x7
	}
	// The 624th step of the first pass meets word 1 again.
	k := &keys[0]
	x0, x1, x2, x3 = mixWord(x0, a[1], k[0]), mixWord(x1, b[1], k[1]), mixWord(x2, c[1], k[2]), mixWord(x3, d[1], k[3])
	x4, x5, x6, x7 = mixWord(x4, e[1], k[4]), mixWord(x5, f[1], k[5]), mixWord(x6, h[1], k[6]), mixWord(x7, j[1], k[7])
	a[1], b[1], c[1], d[1], e[1], f[1], h[1], j[1] = x0, x1, x2, x3, x4, x5, x6, x7
	for i := 2; i < words; i++ {
		n := uint32(i)
		x0, x1, x2, x3 = mixPlace(x0, a[i], n), mixPlace(x1, b[i], n), mixPlace(x2, c[i], n), mixPlace(x3, d[i], n)
		a[i], b[i], c[i], d[i] = x0, x1, x2, x3
		x4, x5, x6, x7 = mixPlace(x4, e[i], n), mixPlace(x5, f[i], n), mixPlace(x6, h[i], n), mixPlace(x7, j[i], n)
		e[i], f[i], h[i], j[i] = x4, x5, x6, x7
	}
	a[1], b[1], c[1], d[1] = mixPlace(x0, a[1], 1), mixPlace(x1, b[1], 1), mixPlace(x2, c[1], 1), mixPlace(x3, d[1], 1)
	e[1], f[1], h[1], j[1] = mixPlace(x4, e[1], 1), mixPlace(x5, f[1], 1), mixPlace(x6, h[1], 1), mixPlace(x7, j[1], 1)
	for i := range g.rands {
		r := &g.rands[i]
		r.mt[0] = upperBit
		r.next, r.made, r.hasPending = 0, 0, false
	}
}

// mixWord is a step of the first seeding pass, mixPlace one of the second.
func mixWord(x, word, key uint32) uint32    { return (word ^ (x^x>>30)*mixKey) + key }
func mixPlace(x, word, place uint32) uint32 { return (word ^ (x^x>>30)*mixIndex) - place }
