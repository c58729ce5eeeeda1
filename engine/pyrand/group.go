package pyrand

// Group is [Lanes] generators that are seeded together, as a [Batch] is, and
// then used as generators of their own. It is for callers that need the methods
// of [Rand]; a Batch is somewhat cheaper for a few words of every lane. The zero
// Group is ready for Seed.
type Group struct{ rands [Lanes]Rand }

// Rand is the generator of a lane. It stays the same one; Seed starts it anew.
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
