package score

import (
	"math"
	"slices"
	"strconv"
)

// z95 is the 0.975 quantile of the normal distribution.
const z95 = 1.959963984540054

// Wilson returns the 95 % Wilson score interval of a rate of passed out of runs.
// Without runs it is 0 to 1.
func Wilson(passed, runs int) (low, high float64) {
	return Interval(float64(passed)/float64(max(1, runs)), float64(runs))
}

// Effective returns how many tests of equal weight are as informative as tests with
// these weights (Kish): 1 if one of them outweighs all others, their number if all
// weigh the same.
func Effective(weights []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, w := range weights {
		sum, squares = sum+w, squares+w*w
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}

// Interval returns the 95 % Wilson score interval of a rate that was observed in n
// tests of equal weight.
func Interval(p, n float64) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	z2 := z95 * z95
	middle := (p + z2/(2*n)) / (1 + z2/n)
	half := z95 / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	low, high = middle-half, middle+half
	if p == 0 {
		low = 0 // exactly, by the formula; rounding would differ
	}
	if p == 1 {
		high = 1
	}
	return low, high
}

// Percentile returns the smallest of the values that at least p percent of them do
// not exceed (nearest rank), p from 0 to 100. ok is false without values; they need
// not be sorted, and are not changed.
func Percentile[T ~int64 | ~float64](values []T, p float64) (v T, ok bool) {
	if len(values) == 0 {
		return v, false
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	// p*n is exact where p/100*n is not: 7 percent of 100 is not 7.000000000000001.
	rank := int(math.Ceil(p * float64(len(sorted)) / 100))
	return sorted[min(max(rank, 1), len(sorted))-1], true
}

// Mean returns the arithmetic mean; ok is false without values.
func Mean[T ~int64 | ~float64](values []T) (mean float64, ok bool) {
	if len(values) == 0 {
		return 0, false
	}
	for i, v := range values {
		mean += (float64(v) - mean) / float64(i+1)
	}
	return mean, true
}

// Percent formats a share from 0 to 1 for people, with one decimal: the one form of
// scores and rates in pages, reports and commands. Only all of something is 100.0%,
// and only nothing is 0.0%.
func Percent(p float64) string {
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return "–"
	case p > 0 && p < 0.001:
		return "<0.1%"
	case p < 1 && p > 0.999:
		return ">99.9%"
	}
	return strconv.FormatFloat(p*100, 'f', 1, 64) + "%"
}

// Percents formats an interval of shares for people.
func Percents(low, high float64) string { return Percent(low) + " to " + Percent(high) }
