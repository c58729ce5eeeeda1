package pyrand

import (
	"encoding/binary"
	"fmt"
	"math"
)

// stateSize is the length of a state without a pending deviate.
const stateSize = 4 * (words + 1)

// AppendState appends the state to b: the 624 words and the position of
// getstate()[1], each as 4 bytes little-endian, then, if the second of a pair of
// Gauss is pending, its float64 as 8 bytes little-endian.
func (r *Rand) AppendState(b []byte) []byte {
	next := r.next
	if r.made == 0 { // nothing made since seeding: Python stands at the end of the words before
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

// SetState sets what AppendState wrote: setstate.
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
