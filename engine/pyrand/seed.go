package pyrand

import (
	"math/big"
	"math/bits"
)

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
