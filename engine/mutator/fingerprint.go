package mutator

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Fingerprint identifies texts: Exact is equal for equal texts, and Near differs in few
// bits for texts that share most of their substrings.
type Fingerprint struct{ Exact, Near uint64 }

// FingerprintOf returns the fingerprint of a text: a 64-bit hash, and the SimHash
// (Charikar 2002) over its substrings of five bytes.
func FingerprintOf(text string) Fingerprint { return Fingerprint{exactHash(text), simHash(text)} }

// fold mixes two words by a full multiplication.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return hi ^ lo
}

func exactHash(text string) uint64 {
	h := fold(uint64(len(text)), 0)
	for len(text) >= 8 {
		h = fold(h, binary.LittleEndian.Uint64([]byte(text[:8])))
		text = text[8:]
	}
	var last [8]byte
	copy(last[:], text)
	return fold(h, binary.LittleEndian.Uint64(last[:]))
}

// shingle is the length of the substrings that are counted, in bytes.
const shingle = 5

// simHash counts for every bit in how many substrings' hashes it is set; the majority
// decides. The 64 counters are kept as planes, one for each binary digit, and eight
// hashes are added before the carry continues (the tree of Harley and Seal's population
// count), so that a substring costs few word operations.
func simHash(text string) uint64 {
	n := len(text) - shingle + 1
	if n < 1 {
		return fold(exactHash(text), 1)
	}
	var planes [40]uint64
	add := func(carry uint64, p int) {
		for ; carry != 0; p++ {
			planes[p], carry = planes[p]^carry, planes[p]&carry
		}
	}
	var ones, twos, fours uint64
	hash := func(window uint64) uint64 { return fold(window&(1<<(8*shingle)-1), shingle) }
	for ; len(text) >= shingle+7; text = text[8:] {
		x, y := binary.BigEndian.Uint64([]byte(text[:8])), binary.BigEndian.Uint64([]byte(text[4:12]))
		var a, b, c, d, e uint64
		ones, a = sum(ones, hash(x>>24), hash(x>>16))
		ones, b = sum(ones, hash(x>>8), hash(x))
		twos, c = sum(twos, a, b)
		ones, a = sum(ones, hash(y>>24), hash(y>>16))
		ones, b = sum(ones, hash(y>>8), hash(y))
		twos, d = sum(twos, a, b)
		fours, e = sum(fours, c, d)
		add(e, 3)
	}
	planes[0], planes[1], planes[2] = ones, twos, fours
	window := uint64(0)
	for i := range len(text) {
		if window = window<<8 | uint64(text[i]); i >= shingle-1 {
			add(hash(window), 0)
		}
	}
	// A bit is set if its counter is more than half of n.
	half := uint64(n / 2)
	greater, equal := uint64(0), ^uint64(0)
	for p := len(planes) - 1; p >= 0; p-- {
		if half>>p&1 == 1 {
			equal &= planes[p]
		} else {
			greater |= equal & planes[p]
			equal &^= planes[p]
		}
	}
	return greater
}

// sum adds three words bit by bit: their sum and the carry.
func sum(a, b, c uint64) (low, carry uint64) {
	u := a ^ b
	return u ^ c, a&b | u&c
}

// Match is how a text relates to earlier ones.
type Match uint8

// The matches.
const (
	Unseen Match = iota
	Same         // an equal text was seen
	Near         // a text was seen that differs only in a few places
)

// Seen remembers the fingerprints of the newest texts, up to a fixed number. The zero
// value is not usable; see NewSeen.
type Seen struct {
	capacity int
	distance int
	ring     []Fingerprint
	next     int // index in ring of the next text, once ring is full
	exact    map[uint64]struct{}
	bands    [4]map[uint16][]uint64 // near hashes by each of their quarters
}

// MaxDistance is the largest distance for near duplicates: with at most three differing
// bits, one quarter of the hash is equal, and quarters are what is looked up.
const MaxDistance = 3

// NewSeen remembers up to capacity texts. distance is the largest number of differing
// bits in the hashes of near duplicates, up to [MaxDistance]; below 0 it does not look
// for near duplicates.
func NewSeen(capacity, distance int) *Seen {
	s := &Seen{capacity: max(capacity, 1), distance: min(distance, MaxDistance), exact: make(map[uint64]struct{})}
	for i := range s.bands {
		s.bands[i] = make(map[uint16][]uint64)
	}
	return s
}

// Look reports whether a text like f was seen.
func (s *Seen) Look(f Fingerprint) Match {
	if _, ok := s.exact[f.Exact]; ok {
		return Same
	}
	if s.distance < 0 {
		return Unseen
	}
	for i := range s.bands {
		for _, h := range s.bands[i][fingerprintBand(f.Near, i)] {
			if bits.OnesCount64(h^f.Near) <= s.distance {
				return Near
			}
		}
	}
	return Unseen
}

// Add remembers f; if there is no room, it forgets the oldest.
func (s *Seen) Add(f Fingerprint) {
	if len(s.ring) < s.capacity {
		s.ring = append(s.ring, f)
	} else {
		s.forget(s.ring[s.next])
		s.ring[s.next] = f
		s.next = (s.next + 1) % len(s.ring)
	}
	s.exact[f.Exact] = struct{}{}
	if s.distance < 0 {
		return
	}
	for i := range s.bands {
		k := fingerprintBand(f.Near, i)
		s.bands[i][k] = append(s.bands[i][k], f.Near)
	}
}

// Meet is Look, followed by Add for an unseen text.
func (s *Seen) Meet(f Fingerprint) Match {
	m := s.Look(f)
	if m == Unseen {
		s.Add(f)
	}
	return m
}

func (s *Seen) forget(f Fingerprint) {
	delete(s.exact, f.Exact)
	if s.distance < 0 {
		return
	}
	for i := range s.bands {
		k := fingerprintBand(f.Near, i)
		list := s.bands[i][k]
		for j, h := range list {
			if h == f.Near {
				list = append(list[:j], list[j+1:]...)
				break
			}
		}
		if len(list) == 0 {
			delete(s.bands[i], k)
		} else {
			s.bands[i][k] = list
		}
	}
}

func fingerprintBand(h uint64, i int) uint16 { return uint16(h >> (16 * i)) }

// MatchAny is Seen.Look among a few fingerprints, without an index.
func MatchAny(list []Fingerprint, f Fingerprint, distance int) Match {
	near := Unseen
	for _, g := range list {
		switch {
		case g.Exact == f.Exact:
			return Same
		case distance >= 0 && bits.OnesCount64(g.Near^f.Near) <= distance:
			near = Near
		}
	}
	return near
}

// Entropy returns the Shannon entropy of counts in bits, and the same divided by its
// maximum for that number of kinds (0 if there is at most one kind). Kinds with a count
// of 0 are ignored.
func Entropy(counts []int64) (bits, normalized float64) {
	total, kinds := 0.0, 0
	for _, c := range counts {
		if c > 0 {
			total += float64(c)
			kinds++
		}
	}
	if kinds < 2 {
		return 0, 0
	}
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / total
			bits -= p * math.Log2(p)
		}
	}
	return bits, bits / math.Log2(float64(kinds))
}

// Novelty counts how many texts were the same as an earlier one, or near it.
type Novelty struct{ Total, Near, Same int64 }

// Count adds one text.
func (n *Novelty) Count(m Match) {
	n.Total++
	switch m {
	case Same:
		n.Same++
	case Near:
		n.Near++
	}
}

// Distinct returns how many texts were not the same as an earlier one.
func (n *Novelty) Distinct() int64 { return n.Total - n.Same }

// UniqueRatio returns the share of distinct texts; 0 if there are no texts.
func (n *Novelty) UniqueRatio() float64 {
	if n.Total == 0 {
		return 0
	}
	return float64(n.Distinct()) / float64(n.Total)
}
