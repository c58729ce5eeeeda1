package pyrand

const (
	words     = 624 // words of state
	shift     = 397 // distance of the word that the recurrence mixes in
	upperBit  = 0x80000000
	lowerBits = 0x7fffffff
	matrix    = 0x9908b0df

	mixKey   = 1664525    // multiplier of the first seeding pass
	mixIndex = 1566083941 // multiplier of the second seeding pass
)

// start is the state from which seeding by key starts: the generator seeded
// with the fixed number 19650218. It is never written again.
var start = func() (mt [words]uint32) {
	mt[0] = 19650218
	for i := uint32(1); i < words; i++ {
		mt[i] = 1812433253*(mt[i-1]^mt[i-1]>>30) + i
	}
	return mt
}()

// seedByKey fills mt from a key of at least one word.
func seedByKey(mt *[words]uint32, key []uint32) {
	*mt = start
	i, j := 1, 0
	x := mt[0]
	for range max(words, len(key)) {
		x = (mt[i] ^ (x^x>>30)*mixKey) + key[j] + uint32(j)
		mt[i] = x
		if i++; i == words {
			mt[0], i = x, 1
		}
		if j++; j == len(key) {
			j = 0
		}
	}
	for range words - 1 {
		x = (mt[i] ^ (x^x>>30)*mixIndex) - uint32(i)
		mt[i] = x
		if i++; i == words {
			mt[0], i = x, 1
		}
	}
	mt[0] = upperBit // the state is never all zero
}

// twist replaces the words from i up to, not including, end by those of the
// next generation. The words before i must have been replaced already.
func twist(mt *[words]uint32, i, end int) {
	for ; i < words-shift && i < end; i++ {
		mt[i] = mt[i+shift] ^ mixNeighbours(mt[i], mt[i+1])
	}
	for ; i < words-1 && i < end; i++ {
		mt[i] = mt[i+shift-words] ^ mixNeighbours(mt[i], mt[i+1])
	}
	if i < end {
		mt[i] = mt[shift-1] ^ mixNeighbours(mt[i], mt[0])
	}
}

// mixNeighbours is the part of the recurrence that depends on two neighbours.
func mixNeighbours(a, b uint32) uint32 {
	y := a&upperBit | b&lowerBits
	return y>>1 ^ -(y&1)&matrix
}

// temper converts a word of state to a word of output.
func temper(y uint32) uint32 {
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}
