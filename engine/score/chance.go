package score

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Fisher returns the two-sided p-value of Fisher's exact test for two rates: the probability
// that chance alone makes the rates differ this much or more, if both are really equal. It is 1
// if a side has no runs.
func Fisher(hitsA, totalA, hitsB, totalB int64) float64 {
	if totalA <= 0 || totalB <= 0 || min(hitsA, hitsB) < 0 || hitsA > totalA || hitsB > totalB {
		return 1
	}
	hits, total := hitsA+hitsB, totalA+totalB
	all := choose(total, hits)
	// log of the probability that k of all hits are A's.
	at := func(k int64) float64 { return choose(totalA, k) + choose(totalB, hits-k) - all }
	// Tables as likely as the observed one differ from it only by rounding.
	seen := at(hitsA) + 1e-7
	// Tables that are not likelier are in two tails, on either side of the likeliest.
	low, high := max(0, hits-totalB), min(hits, totalA)
	top := min(max((hits+1)*(totalA+1)/(total+2), low), high)
	right := top + 1 + int64(sort.Search(int(high-top), func(i int) bool { return at(top+1+int64(i)) <= seen }))
	left := top - int64(sort.Search(int(top-low)+1, func(i int) bool { return at(top-int64(i)) <= seen }))
	return min(tail(at, right, high, 1)+tail(at, left, low, -1), 1)
}

// McNemar returns the two-sided p-value of McNemar's exact test for pairs of results: the
// probability that chance alone splits the differing pairs this unevenly, or more so.
func McNemar(onlyA, onlyB int64) float64 {
	n := onlyA + onlyB
	if n <= 0 || min(onlyA, onlyB) < 0 {
		return 1
	}
	at := func(k int64) float64 { return choose(n, k) - float64(n)*math.Ln2 }
	return min(2*tail(at, min(onlyA, onlyB), 0, -1), 1)
}

// tail sums probabilities that fall from one count to another.
func tail(at func(int64) float64, from, to, step int64) (sum float64) {
	for k := from; (to-k)*step >= 0; k += step {
		p := math.Exp(at(k))
		if sum += p; p < sum*1e-12 {
			break
		}
	}
	return sum
}

// choose is the logarithm of a binomial coefficient.
func choose(n, k int64) float64 {
	log := func(x int64) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return log(n) - log(k) - log(n-k)
}

// Holm corrects the p-values of several tests, so that the probability of any false positive
// among them stays below the significance level.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out, least := make([]float64, len(p)), 0.0
	for rank, i := range order {
		least = max(least, min(1, p[i]*float64(len(p)-rank)))
		out[i] = least
	}
	return out
}
