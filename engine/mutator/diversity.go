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

// Novelty counts how many of the texts made were new.
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

// UniqueRatio is the part that was new, 0 if there was none.
func (n *Novelty) UniqueRatio() float64 {
	if n.Total == 0 {
		return 0
	}
	return float64(n.Unique) / float64(n.Total)
}
