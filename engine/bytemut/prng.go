package bytemut

import (
	"math/bits"

	"github.com/thresh-dev/thresh/engine/splitmix"
)

// prng is xoshiro256** (Blackman and Vigna, 2018), seeded by SplitMix64. Its
// output is part of what [DeepVersion] promises.
type prng struct{ s0, s1, s2, s3 uint64 }

func newPRNG(key uint64) prng {
	return prng{splitmix.Next(&key), splitmix.Next(&key), splitmix.Next(&key), splitmix.Next(&key)}
}

func (p *prng) next() uint64 {
	out := bits.RotateLeft64(p.s1*5, 7) * 9
	t := p.s1 << 17
	p.s2 ^= p.s0
	p.s3 ^= p.s1
	p.s1 ^= p.s2
	p.s0 ^= p.s3
	p.s2 ^= t
	p.s3 = bits.RotateLeft64(p.s3, 45)
	return out
}

// below returns a number from 0 to n-1; n must be positive. The bias of a plain
// multiplication, at most n in 2**64, is of no account here.
func (p *prng) below(n int) int {
	hi, _ := bits.Mul64(p.next(), uint64(n))
	return int(hi)
}

// oneIn is true once in n times.
func (p *prng) oneIn(n int) bool { return p.below(n) == 0 }

// pick returns an element of a list that is not empty.
func pick[T any](p *prng, list []T) T { return list[p.below(len(list))] }

// caseKey is the key of a case: both numbers decide all of its bits.
func caseKey(seed uint64, index int64) uint64 {
	state := uint64(index)
	state = seed ^ splitmix.Next(&state)
	return splitmix.Next(&state)
}
