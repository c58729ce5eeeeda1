package fresnelfir

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/thresh-dev/thresh/engine/splitmix"
	"github.com/thresh-dev/thresh/engine/walk"
)

// Storage for visiting all states: an 8-byte fingerprint per state, the origin of each expanded
// state, and the packed front.

// fingerprint returns a hash of a state.
func fingerprint(b []byte) uint64 {
	h := uint64(len(b))
	for len(b) >= 8 {
		h, b = splitmix.Finish(h^binary.LittleEndian.Uint64(b)), b[8:]
	}
	var rest [8]byte
	copy(rest[:], b)
	return splitmix.Finish(h ^ binary.LittleEndian.Uint64(rest[:]))
}

// fingerprints is a set of numbers. It consists of hash tables with open addressing, one per shard,
// so that only one grows at a time.
type fingerprints struct {
	shards [256][]uint64
	in     [256]int
	n      int
	zero   bool // whether 0 is in the set, because 0 marks an empty slot
}

// add adds a number, and reports whether it was new.
func (f *fingerprints) add(v uint64) bool {
	if v == 0 {
		was := f.zero
		if f.zero = true; !was {
			f.n++
		}
		return !was
	}
	s := v >> 56
	t := f.shards[s]
	if 5*(f.in[s]+1) > 4*len(t) {
		grown := make([]uint64, max(16, len(t)+len(t)/2))
		for _, x := range t {
			if x != 0 {
				grown[place(grown, x)] = x
			}
		}
		t, f.shards[s] = grown, grown
	}
	at := place(t, v)
	if t[at] == v {
		return false
	}
	t[at] = v
	f.in[s]++
	f.n++
	return true
}

// place returns the slot of a number in a table, or a free slot for it.
func place(t []uint64, v uint64) int {
	high, _ := bits.Mul64(v<<8, uint64(len(t))) // the first 8 bits select the shard
	at := int(high)
	for t[at] != 0 && t[at] != v {
		if at++; at == len(t) {
			at = 0
		}
	}
	return at
}

// front is a queue of packed states.
type front struct {
	blocks [][]byte
	free   [][]byte
	at     int // position in the first block
	n      int
}

const block = 1 << 16

// add adds a state.
func (f *front) add(b []byte) {
	last := len(f.blocks) - 1
	if last < 0 || len(f.blocks[last])+len(b)+binary.MaxVarintLen32 > cap(f.blocks[last]) {
		fresh := make([]byte, 0, max(block, len(b)+binary.MaxVarintLen32))
		if k := len(f.free) - 1; k >= 0 && cap(f.free[k]) >= cap(fresh) {
			fresh, f.free = f.free[k][:0], f.free[:k]
		}
		f.blocks, last = append(f.blocks, fresh), last+1
	}
	f.blocks[last] = append(binary.AppendUvarint(f.blocks[last], uint64(len(b))), b...)
	f.n++
}

// next removes the first state from the queue. It is valid until the next call.
func (f *front) next() []byte {
	if f.at == len(f.blocks[0]) {
		f.free, f.blocks, f.at = append(f.free, f.blocks[0]), f.blocks[1:], 0
	}
	n, k := binary.Uvarint(f.blocks[0][f.at:])
	from := f.at + k
	f.at, f.n = from+int(n), f.n-1
	return f.blocks[0][from:f.at]
}

// descent is the origin of a state: the number of the state that was expanded, and which of its
// ways was taken.
type descent struct{ from, way uint32 }

// descents are the origins of all states, in the order of expansion.
type descents struct {
	blocks [][]descent
	n      int
}

func (o *descents) add(x descent) {
	const most = 1 << 13
	if o.n%most == 0 {
		o.blocks = append(o.blocks, make([]descent, 0, most))
	}
	last := len(o.blocks) - 1
	o.blocks[last] = append(o.blocks[last], x)
	o.n++
}

func (o *descents) of(i int) descent { return o.blocks[i>>13][i&(1<<13-1)] }

// pack appends to b the state of a traversal of the model alone between two steps.
func (t *traversal) pack(b []byte) []byte {
	b = t.m.Pack(b)
	for i := range t.threads {
		b = t.walkers[i].Pack(b)
	}
	for _, v := range t.in.row {
		b = binary.AppendVarint(b, int64(v))
	}
	b = binary.AppendUvarint(b, uint64(len(t.alive)))
	for _, v := range t.alive {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, t.passing), uint64(t.actions))
}

// unpack restores a packed traversal, without its decisions.
func (t *traversal) unpack(b []byte, threads int) {
	t.clear()
	t.src.Resume(nil, 0)
	b = t.m.Unpack(b)
	for len(t.walkers) < threads {
		t.walkers = append(t.walkers, walk.Walker{})
	}
	for i := range threads {
		b = t.walkers[i].Unpack(&t.p.grammar, b)
	}
	for i := range t.in.row {
		v, n := binary.Varint(b)
		t.in.row[i], b = int(v), b[n:]
	}
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return v
	}
	t.alive = slices.Grow(t.alive[:0], threads)
	for range next() {
		t.alive = append(t.alive, int(next()))
	}
	t.passing, t.actions = next(), int(next())
	t.threads, t.wide, t.passed = threads, false, nil
}
