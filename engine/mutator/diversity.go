package mutator

import "math"

// Entropy is the Shannon entropy of counts in bits, and the same divided by
// the most that so many kinds can have (0 if there is one kind or none). Kinds
// with a count of 0 do not count.
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

// Novelty counts how many of the texts made were new: unlike all earlier ones,
// near one of them, or the same.
type Novelty struct{ Total, Unique, Near, Same int64 }

// Count adds one text.
func (n *Novelty) Count(m Match) {
	n.Total++
	switch m {
	case Same:
		n.Same++
	case Near:
		n.Near++
	default:
		n.Unique++
	}
}

// Distinct is how many texts were not the same as an earlier one.
func (n *Novelty) Distinct() int64 { return n.Total - n.Same }

// UniqueRatio is the part of the texts that is distinct, 0 if there are none.
func (n *Novelty) UniqueRatio() float64 {
	if n.Total == 0 {
		return 0
	}
	return float64(n.Distinct()) / float64(n.Total)
}
